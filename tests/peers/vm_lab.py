"""A vmlab for a test: raised below TMPDIR, with what the tests of it look at. The script that imports
this counts by check() and ends with finish()."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

from live_session import PULT, TMPDIR, Session, wait_until
from pult_session import Desk

SRC = os.environ["SRC"]
VMLAB = os.path.join(SRC, "scripts/labs/vmlab")
DATA = 8 << 20  # bytes that are read of srv:/data

passed = failed = 0


def check(name, held, what=""):
    global passed, failed
    if held:
        passed += 1
    else:
        failed += 1
        print(f"failed {name}: {what}", flush=True)
    return held


def skip(reason):
    print(reason)
    raise SystemExit(77)


def read(path):
    with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)


class Lab:
    def __init__(self, guests, *options):
        self.n, self.options = guests, ["--guests", str(guests), *options]
        self.name = f"t{os.getpid() % 10**7}"
        # The packages that guests are made of are unpacked once; the lab itself is below TMPDIR.
        self.labs = os.path.join(TMPDIR, "labs")
        self.place = os.path.join(self.labs, self.name)
        self.layout = os.path.join(self.place, "layout.yaml")
        self.ipmi = os.path.join(self.place, "layout-ipmi.yaml")
        self.boot = 60 + 20 * guests  # s; a quiet machine needs 4 a guest
        self.guests = [f"v{i:02}" for i in range(1, guests + 1)]

    def tool(self, *words, limit=170):
        """vmlab: a command and its words."""
        return subprocess.run([VMLAB, words[0], "--name", self.name, *words[1:]], text=True,
                              capture_output=True, timeout=limit, check=False,
                              env=os.environ | {"PULT_LABS": self.labs})

    def up(self):
        if os.geteuid() != 0:
            skip("namespaces want root")
        done = self.tool("up", *self.options)
        if "missing packages" in done.stderr:
            skip(done.stderr.strip())
        return check("up", done.returncode == 0 and "layout:" in done.stdout,
                     done.stdout + done.stderr)

    def down(self):
        if os.geteuid() != 0:
            return
        done = self.tool("down")
        check("down", "down" in done.stdout and not os.path.exists(self.place),
              done.stdout + done.stderr)
        left = [one for one in os.listdir("/run/netns") if one.startswith(f"pultvm-{self.name}-")]
        check("nothing-left", not left, str(left))

    def layout_with(self, name, *changes):
        """Another layout beside it: (TEXT, INSTEAD) each."""
        text = read(self.layout)
        for what, instead in changes:
            assert what in text, f"no {what!r} in the layout"
            text = text.replace(what, instead)
        path = os.path.join(self.place, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def do(self, *commands, layout=None):
        return subprocess.run([PULT, "do", "; ".join(commands), "--yes", "--no-record", "--layout",
                               layout or self.layout], capture_output=True, text=True, timeout=170,
                              check=False)

    # --- Guests ----------------------------------------------------------------------------------

    def address(self, guest):
        return re.search(rf"^ {{6}}{guest}: \{{address: ([\d.]+)\}}$", read(self.layout), re.M)[1]

    def mac(self, guest):
        return re.search(rf"^  {guest}: .*\bmac: ([\da-f:]+)", read(self.layout), re.M)[1]

    def inside(self, guest, command, limit=60):
        """Runs COMMAND on a guest; what it printed. One connection a guest, as they are slow."""
        done = subprocess.run(
            ["ssh", "-i", f"{self.place}/id_ed25519", "-o", f"UserKnownHostsFile={self.place}/known_hosts",
             "-o", "ConnectTimeout=30", "-o", "ControlMaster=auto", "-o", "ControlPersist=60",
             "-o", f"ControlPath={TMPDIR}/%h", f"root@{self.address(guest)}", command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            timeout=limit, check=False)
        return done.stdout if done.returncode == 0 else f"{done.stdout}: status {done.returncode}"

    def console(self, guest):
        return plain(read(f"{self.place}/consoles/{guest}.log"))

    def log(self, name):
        return read(f"{self.place}/nodes/house/{name}")

    def at_login(self, guest, times=1):
        return len(re.findall(f"^{guest} login: ", self.console(guest), re.M)) >= times

    def wait_login(self, names, times=1):
        wait_until(lambda: all(self.at_login(guest, times) for guest in names), self.boot)
        late = [guest for guest in names if not self.at_login(guest, times)]
        check("at-login", not late, f"{late} did not come to a login in {self.boot} s; "
              + "".join(self.console(guest)[-300:] for guest in late))

    def choose(self, guest, entry, entries=("ram", "nfs3", "nfs4", "nbd")):
        """In pxelinux's menu by keys, as soon as it stands there, which keeps it from the default."""
        check("menu", wait_until(lambda: "Boot nbd" in self.console(guest), self.boot),
              f"{guest} came to no menu")
        # Whoever reads the consoles goes on to.
        layout = self.layout_with("layout-keys.yaml", ("consoles: true", "consoles: false"))
        done = self.do(f"keys {guest} {'Down ' * entries.index(entry)}Enter", layout=layout)
        check("keys", done.returncode == 0, done.stdout + done.stderr)


# --- What a session saw --------------------------------------------------------------------------

# What reads the logs of the programs beside the guests, or asks from outside; else it was a console.
HOUSE = {"dnsmasq", "lighttpd", "ganesha", "nbd-server", "configuration", "probe", "vm"}
STAGES = ["firmware", "dhcp", "tftp", "http", "kernel", "initramfs", "root", "login"]


class Watched:
    """Whatever has events(), of a session that may go on."""

    def samples(self, node):
        """All of a guest at its tap, or of the server by SSH."""
        rows, columns = [], {}
        for event in self.events():
            if event["kind"] == "samples" and event["source"] in (f"vm:{node}", f"ssh:{node}"):
                names = columns[event["source"]] = event.get("columns",
                                                             columns.get(event["source"]))
                rows.append((event["t"] / 1e9, dict(zip(names, event["v"]))))
        return rows

    def told(self, node, counter):
        """What it was counted to last."""
        return next((row[counter] for _, row in reversed(self.samples(node)) if counter in row), 0)

    def received(self, guest):
        """At its tap, once that stands still from now on."""
        began = len(self.samples(guest))

        def rests():
            rows = [str(row) for _, row in self.samples(guest)[began:]]
            return len(rows) > 2 and rows[-1] == rows[-2]

        wait_until(rests, 20)
        return self.told(guest, f"{guest}.rx B")

    def ports(self):
        """Bytes that srv has sent by each port of its bond."""
        return [self.told("srv", f"srv/eth{i}.tx B") for i in range(4)]

    def sightings(self, guest, since=0):
        """{stage: {source: [seconds]}} of what was seen of a guest from second SINCE on; `firmware` by
        `vm` is its power."""
        seen = {}
        for event in self.events():
            if event["kind"] != "observe" or event["node"] != guest or event["t"] < since * 1e9:
                continue
            if event["fact"] == "stage":
                stage = event["value"].split()[0]
            elif event["fact"] == "power" and event["value"] == "on":
                stage = "firmware"
            else:
                continue
            seen.setdefault(stage, {}).setdefault(event["source"], []).append(event["t"] / 1e9)
        return seen

    def notes(self, severity="error"):
        return [event["text"] for event in self.events()
                if event["kind"] == "note" and event["severity"] == severity]

    def marked(self, text, seconds):
        """Waits until the script has come to its line `mark "TEXT"`."""
        return wait_until(lambda: any(event["kind"] == "command" and event["text"] == f'mark "{text}"'
                                      for event in self.events()), seconds)


class RoomSession(Watched, Session):
    def __init__(self, layout, script, *options):
        # What an earlier one has recorded is never overwritten.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(TMPDIR, "session.jsonl"))
        super().__init__(layout, script, *options)


class RoomDesk(Watched):
    """The console itself, in a terminal of 80 by 24."""

    def __init__(self, layout, name):
        self.desk = Desk(layout, os.path.join(TMPDIR, name), (24, 80))

    def events(self):
        while self.desk.read(0):  # else it waits for its terminal
            pass
        return self.desk.transcript().events


def earliest(sightings):
    """{stage: second}"""
    return {stage: min(min(times) for times in sources.values())
            for stage, sources in sightings.items()}


def apart(sources):
    """Seconds between what the house and what the console told of a stage, the nearest two; None: only
    one of them did."""
    house = [t for source, times in sources.items() if source in HOUSE for t in times]
    console = [t for source, times in sources.items() if source not in HOUSE for t in times]
    return min((abs(a - b) for a in house for b in console), default=None)


# --- Bonds ---------------------------------------------------------------------------------------

# As console and layouts speak of it: without the headers of each frame.
COUNTER = "awk '/eth0:/ { printf \"%.0f\\n\", $2 - 66 * $3 }' /proc/net/dev"
READ = ("mkdir -p /mnt/srv; modprobe -a nfs nfsv4; "
        "mount -i -t nfs -o vers=4.1,addr={srv},ro {srv}:/ /mnt/srv && "
        f"head -c {DATA} /mnt/srv/data | wc -c; umount /mnt/srv")


def predicted(lab, policy, guest):
    told = subprocess.run([PULT, "hash", "--layout", lab.layout, "--policy", policy, "--json"],
                          capture_output=True, text=True, check=True, timeout=30).stdout
    for i, port in enumerate(json.loads(told)[0]["ports"]):
        nodes = subprocess.run([PULT, "nodeset", "-e", port["nodes"]], capture_output=True, text=True,
                               check=False, timeout=30).stdout.split()
        if guest in nodes:
            return i
    return None


def set_policy(lab, session, policy):
    done = lab.do(f"set srv/bond0.policy {policy}")
    check("set-policy", done.returncode == 0, done.stdout + done.stderr)
    check("policy", wait_until(lambda: session.seen("srv", "bond0.policy") == policy, 20),
          session.seen("srv", "bond0.policy"))


def counted(lab, session, guest):
    """(at its tap, in the guest): bytes that it has received."""
    inside = int(lab.inside(guest, COUNTER))
    return session.received(guest), inside


def try_port(lab, session, guest, policy):
    """One guest reads a file of srv's: by the port that is predicted, and in the meters."""
    before, ports = counted(lab, session, guest), session.ports()
    words = lab.inside(guest, READ.format(srv=lab.address("srv")), 120).strip()
    check("read", words == str(DATA), f"{guest}: {words}")
    tap, own = (now - then for now, then in zip(counted(lab, session, guest), before))
    check("tap-as-guest", abs(tap - own) < 0.03 * own,
          f"{guest}: {tap} at its tap, {own} in the guest")

    def sent():
        return [now - then for now, then in zip(session.ports(), ports)]

    wait_until(lambda: sum(sent()) > DATA, 10)
    port = predicted(lab, policy, guest)
    check("port", port is not None and sent()[port] > 0.95 * sum(sent()),
          f"{policy}, {guest}: predicted eth{port}, sent {sent()}")


# --- The script ----------------------------------------------------------------------------------


def carry_out(lab, *parts):
    """Each of them, with how long it took; and the end, whatever happened."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        if lab.up():
            for part in parts:
                began = time.monotonic()
                part()
                print(f"{part.__name__}: {time.monotonic() - began:.0f} s", flush=True)
    finally:
        lab.down()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    raise SystemExit(failed > 0)
