#!/usr/bin/python3
"""The console in a terminal of 132x43, beside htop and btop at the same size and rate: CPU, memory,
and bytes it writes to the terminal. And how long a key takes to show with 10,000 simulated seats
booting at real speed. Twice an aim fails.

SECONDS (40) is how long each program is watched, KEYS (300) how many keys are pressed.
"""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time

SRC, PULT = os.environ["SRC"], os.environ["PULT"]
SECONDS = float(os.environ.get("SECONDS", "40"))
KEYS = int(os.environ.get("KEYS", "300"))
ROWS, COLUMNS = 43, 132
PAGE_KIB = os.sysconf("SC_PAGE_SIZE") / 1024
TICKS = os.sysconf("SC_CLK_TCK")
SEATS, ROOMS = 10000, 40

failed = False


class Desk:
    """A program in a terminal of its own."""

    def __init__(self, home, *command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LANG="C.UTF-8", LC_ALL="C.UTF-8", HOME=home,
                              XDG_CONFIG_HOME=home, XDG_STATE_HOME=home, XDG_DATA_HOME=home)
            # The child waits for the size of its terminal.
            while struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8)))[0] != ROWS:
                time.sleep(0.01)
            os.execvp(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.name = os.path.basename(command[0])

    def read(self, seconds):
        """What comes within SECONDS, at most one piece."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return b""
        try:
            return os.read(self.fd, 65536)
        except OSError:
            sys.exit(f"console.py: {self.name} has ended")

    def drain(self, seconds):
        """What comes until SECONDS have passed."""
        end, seen = time.monotonic() + seconds, []
        while (left := end - time.monotonic()) > 0:
            seen.append(self.read(left))
        return b"".join(seen)

    def until(self, wanted, seconds=60):
        end, seen = time.monotonic() + seconds, b""
        while wanted not in plain(seen):
            if time.monotonic() > end:
                sys.exit(f"console.py: {self.name} does not show {wanted!r}: {plain(seen)[-2000:]}")
            seen += self.read(0.2)

    def press(self, keys):
        os.write(self.fd, keys)

    def cpu(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def rss_mib(self):
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE_KIB / 1024

    def close(self):
        os.kill(self.pid, signal.SIGTERM)
        end = time.monotonic() + 5
        while time.monotonic() < end and os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            self.read_quietly()
        os.close(self.fd)

    def read_quietly(self):
        try:
            select.select([self.fd], [], [], 0.05)
            os.set_blocking(self.fd, False)
            os.read(self.fd, 65536)
        except OSError:
            time.sleep(0.01)


def plain(output):
    """OUTPUT without what moves the cursor or colours."""
    return re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][0-9A-Za-z]|\x1b[=>78M]", b"", output)


def report(what, value, unit, aim=None):
    global failed
    said = f" (aim {aim:g} {unit})" if aim is not None else ""
    print(f"console: {what}: {value:.3g} {unit}{said}", flush=True)
    failed = failed or (aim is not None and value > 2 * aim)


def watch(desk, what, aims=(None, None, None), seconds=SECONDS):
    cpu, begin = desk.cpu(), time.monotonic()
    written = [len(desk.drain(1)) for _ in range(round(seconds))]
    took = time.monotonic() - begin
    report(f"{what}, CPU", 100 * (desk.cpu() - cpu) / took, "% of a core", aims[0])
    report(f"{what}, to the terminal", sum(written) / took / 1000, "kB/s", aims[1])
    report(f"{what}, in the worst second", max(written) / 1000, "kB", aims[1])
    report(f"{what}, memory", desk.rss_mib(), "MiB", aims[2])


def two_rooms(home):
    """The shipped lab, but with samples once a second."""
    path = os.path.join(home, "two-rooms.yaml")
    with open(os.path.join(SRC, "layouts/openslx-two-rooms.yaml"), encoding="utf-8") as file:
        text = file.read()
    slow, n = re.subn(r"^boot: {", "boot: {simulate: {tick: 1 s}, ", text, flags=re.M)
    if n != 1 or "simulate:" in text:
        sys.exit("console.py: the two-room layout has no place for a tick")
    with open(path, "w", encoding="utf-8") as file:
        file.write(slow)
    return path


def bench_beside(home):
    for name, rate in (("htop", ["-d", "10"]), ("btop", [])):
        if shutil.which(name) is None:
            print(f"console: {name} is not installed")
            continue
        if name == "btop":
            os.makedirs(f"{home}/btop", exist_ok=True)
            with open(f"{home}/btop/btop.conf", "w", encoding="ascii") as file:
                file.write("update_ms = 1000\n")
        desk = Desk(home, name, *rate)
        desk.drain(3)
        watch(desk, f"{name} at 1 Hz")
        desk.close()


def command(desk, line, seats):
    """Types LINE and, when the plan asks for it, the number of SEATS."""
    desk.press(f":{line}\r".encode())
    desk.until(b"to go on")
    desk.press(f"{seats}\r".encode())


def bench_two_rooms(home):
    desk = Desk(home, PULT, "--layout", two_rooms(home), "--record", f"{home}/rooms.jsonl")
    desk.drain(3)
    watch(desk, "quiet", (1, None, 30))
    command(desk, "boot @all", 34)
    desk.drain(1)
    watch(desk, "34 clients boot, at 1 Hz", (5, 2, 30), 60)  # to its last figure
    desk.press(b":load start find-cat on @all for 600 s\r")
    desk.drain(5)
    watch(desk, "34 clients read, at 1 Hz", (5, 2, 30))
    desk.close()


def large_lab(home):
    path = os.path.join(home, "large.yaml")
    seats = SEATS // ROOMS
    with open(path, "w", encoding="ascii") as file:
        file.write("lab: Large\ndefaults: {power: sim, exec: sim, server: srv}\n"
                   "subnets: {pool: {net: 10.0.0.0/8}}\n"
                   "deadlines: {root: 3600 s, tftp: 600 s}\nswitches:\n  core: {}\n")
        file.writelines(f"  sw{i}: {{}}\n" for i in range(ROOMS))
        file.write("links:\n")
        file.writelines(f"  - {{from: core, to: sw{i}, speed: 10 Gbit/s}}\n" for i in range(ROOMS))
        file.write("servers:\n  srv: {switch: core, subnet: pool, nfsd: 512, bonds: {bond0: {"
                   "ports: [eth0, eth1, eth2, eth3], speed: 10 Gbit/s, mode: balance-xor, "
                   "policy: layer2+3, era: 5.18, mac: '52:54:ff:00:00:10', ip: 10.255.0.1}}}\n"
                   "clients:\n")
        file.writelines(f"  r{i:02}n[001-{seats}]: {{switch: sw{i}, subnet: pool, speed: 1 Gbit/s, "
                        f"mac: '52:54:{i:02x}:00:00:00 step 1', ip: 10.{i}.0.1 step 1}}\n"
                        for i in range(ROOMS))
        file.write("rooms:\n")
        file.writelines(f"  room{i}: {{title: Room {i}, seats: 'r{i:02}n[001-{seats}]', "
                        "columns: 25}\n" for i in range(ROOMS))
    return path


def bench_keys(home):
    """Types letters at the `:` line that stand nowhere else on the screen, and waits for each to
    come back."""
    desk = Desk(home, PULT, "--layout", large_lab(home), "--record", f"{home}/large.jsonl")
    desk.drain(3)
    command(desk, "boot @all", SEATS)
    desk.drain(1)
    cpu, begin = desk.cpu(), time.monotonic()
    took = []
    for i in range(KEYS):
        if i % 40 == 0:
            desk.press(b"\x15\x1b" if i else b"")
            desk.drain(0.5)
            desk.press(b":")
            desk.drain(0.5)
        letter = b"ZQXJ"[i % 4:i % 4 + 1]
        sent = time.monotonic()
        desk.press(letter)
        while letter not in plain(desk.read(5)):
            if time.monotonic() > sent + 5:
                sys.exit(f"console.py: a key was lost: {letter!r}, number {i}")
        took.append(1000 * (time.monotonic() - sent))
        desk.drain(0.02 + 0.13 * (i * 0.618 % 1))
    took.sort()
    what = f"key to screen, {SEATS} seats booting"
    report(f"{what}, median of {KEYS}", took[KEYS // 2], "ms")
    report(f"{what}, p99", took[min(KEYS * 99 // 100, KEYS - 1)], "ms", 30)
    report(f"{what}, longest", took[-1], "ms")
    report(f"{what}, CPU", 100 * (desk.cpu() - cpu) / (time.monotonic() - begin), "% of a core")
    report(f"{what}, memory", desk.rss_mib(), "MiB", 200)
    desk.close()


def main():
    with tempfile.TemporaryDirectory(prefix="pult-console-") as home:
        bench_beside(home)
        bench_two_rooms(home)
        bench_keys(home)
    return failed


sys.exit(main())
