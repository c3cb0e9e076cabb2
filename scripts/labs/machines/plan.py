"""Who is in the room and with which addresses. Nothing is done here.

Guests v01, v02, … have one network card each, the server guest srv has four under a bond. All of
them, and the programs that boot them, share one bridge. The lab's network is 10.N.0.0/16, where N
is free when the lab is raised: .0.1 has the services, .0.2 the server guest, .0.100 + I guest I,
.1.1 the console.
"""

import dataclasses

SERVER = "srv"
PORTS = 4  # of the server guest's bond
MANY = 99  # guests, at most
SERVICES = "0.1"
SERVER_HOST = "0.2"
CONSOLE = "1.1"
# What guests boot into unless asked for another: one after the other through the room.
ENTRIES = ("nfs3", "nfs4", "nbd")


@dataclasses.dataclass(frozen=True)
class Options:
    name: str = "room"
    guests: int = 17
    unit: int = 64 * 10**6  # bit/s, what stands for 1 Gbit/s
    server: bool = True
    bmcs: bool = False
    menus: int = 4  # each so manieth guest boots by pxelinux and its menu, the others by iPXE alone


@dataclasses.dataclass(frozen=True)
class Guest:
    name: str
    number: int  # from 1; 0: the server guest
    macs: tuple
    taps: tuple  # names of its interfaces at the bridge
    host: str  # its address behind the network's first two numbers
    entry: str
    loader: str  # pxelinux or ipxe
    memory: int  # MiB


def link(name):
    return f"vl-{name}"


def mac(options, guest):
    """Those of pxelinux's guests begin otherwise: by that DHCP tells them apart."""
    return f"52:54:00:{'bb' if guest % options.menus == 0 else 'aa'}:00:{guest:02x}"


def guests(options):
    """The room's, then the server."""
    made = []
    for i in range(1, options.guests + 1):
        made.append(Guest(f"v{i:02}", i, (mac(options, i),), (f"tap{i}",), f"0.{100 + i}",
                          ENTRIES[(i - 1) % len(ENTRIES)],
                          "pxelinux" if i % options.menus == 0 else "ipxe", 320))
    if options.server:
        made.append(Guest(SERVER, 0, tuple(f"52:54:00:cc:00:{i:02x}" for i in range(PORTS)),
                          tuple(f"srv{i}" for i in range(PORTS)), SERVER_HOST, "server", "ipxe",
                          384))
    return made
