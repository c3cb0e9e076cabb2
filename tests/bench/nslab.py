#!/usr/bin/python3
"""Real loads on the lab of namespaces: NFS v3 and v4, NBD and iperf3, on 17 and on 34 clients, under
each of its bond's policies and behind its uplink; then scripts/saturate.pult as it runs on the
simulator, but for the layout; then pult's figures beside SNMP's and iperf3's own.

A line a load: what the ports carried, of what they can; how far the port that is furthest off was
from what `pult hash` (layer3+4: the live sockets) puts on it, and how far what pult shows was from
the kernel's counters. Ports that are wrong, less than nine tenths of what is there to be had, or a
figure that is 2 % off, fail. A lab that cannot be raised is told, and no failure.

SECONDS (8) is how long a load takes; JOBS (nfs3 nfs4 nbd iperf3) says which, WITH under which
policies (layer2 layer2+3 layer3+4).
"""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SRC = os.environ["SRC"]
FOLDER = tempfile.TemporaryDirectory(prefix="pult-bench-")
os.environ["TMPDIR"] = FOLDER.name
os.environ["NSLAB_FULL"] = "1"
sys.path.insert(0, os.path.join(SRC, "tests/peers"))
import nslab_figures  # noqa: E402
import nslab_lab as labs  # noqa: E402
from nslab_lab import POLICIES, check  # noqa: E402
from nslab_load import (JOBS, clients, mega, pult, set_policy, test_bond,  # noqa: E402
                        test_sockets, test_uplink)

CLIENTS = 34
SECONDS = int(os.environ.get("SECONDS", "8"))
CHOSEN = os.environ.get("JOBS", " ".join(JOBS)).split()
WITH = os.environ.get("WITH", " ".join(POLICIES)).split()


def row(job, policy, block, result):
    outcome, limit, off, shown = result
    print(f"nslab: {job:6} {policy:8} {len(block):2} clients: "
          f"{sum(outcome.rates) / 1e6:5.0f} of {limit / 1e6:3.0f} Mbit/s ({mega(outcome.rates)}), "
          f"ports {100 * off:.1f} % off, shown {100 * shown:+.2f} %, "
          f"processors idle {100 * outcome.idle:.0f} %", flush=True)


def run_loads(lab):
    room_a = clients("a", 1, CLIENTS // 2)
    everybody = room_a + clients("b", 1, CLIENTS // 2)
    behind = clients("b", 4, CLIENTS // 2)
    for policy in WITH:
        set_policy(lab, policy)
        for job in CHOSEN:
            for block in (room_a, everybody):
                row(job, policy, block, test_sockets(lab, job, block, SECONDS)
                    if policy == "layer3+4" else test_bond(lab, job, block, policy, SECONDS))
            if policy == "layer2":
                row(job, "uplink", behind, test_uplink(lab, job, behind, policy, SECONDS))


def run_saturate(lab):
    session = pult(lab, "run", os.path.join(SRC, "scripts/saturate.pult"))
    output = session.communicate()[0]
    for line in output.splitlines():
        if "held" in line:
            print(f"nslab: saturate: {line.strip()}")
    check("saturate", session.returncode == 0 and "12 of 12 expectations held" in output,
          f"exit status {session.returncode}: {output}")
    check("saturate-nobody-booted", " by plug: " not in output, output)


def run(lab):
    run_loads(lab)
    set_policy(lab, "layer2")
    run_saturate(lab)
    nslab_figures.run(lab)


status = labs.main(run, CLIENTS)
sys.exit(0 if status == 77 else status)
