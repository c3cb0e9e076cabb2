"""What loaders fetch: iPXE scripts, pxelinux with its menu, and what each entry boots.

boot.ipxe by TFTP goes on to what is there for the guest alone (once/MAC.ipxe by HTTP), else to
default.ipxe. pxelinux has a menu on the serial console; a file pxelinux.cfg/01-MAC is for one guest.
"""

import os
import shutil

from namespaces import state

from . import plan

SYSLINUX = "/usr/lib/syslinux/modules/bios"

BOOT = """\
#!ipxe
chain --autofree http://{services}/once/${{net0/mac:hexhyp}}.ipxe || chain http://{services}/default.ipxe
"""

ENTRY = """\
#!ipxe
{first}kernel http://{services}/vmlinuz console=ttyS0 panic=1 tsc=unstable entry={entry} root={root} {more}
initrd http://{services}/initrd.img
{initrd}boot
"""

MENU = """\
# The site's own menu.
DEFAULT menu.c32
PROMPT 0
TIMEOUT {timeout}
ONTIMEOUT {default}
MENU TITLE Room {name}
"""

LABEL = """
LABEL {entry}
  MENU LABEL Boot {entry}
  KERNEL ipxe.lkrn
  INITRD {entry}.ipxe
"""


def root(entry, services):
    return {"ram": "ram", "nbd": f"nbd:{services}:tree"}.get(entry, f"{entry}:{services}:/tree")


def _entry(lab, services, name, where, more="", initrd=""):
    # An iPXE that pxelinux loads has no address yet.
    for folder, first in (("www", ""), ("tftp", "dhcp\n")):
        state.write(os.path.join(lab, folder, f"{name}.ipxe"),
                    ENTRY.format(services=services, entry=name, root=where, more=more,
                                 initrd=initrd, first=first))


def write(options, lab, net):
    services = f"{net}.{plan.SERVICES}"
    for folder in ("www/once", "tftp/pxelinux.cfg"):
        os.makedirs(os.path.join(lab, folder))
    state.write(os.path.join(lab, "tftp", "boot.ipxe"), BOOT.format(services=services))
    state.write(os.path.join(lab, "www", "configuration"), f"room={options.name}\n")
    for entry in ("ram", *plan.ENTRIES):
        _entry(lab, services, entry, root(entry, services))
    # Guests begin with what is usual for them; the server guest is one of them.
    lines = ["#!ipxe"]
    lines += [f"iseq ${{net0/mac}} {guest.macs[0]} && chain {guest.entry}.ipxe ||"
              for guest in plan.guests(options)]
    state.write(os.path.join(lab, "www", "default.ipxe"), "\n".join([*lines, ""]))
    if options.server:
        _entry(lab, services, "server", "ram",
               f"bond=layer2 address={net}.{plan.SERVER_HOST}",
               f"initrd http://{services}/server.img\n")
    for name, source in (("pxelinux.0", "/usr/lib/PXELINUX"), ("ldlinux.c32", SYSLINUX),
                         ("menu.c32", SYSLINUX), ("libutil.c32", SYSLINUX),
                         ("ipxe.lkrn", "/usr/lib/ipxe")):
        shutil.copyfile(os.path.join(source, name), os.path.join(lab, "tftp", name))
    menu = MENU.format(timeout=100, default="nfs3", name=options.name)
    menu += "".join(LABEL.format(entry=entry) for entry in ("ram", *plan.ENTRIES))
    state.write(os.path.join(lab, "tftp", "pxelinux.cfg", "default"), menu)
