"""Who is in the lab and with which addresses. Nothing is done here.

Room A is on switch sw1 with the server; room B's first clients are on sw2, the others on sw3, whose
uplink to sw2 carries one unit; between sw1 and sw2 are ten. Names, MAC and IP addresses are those
of layouts/openslx-two-rooms.yaml. Every node has a second interface on a management network of its
own, over which the console reaches it.
"""

import dataclasses
import re

# The program whose labs these are, and how their namespaces begin; vmlab has its own.
TOOL, PREFIX = "nslab", "pult"
SERVER = "slx1"
BOND_MAC = "52:54:00:21:00:10"
POOL = "10.21.0"  # /24
SERVER_IP = POOL + ".254"
SWITCHES = ("sw1", "sw2", "sw3")
ODD = {"a04": 0x41, "a05": 0x43, "b04": 0x41, "b05": 0x43}  # MACs; all others come in steps of two
MANY = 250  # clients, at most: what a /24 holds beside the server
UNITS = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
IPERF_PORT = 5200  # client number I measures against this + I


class Wrong(Exception):
    """An answer for the operator, one line."""


@dataclasses.dataclass(frozen=True)
class Options:
    name: str = "lab"
    clients: int = 34
    unit: int = 64 * 10**6  # bit/s
    policy: str = "layer2"
    ports: int = 4
    bare: bool = False  # namespaces and links alone


@dataclasses.dataclass(frozen=True)
class Node:
    name: str
    kind: str  # client, server or switch
    number: int  # of a client, from 1
    switch: str  # where it is plugged in
    mac: str
    ip: str
    manage: str  # behind the network's first two numbers: "0.1"


def read_name(text):
    if not re.fullmatch(r"[a-z][a-z0-9]{0,9}", text):
        raise Wrong(f"'{text}' is no name: a letter, then up to nine letters and digits, all small")
    return text


def read_unit(text):
    """64mbit, as tc writes rates, in bit/s."""
    match = re.fullmatch(r"([1-9][0-9]{0,5})(kbit|mbit|gbit)", text)
    unit = int(match[1]) * UNITS[match[2]] if match else 0
    if not 10**6 <= unit <= 10**10:
        raise Wrong(f"'{text}' is no unit between 1mbit and 10gbit")
    return unit


def namespace(options, node):
    return f"{PREFIX}-{options.name}-{node}"


def rooms(clients):
    """How many clients are in room A, in room B, and of these on sw2."""
    b = clients // 2
    return clients - b, b, min(3, 3 * b // 17)


def client_names(options):
    """Those of room A and those of room B."""
    a, b, _ = rooms(options.clients)
    width = max(2, len(str(a)))
    return [f"a{i:0{width}}" for i in range(1, a + 1)], [f"b{i:0{width}}" for i in range(1, b + 1)]


def room_b_base(options):
    """The last number of the address before b01's."""
    a, b, _ = rooms(options.clients)
    return 50 if a <= 50 and b <= 200 else a


def nodes(options):
    """Clients in order, the server, the switches."""
    names_a, names_b = client_names(options)
    on_sw2 = rooms(options.clients)[2]
    base = room_b_base(options)
    made = []
    for room, names, first in (("a", names_a, 0), ("b", names_b, base)):
        for i, name in enumerate(names):
            switch = "sw1" if room == "a" else "sw2" if i < on_sw2 else "sw3"
            last = ODD.get(name, 2 * i)
            made.append(Node(name, "client", len(made) + 1, switch,
                             f"52:54:00:0{room}:00:{last:02x}", f"{POOL}.{first + i + 1}",
                             f"0.{first + i + 1}"))
    made.append(Node(SERVER, "server", 0, "sw1", BOND_MAC, SERVER_IP, "0.254"))
    for i, name in enumerate(SWITCHES):
        made.append(Node(name, "switch", 0, "", "", "", f"1.{i + 1}"))
    return made


def ports(options):
    return [f"eth{i}" for i in range(options.ports)]
