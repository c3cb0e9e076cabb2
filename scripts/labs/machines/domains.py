"""Guests as libvirt has them."""

import os
import subprocess

from namespaces import plan as names

from . import plan

INTERFACE = """\
    <interface type='bridge'><source bridge='lan'/><mac address='{mac}'/><target dev='{tap}'/>
      <model type='virtio'/></interface>
"""

DOMAIN = """\
<domain type='qemu'>
  <name>{name}</name>
  <memory unit='MiB'>{memory}</memory>
  <vcpu>1</vcpu>
  <os><type arch='x86_64' machine='pc'>hvm</type><boot dev='network'/><bios useserial='yes'/></os>
  <features><acpi/><tcg><tb-cache unit='MiB'>64</tb-cache></tcg></features>
  <on_reboot>restart</on_reboot><on_crash>destroy</on_crash>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
{interfaces}    <serial type='pty'><log file='{lab}/consoles/{name}.log' append='off'/>
      <target port='0'/></serial>
    <console type='pty'><target type='serial' port='0'/></console>
  </devices>
</domain>
"""


def uri(lab):
    return f"qemu:///system?socket={lab}/libvirt/libvirt-sock"


def virsh(lab, *lines):
    """Runs lines of virsh; what it complains about is our error."""
    done = subprocess.run(["virsh", "-q", "-c", uri(lab), "; ".join(lines)], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise names.Wrong(f"virsh: {' '.join(done.stderr.split())[:300]}")
    return done.stdout


def _definition(lab, guest):
    interfaces = "".join(INTERFACE.format(mac=mac, tap=tap)
                         for mac, tap in zip(guest.macs, guest.taps))
    return DOMAIN.format(name=guest.name, memory=guest.memory, lab=lab, interfaces=interfaces)


def define(options, lab):
    os.makedirs(os.path.join(lab, "domains"))
    os.makedirs(os.path.join(lab, "consoles"))
    lines = []
    for guest in plan.guests(options):
        path = os.path.join(lab, "domains", f"{guest.name}.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(_definition(lab, guest))
        lines.append(f"define {path}")
    virsh(lab, *lines)


def running(lab):
    """The names of those that are on; None when libvirtd does not answer."""
    try:
        return virsh(lab, "list --name").split()
    except names.Wrong:
        return None
