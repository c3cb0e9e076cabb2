"""What the tests of scripts/labs/nslab share: labs of their own below $TMPDIR, gone at the end."""

import contextlib
import ctypes
import glob
import json
import os
import signal
import subprocess
import sys
import time

SRC, PULT, TMPDIR = os.environ["SRC"], os.environ["PULT"], os.environ["TMPDIR"]
NSLAB = os.path.join(SRC, "scripts/labs/nslab")
LABS = os.path.join(TMPDIR, "labs")
FULL = bool(os.environ.get("NSLAB_FULL"))
UNIT = 64 * 10**6
POLICIES = ("layer2", "layer2+3", "layer3+4")
SERVER_IP = "10.21.0.254"
NAMES = [f"t{os.getpid() % 10**7}{letter}" for letter in "abc"]
ENVIRONMENT = os.environ | {"PULT_LABS": LABS}

passed = failed = skipped = 0


def check(name, held, what=""):
    global passed, failed
    if held:
        passed += 1
    else:
        failed += 1
        print(f"failed {name}: {what}", flush=True)
    return held


def skip(name, reason):
    global skipped
    skipped += 1
    print(f"skip {name}: {reason}", flush=True)


def nslab(*arguments, limit=120, **more):
    return subprocess.run([NSLAB, *arguments], capture_output=True, text=True, timeout=limit,
                          env=ENVIRONMENT | more, check=False)


def said(done):
    return f"exits {done.returncode}, says '{(done.stdout + done.stderr).strip()}'"


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def wait_until(predicate, seconds=20):
    deadline = time.monotonic() + seconds
    while not predicate():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


# --- Coming and going ----------------------------------------------------------------------------


def namespaces(name):
    with contextlib.suppress(FileNotFoundError):
        return sorted(one for one in os.listdir("/run/netns") if one.startswith(f"pult-{name}-"))
    return []


def inodes(name):
    found = set()
    for one in namespaces(name):
        with contextlib.suppress(FileNotFoundError):
            found.add(os.stat(f"/run/netns/{one}").st_ino)
    return found


def processes(name, inside):
    """Those in the network namespaces INSIDE, or with the lab's folder in their environment."""
    mark = os.fsencode(os.path.join(LABS, name)) + b"\0"
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/environ", "rb") as file:
                marked = b"=" + mark in file.read()
            if marked or os.stat(f"/proc/{pid}/ns/net").st_ino in inside:
                found.append(pid)
    return found


def remains(name, inside):
    left = namespaces(name) + processes(name, inside)
    left += [path for path in (f"/sys/class/net/pl-{name}", os.path.join(LABS, name))
             if os.path.exists(path)]
    left += [loop for loop in glob.glob("/sys/block/loop*/loop/backing_file")
             if read(loop).startswith(os.path.join(LABS, name) + "/")]
    return " ".join(left)


# --- Hashes and machines -------------------------------------------------------------------------


class Driver:
    """console/model/bond_hash.c, compiled for this process."""

    def __init__(self):
        library = os.path.join(TMPDIR, "bond_hash.so")
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "glib-2.0"], text=True,
                               capture_output=True, check=True).stdout.split()
        subprocess.run(["cc", "-std=gnu17", "-shared", "-fPIC", "-I", os.path.join(SRC, "console"),
                        "-o", library, os.path.join(SRC, "console/model/bond_hash.c"), *flags],
                       check=True)
        self.library = ctypes.CDLL(library)
        self.library.bond_hash_frame.restype = ctypes.c_uint32
        self.era = self.library.bond_era_parse(b"5.18")

    def port(self, policy, frame, ports):
        number = self.library.bond_policy_parse(policy.encode())
        return self.library.bond_hash_frame(number, self.era, frame,
                                            ctypes.c_size_t(len(frame))) % ports


class Lab:
    def __init__(self, name):
        self.name = name
        self.folder = os.path.join(LABS, name)
        self.layout = os.path.join(self.folder, "layout.yaml")
        with open(os.path.join(self.folder, "ready"), encoding="utf-8") as file:
            self.network = json.load(file)["network"]

    def pid(self, node):
        return read(os.path.join(self.folder, "nodes", node, "pid")).split()[0]

    def bytes(self, node, device, sent):
        for line in read(f"/proc/{self.pid(node)}/net/dev").splitlines()[2:]:
            name, _, rest = line.partition(":")
            if name.strip() == device:
                return int(rest.split()[8 if sent else 0])
        raise RuntimeError(f"{node} has no {device}")

    def ports(self):
        return [self.bytes("slx1", f"eth{i}", True) for i in range(4)]

    def enter(self, node, *command):
        return ["nsenter", "-t", self.pid(node), "-n", "-m", "-u", "-i", "-p", "--", *command]

    def places(self, policy):
        """Client to port, as `pult hash` says."""
        done = subprocess.run([PULT, "hash", "--layout", self.layout, "--policy", policy,
                               "--json"], capture_output=True, text=True, check=True)
        found = {}
        for number, port in enumerate(json.loads(done.stdout)[0]["ports"]):
            names = subprocess.run([PULT, "nodeset", "-e", port["nodes"]], text=True,
                                   capture_output=True, check=True).stdout.split() \
                if port["seats"] else []
            found.update(dict.fromkeys(names, number))
        return found


def payload(lab, node, device, sent):
    """By the kernel: octets less 66 a packet."""
    for line in read(f"/proc/{lab.pid(node)}/net/dev").splitlines()[2:]:
        name, _, rest = line.partition(":")
        if name.strip() == device:
            words = [int(word) for word in rest.split()]
            return words[8] - 66 * words[9] if sent else words[0] - 66 * words[1]
    raise RuntimeError(f"{node} has no {device}")


# --- A test's course ------------------------------------------------------------------------------


def why_not(done):
    """Why this machine can have no lab, by an `up` that is DONE; None when it can."""
    lines = done.stderr.strip().splitlines()
    if done.returncode == 2 and lines and ("missing packages" in lines[-1]
                                           or "kernel has no" in lines[-1]):
        return lines[-1].removeprefix("nslab: ")
    return None


def timed(test, *arguments):
    began = time.monotonic()
    result = test(*arguments)
    print(f"{test.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    return result


def main(run, clients=None):
    """RUN, where a lab can be raised; with CLIENTS it is given one of so many, which is up."""
    if os.geteuid() != 0:
        print("namespaces want root")
        return 77

    def stop(number, _):
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        up = nslab("up", "--clients", str(clients or 2), "--name", NAMES[0])
        if why_not(up):
            print(why_not(up))
            return 77
        if clients is None:
            nslab("down", "--name", NAMES[0])
            run()
        elif check("up", up.returncode == 0, said(up)):
            run(Lab(NAMES[0]))
            inside = inodes(NAMES[0])
            nslab("down", "--name", NAMES[0])
            check("down", not remains(NAMES[0], inside), remains(NAMES[0], inside))
    finally:
        for name in NAMES:
            nslab("down", "--name", name)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0
