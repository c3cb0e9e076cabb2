"""BRIDGE-MIB of a Linux bridge for snmpd's pass_persist: bridge_mib.py BRIDGE

dot1dBasePortIfIndex and the forwarding table (dot1dTpFdbAddress, Port, Status), read anew at most
once a second. Addresses of the bridge's own ports are `self` (4), others `learned` (3).
"""

import bisect
import os
import sys
import time

ROOT = (1, 3, 6, 1, 2, 1, 17)
TYPES = {str: "octet", int: "integer"}


def read_table(bridge):
    """{object: (type, value)} of all there is."""
    table = {}
    ports = f"/sys/class/net/{bridge}/brif"
    for name in os.listdir(ports):
        with open(f"{ports}/{name}/port_no", encoding="ascii") as file:
            number = int(file.read(), 16)
        with open(f"/sys/class/net/{name}/ifindex", encoding="ascii") as file:
            index = int(file.read())
        table[ROOT + (1, 4, 1, 1, number)] = ("integer", number)
        table[ROOT + (1, 4, 1, 2, number)] = ("integer", index)
    with open(f"/sys/class/net/{bridge}/brforward", "rb") as file:
        entries = file.read()
    # struct __fdb_entry of linux/if_bridge.h
    for at in range(0, len(entries) - 15, 16):
        mac, low, local, high = (entries[at:at + 6], entries[at + 6], entries[at + 7],
                                 entries[at + 12])
        where = tuple(mac)
        table[ROOT + (4, 3, 1, 1) + where] = ("octet", " ".join(f"{byte:02X}" for byte in mac))
        table[ROOT + (4, 3, 1, 2) + where] = ("integer", high << 8 | low)
        table[ROOT + (4, 3, 1, 3) + where] = ("integer", 4 if local else 3)
    return table


class Agent:
    def __init__(self, bridge):
        self.bridge = bridge
        self.read_at = None

    def refresh(self):
        now = time.monotonic()
        if self.read_at is None or now - self.read_at > 1:
            try:
                self.table = read_table(self.bridge)
            except (OSError, ValueError):
                self.table = {}
            self.order = sorted(self.table)
            self.read_at = now

    def find(self, oid, after):
        self.refresh()
        if not after:
            return oid if oid in self.table else None
        at = bisect.bisect_right(self.order, oid)
        return self.order[at] if at < len(self.order) else None


def answer(agent, request):
    """The lines that answer a request, of which the object comes on a line of its own."""
    if request not in ("get", "getnext"):
        if request == "set":
            sys.stdin.readline()
            sys.stdin.readline()
            return ["not-writable"]
        return ["NONE"]
    try:
        oid = tuple(int(number) for number in sys.stdin.readline().strip().strip(".").split("."))
    except ValueError:
        return ["NONE"]
    found = agent.find(oid, request == "getnext")
    if found is None:
        return ["NONE"]
    kind, value = agent.table[found]
    return ["." + ".".join(map(str, found)), kind, str(value)]


def main():
    agent = Agent(sys.argv[1])
    for line in sys.stdin:
        request = line.strip()
        if not request:
            return
        lines = ["PONG"] if request == "PING" else answer(agent, request)
        print("\n".join(lines), flush=True)


main()
