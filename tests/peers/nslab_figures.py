"""What pult counts on the lab of namespaces by SNMP, against the kernel, snmpget and iperf3.

 - the forwarding tables find the port of every seat, and no `ports` is needed for a link;
 - what it counts on a link, of a seat and of a server's port, over versions 2c and 3, agrees within
   2 % with the kernel's counters, with snmpget and with iperf3's own report; so do rates, but for
   what an agent's cache leaves open;
 - what a load reports of itself agrees so with `iperf3 --json` of its server;
 - a link that is pulled is seen down; an agent that dies leaves the link to the other end's.
"""

import json
import os
import re
import signal
import subprocess
import threading
import time

from live_session import Session, wait_until
from nslab_lab import ENVIRONMENT, FULL, SERVER_IP, TMPDIR, check, payload, read, timed

BEHIND = ["b04", "b05", "b06"] if FULL else ["b01", "b02", "b03"]  # on sw3
SEAT = BEHIND[-1]
LINK = "link:sw2-sw3"
SECONDS = 8
NEAR = 0.02
AGENT = 0.5
SPEAK = f"""\
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("{SERVER_IP}", 9))
"""


def snmp_payload(lab, switch, device):
    """The same of what is sent by DEVICE, as snmpget is told."""
    def ask(tool, *names):
        return subprocess.run([tool, "-On", "-m", "", "-v2c", "-c", "lab",
                               f"{lab.network}.1.{switch}", *names], capture_output=True,
                              text=True, check=True,
                              env=ENVIRONMENT | {"SNMP_PERSISTENT_DIR": TMPDIR}).stdout
    names = ask("snmpbulkwalk", ".1.3.6.1.2.1.31.1.1.1.1")
    index = re.search(r"\.(\d+) = STRING: \"?" + device + r"\"?$", names, re.M).group(1)
    told = ask("snmpget", *(f".1.3.6.1.2.1.31.1.1.1.{column}.{index}"
                            for column in (10, 11, 12, 13)))
    octets, *packets = [int(line.rpartition(" ")[2]) for line in told.splitlines()]
    return octets - 66 * sum(packets)


def near(a, b):
    return b > 0 and abs(a - b) <= NEAR * b


def layout(lab):
    """The lab's own, but that a seat and the server are metered by their switches, which look for
    seats often."""
    text = read(lab.layout)
    words = ", ".join(f"slx1/eth{i}=slx1-eth{i}" for i in range(4))
    for pattern, made in ((r"^rooms:\n", f"  {SEAT}: {{meter: snmp}}\nrooms:\n"),
                          (r"^    switch: sw1\n", "    switch: sw1\n    meter: snmp\n"),
                          (r"^(      sw1: \{address: [0-9.]+)\}", rf"\1, ports: [{words}]}}"),
                          (r"^    check-bytes: false\n",
                           "    check-bytes: false\n    ports-every: 3 s\n    retry: 2 s\n")):
        text, n = re.subn(pattern, made, text, flags=re.M)
        check("figures-layout", n == 1, pattern)
    path = os.path.join(TMPDIR, "figures.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


class Sampler(threading.Thread):
    """The kernel's counter of the link, 20 times a second."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.lab, self.rows, self.going = lab, [], True
        self.start()

    def run(self):
        while self.going:
            self.rows.append((time.time(), payload(self.lab, "sw2", "sw3", True)))
            time.sleep(0.05)

    def end(self):
        self.going = False
        self.join()

    def at(self, when):
        """In between, straight."""
        for (t0, v0), (t1, v1) in zip(self.rows, self.rows[1:]):
            if t0 <= when <= t1:
                return v0 + (v1 - v0) * (when - t0) / max(t1 - t0, 1e-6)
        return None


# --- Where ports are -----------------------------------------------------------------------------


def test_places(lab, session):
    for switch in ("sw1", "sw2", "sw3"):
        if not check(f"meter-{switch}", wait_until(lambda s=switch: session.samples(s), 40),
                     f"{session.links(switch)} {read(session.out)[-400:]}"):
            return False
    clients = ["a01", "a02", "a03", *BEHIND]
    # A frame of its own shows the switches where a client is.
    for client in clients:
        subprocess.run(lab.enter(client, "python3", "-c", SPEAK), check=True)
    for client in clients:
        switch = "sw1" if client[0] == "a" else "sw3"
        check(f"place-{client}", wait_until(
            lambda c=client, s=switch: session.seen(c, "port") == f"{s}/{c}", 30),
            session.seen(client, "port"))
    return check("column-of-seat", wait_until(
        lambda: f"{SEAT}.rx B" in session.samples("sw3")[-1][1], 30), session.samples("sw3")[-1:])


# --- Figures -------------------------------------------------------------------------------------


def last(session, switch, column):
    return session.samples(switch)[-1][1].get(column, 0)


def settled(session, switch, column, least):
    """Its value when it has reached LEAST, and hardly grew from one sample to the next."""
    def value():
        rows = [row.get(column, 0) for _, row in session.samples(switch)]
        return len(rows) > 1 and rows[-2] >= least and rows[-1] - rows[-2] < 100000 and rows[-1]
    return wait_until(value, 30) or last(session, switch, column)


PLACES = {"link": ("sw2", f"{LINK}.tx B"), "link-v3": ("sw3", f"{LINK}.tx B"),
          "seat": ("sw3", f"{SEAT}.rx B"),
          **{f"eth{i}": ("sw1", f"slx1/eth{i}.tx B") for i in range(4)}}


def by_kernel(lab):
    link = payload(lab, "sw2", "sw3", True)
    return {"link": link, "link-v3": link, "seat": payload(lab, "sw3", SEAT, True),
            **{f"eth{i}": payload(lab, "slx1", f"eth{i}", True) for i in range(4)}}


def run_load(session, label, words):
    """The bytes that iperf3 on SEAT reports of what arrived."""
    session.say(f"load start iperf3 on {SEAT} as {label} {words}\nwait load {label}")
    done = wait_until(lambda: session.figures(label).get("ok") == 1, 60)
    return session.figures(label)["bytes"] if check(f"iperf3-{label}", done,
                                                    read(session.out)[-400:]) else 0


def test_load(lab, session):
    """What a load reports is what `iperf3 --json` of the other end received."""
    reported = run_load(session, "up", "direction=sent time=2s")
    log = read(f"{lab.folder}/nodes/slx1/iperf3.log")
    last_one = log[log.rfind("\n{\n") + 1:]
    if check("iperf3-json", last_one.endswith("\n}\n"), log[-400:]):
        received = json.loads(last_one)["end"]["sum_received"]["bytes"]
        print(f"load: {reported} reported, iperf3 --json {received}")
        check("load-as-iperf3", near(reported, received), f"{reported}, iperf3 {received}")


def test_figures(lab, session):
    before = {name: last(session, *place) for name, place in PLACES.items()}
    kernel, asked, sampler = by_kernel(lab), snmp_payload(lab, 2, "sw3"), Sampler(lab)
    received = run_load(session, "down", f"time={SECONDS}s")
    sampler.end()
    sent = {name: now - kernel[name] for name, now in by_kernel(lab).items()}
    # The bond's hash has put it on one of four.
    used = [name for name in PLACES if name.startswith("eth") and sent[name] > received / 2]
    if not check("one-port", received > 0 and len(used) == 1, sent):
        return
    for name in ("link", "link-v3", "seat", *used):
        counted = settled(session, *PLACES[name], before[name] + 0.98 * received) - before[name]
        print(f"{name}: {counted} counted, kernel {sent[name]}, iperf3 {received}")
        check(f"{name}-as-kernel", near(counted, sent[name]), f"{counted}, kernel {sent[name]}")
        check(f"{name}-as-iperf3", near(counted, received), f"{counted}, iperf3 {received}")
    counted = last(session, *PLACES["link"]) - before["link"]
    told = snmp_payload(lab, 2, "sw3") - asked
    check("link-as-snmpget", near(counted, told), f"{counted}, snmpget {told}")
    check_rate(session, sampler, received)


def check_rate(session, sampler, received):
    """Between the first and the last sample of the transfer's middle."""
    began = session.began()
    rows = [(t, row.get(f"{LINK}.tx B", 0), sampler.at(began + t))
            for t, row in session.samples("sw2")]
    rows = [row for row in rows if row[2] is not None]
    middle = [row for row in rows if 0.1 * received < row[2] - sampler.rows[0][1] < 0.9 * received]
    if check("samples-meanwhile", len(middle) >= 2, rows):
        shown, kernel = [(middle[-1][i] - middle[0][i]) / (middle[-1][0] - middle[0][0])
                         for i in (1, 2)]
        print(f"rate: {shown * 8e-6:.2f} Mbit/s, kernel {kernel * 8e-6:.2f}")
        # When an agent's cache was filled is known to AGENT seconds only.
        due = NEAR + AGENT / (middle[-1][0] - middle[0][0])
        check("rate", abs(shown - kernel) <= due * kernel,
              f"{shown * 8e-6} Mbit/s, kernel {kernel * 8e-6}")


# --- Trouble -------------------------------------------------------------------------------------


def test_state(lab, session):
    fact = f"{LINK}.state"
    check("link-up", wait_until(lambda: session.seen("sw2", fact) == "up", 40))
    for state in ("down", "up"):
        subprocess.run(lab.enter("sw2", "ip", "link", "set", "dev", "sw3", state), check=True)
        check(f"link-set-{state}", wait_until(lambda s=state: session.seen("sw2", fact) == s, 40),
              session.seen("sw2", fact))


def agent_of(lab, node):
    """Its process's number in our own name space."""
    for number in filter(str.isdigit, os.listdir("/proc")):
        words = read(f"/proc/{number}/cmdline").split("\0")
        if words[0].endswith("/snmpd") and f"{lab.folder}/nodes/{node}/snmpd.conf" in words:
            return int(number)
    raise RuntimeError(f"{node} has no agent")


def test_death(lab, session):
    os.kill(agent_of(lab, "sw2"), signal.SIGKILL)
    check("says-dead", session.down("sw2", ["no answer any more"]), session.links("sw2"))
    since = session.links("sw2")[-1]["t"] / 1e9
    check("other-end", wait_until(lambda: [t for t, row in session.samples("sw3")
                                           if t > since and f"{LINK}.tx B" in row]))


def run(lab):
    session = Session(layout(lab), None)
    try:
        if timed(test_places, lab, session):
            timed(test_figures, lab, session)
            timed(test_load, lab, session)
            timed(test_state, lab, session)
            timed(test_death, lab, session)
        session.say("quit")
        check("figures-end", session.process.wait(20) == 0, read(session.out)[-400:])
    finally:
        if session.process.poll() is None:
            session.process.kill()
            session.process.wait()
