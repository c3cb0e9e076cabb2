"""Loads on the lab of namespaces, begun as an operator begins them, and what was carried meanwhile,
by the kernel's counters.

A load of JOBS is `load start` of pult; each of the bond's ports must have carried what its clients
by `pult hash` received (`layer3+4`: what the server's live sockets sent, by its formula), and four
of them, or the uplink, nine tenths of what they can. What pult shows of a load and of the ports must
be within NEAR of the kernel's counters.
"""

import dataclasses
import json
import os
import re
import socket
import subprocess
import time

from nslab_lab import (PULT, SERVER_IP, TMPDIR, UNIT, Driver, check, payload, read, skip)

NFS = f"find-cat on %s for %d s as it source=nfs://{SERVER_IP}/tree/large?version="
JOBS = {"nfs3": NFS + "3", "nfs4": NFS + "4", "nbd": "dd-nbd on %s for %d s as it",
        "iperf3": "iperf3 on %s as it time=%ds"}
PORTS = [("slx1", f"eth{i}") for i in range(4)]
WINDOW = 1.5  # s of a load in which it is looked at, at the least
FULL = 0.9  # of what is there for it
NEAR = 0.02


def pult(lab, *words):
    """A session on the lab, begun."""
    return subprocess.Popen([PULT, *words, "--layout", lab.layout, "--yes"], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)


def set_policy(lab, policy):
    session = pult(lab, "do", f"set slx1/bond0.policy {policy}")
    output = session.communicate()[0]
    check(f"policy-{policy}", session.returncode == 0, output)


def clients(room, first, last):
    return [f"{room}{i:02}" for i in range(first, last + 1)]


def processor_times():
    """Idle, and all of them, since the machine began."""
    with open("/proc/stat", encoding="ascii") as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    return times[3] + times[4], sum(times)


@dataclasses.dataclass
class Outcome:
    rates: list  # bit/s of what was wanted, in the window in which they had most together
    sent: list  # by port, B as the kernel counts them
    received: dict  # by client
    paid: list  # by port, B of payload
    got: int  # by all clients
    shown: dict  # by column of pult's samples, B of payload
    figures: dict  # of the load, as pult shows them
    told: object
    idle: float  # share of the processors' time


def sample(lab, wanted, session, seconds, told):
    """Bit/s of each of WANTED, (node, device) pairs, in the WINDOW s in which they had most: loads
    begin and end, and other work on this machine takes some from them. TOLD is called once, half of
    the load's SECONDS after it has begun."""
    samples, answer, begun = [], None, None
    while session.poll() is None:
        now = time.monotonic()
        counts = [lab.bytes(*one, True) for one in wanted]
        if time.monotonic() - now < 0.01 or not samples:  # else when was that?
            samples.append((now, counts))
        if begun is None and sum(counts) - sum(samples[0][1]) > 10**6:
            begun = now
        if told and answer is None and begun and now - begun > seconds / 2:
            answer = told()
        time.sleep(0.1)
    best = [0.0] * len(wanted)
    for i, (then, first) in enumerate(samples):
        for now, last in samples[i + 1:]:
            if now - then >= WINDOW:
                rates = [8 * (b - a) / (now - then) for a, b in zip(first, last)]
                best = max(best, rates, key=sum)
                break
    return best, answer


def recorded(path):
    """What a session's transcript says: how much its counters rose, and the load's figures."""
    columns, first, last, figures = {}, {}, {}, {}
    for line in read(path).splitlines()[2:]:
        event = json.loads(line)
        if event["kind"] == "samples":
            columns[event["source"]] = event.get("columns", columns.get(event["source"]))
            for column, value in zip(columns[event["source"]], event["v"]):
                first.setdefault(column, value)
                last[column] = value
        elif event["kind"] == "figure":
            figures[event["name"]] = event["value"]
    return {column: last[column] - first[column] for column in last}, figures


def run_load(lab, job, block, seconds, wanted, told=None, cache=""):
    """Loads BLOCK for SECONDS, CACHE being cold, warm or neither."""
    name, path = job, os.path.join(TMPDIR, "load.jsonl")
    before = lab.ports(), {one: lab.bytes(one, "eth0", False) for one in block}
    paid = [payload(lab, *port, True) for port in PORTS]
    got = sum(payload(lab, one, "eth0", False) for one in block)
    times = processor_times()
    # Its counters have a sample before and one behind the load.
    job = JOBS[job] % (f"{','.join(block)} {cache}", seconds)
    session = pult(lab, "do", f"sleep 2 s; load start {job}; wait load it; "
                   f"expect it.ok >= {len(block)}; sleep 2 s", "--record", path)
    rates, answer = sample(lab, wanted, session, seconds, told)
    output = session.communicate()[0]
    check(f"{name}-ran-{len(block)}", session.returncode == 0,
          f"exit status {session.returncode}: {output}")
    idle, total = (now - then for now, then in zip(processor_times(), times))
    shown, figures = recorded(path)
    os.unlink(path)
    return Outcome(rates, [now - then for now, then in zip(lab.ports(), before[0])],
                   {one: lab.bytes(one, "eth0", False) - before[1][one] for one in block},
                   [payload(lab, *port, True) - then for port, then in zip(PORTS, paid)],
                   sum(payload(lab, one, "eth0", False) for one in block) - got, shown, figures,
                   answer, idle / total)


# --- What must hold ------------------------------------------------------------------------------


def mega(values):
    return " ".join(f"{value / 1e6:.1f}" for value in values)


def check_filled(name, outcome, limit):
    """RATES come to nine tenths of LIMIT, or no processor was left for more."""
    total = sum(outcome.rates)
    if total < FULL * limit and outcome.idle < 0.05:
        skip(name, f"{mega(outcome.rates)} Mbit/s, but no processor was idle: other work took them")
    else:
        check(name, total >= FULL * limit, f"{mega(outcome.rates)} of {limit / 1e6:.0f} Mbit/s")


def filled(limit, attempt):
    """The first outcome of three that comes up to LIMIT, a function of it: the machine may be too
    busy for once."""
    for _ in range(3):
        outcome = attempt()
        if sum(outcome.rates) >= FULL * limit(outcome):
            break
    return outcome


def check_ports(name, outcome, places, lost=0.0):
    """Each port carried what its clients received, and no more than LOST, a share, besides."""
    worst = 0.0
    for port in range(4):
        due = sum(got for one, got in outcome.received.items() if places[one] == port)
        off = (outcome.sent[port] - due) / max(due, sum(outcome.sent) / 20)
        worst = max(worst, abs(off))
        check(f"{name}-port{port}", -0.05 <= off <= 0.05 + lost,
              f"sent {outcome.sent[port]}, its clients received {due}")
    return worst


def check_shown(name, outcome):
    """Ports by pult's meters, and the load's bytes, by the kernel's counters; how far off."""
    offs = {}
    for port, paid in enumerate(outcome.paid):
        counted = outcome.shown.get(f"slx1/eth{port}.tx B", 0)
        if paid > sum(outcome.paid) / 20:
            offs[f"eth{port}"] = counted / paid - 1
    received = sum(outcome.shown.get(f"{one}.rx B", 0) for one in outcome.received)
    offs["clients"] = received / outcome.got - 1
    for what, off in offs.items():
        check(f"{name}-shown-{what}", abs(off) <= NEAR, f"{100 * off:+.2f} %")
    return max(offs.values(), key=abs)


def test_bond(lab, job, block, policy, seconds, meanwhile=None):
    """The ports that BLOCK has are full, and each carried what its clients received."""
    places = lab.places(policy)
    limit = UNIT * len({places[one] for one in block})
    name = f"{job}-{policy}-{len(block)}"
    outcome = filled(lambda _: limit,
                     lambda: run_load(lab, job, block, seconds, PORTS, meanwhile))
    check_filled(f"{name}-fills", outcome, limit)
    check(f"{name}-not-above", max(outcome.rates) <= 1.05 * UNIT, mega(outcome.rates))
    return outcome, limit, check_ports(name, outcome, places), check_shown(name, outcome)


def test_uplink(lab, job, block, policy, seconds, cache=""):
    """The uplink limits, and drops what comes too fast; the ports before it are those of POLICY."""
    name = f"{job}-uplink-{len(block)}"
    outcome = filled(lambda _: UNIT,
                     lambda: run_load(lab, job, block, seconds, [("sw2", "sw3")], cache=cache))
    check_filled(f"{name}-fills", outcome, UNIT)
    check(f"{name}-not-above", max(outcome.rates) <= 1.05 * UNIT, mega(outcome.rates))
    return (outcome, UNIT, check_ports(name, outcome, lab.places(policy), 0.2),
            check_shown(name, outcome))


# --- layer3+4: by the live sockets ---------------------------------------------------------------


def live_sockets(lab, driver):
    """Bytes sent by port of the bond, from the server's sockets and layer3+4's formula; and what
    the ports had sent before and after these were asked."""
    before = lab.ports()
    done = subprocess.run(lab.enter("slx1", "ss", "-tinH", "state", "established"), text=True,
                          capture_output=True, check=True)
    lines = done.stdout.splitlines()
    sent = [0] * 4
    for head, more in zip(lines, lines[1:]):
        words = re.sub(r"\[::ffff:([0-9.]+)\]", r"\1", head).split()
        if len(words) < 4 or not words[2].startswith(SERVER_IP + ":"):
            continue
        figures = [int(word.partition(":")[2]) for word in more.split()
                   if word.startswith("bytes_sent:")]
        ends = [end.rpartition(":") for end in words[2:4]]
        ip = b"\x45" + bytes(8) + b"\x06\0\0" + b"".join(socket.inet_aton(end[0]) for end in ends)
        ports = b"".join(int(end[2]).to_bytes(2, "big") for end in ends)
        frame = bytes(12) + b"\x08\x00" + ip + ports + bytes(16)
        sent[driver.port("layer3+4", frame, 4)] += sum(figures)
    return sent, before, lab.ports()


def test_sockets(lab, job, block, seconds):
    """The ports carry what the live sockets send, and those that have some are full."""
    driver, name, began = Driver(), f"{job}-layer3+4-{len(block)}", []

    def attempt():
        began[:] = lab.ports()
        return run_load(lab, job, block, seconds, PORTS, lambda: live_sockets(lab, driver))

    def limit(outcome):
        due = outcome.told[0] if outcome.told else [0] * 4
        return UNIT * sum(bytes_sent > sum(due) / 50 for bytes_sent in due)

    outcome = filled(limit, attempt)
    if not check(f"{name}-sockets", limit(outcome) > 0, outcome.told):
        return outcome, 0, 1, check_shown(name, outcome)
    check_filled(f"{name}-fills", outcome, limit(outcome))
    due, before, after = outcome.told
    low, high = ([now - then for now, then in zip(ports, began)] for ports in (before, after))
    # Ports count headers, sockets what is sent again, and 100 kB wait in between.
    worst = max(max(a - b, b - c, 0) / max(b, sum(due) / 20)
                for a, b, c in zip(low, due, high))
    for port in range(4):
        check(f"{name}-port{port}",
              0.9 * low[port] - 10**5 <= due[port] <= 1.05 * high[port] + 4 * 10**5,
              f"sockets sent {due[port]}, it {low[port]} before and {high[port]} after")
    return outcome, limit(outcome), worst, check_shown(name, outcome)
