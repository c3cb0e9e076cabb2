"""A lab's folder, its lock, and the processes that are its own.

A process belongs to a lab if it bears the mark that `up` puts into the environment of what it
starts: MARK=FOLDER, and BMC=NUMBER where it belongs to one BMC. So nothing is missed when a lab was
killed half way, and no number of a process is believed that might be another's by now.
"""

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import time

MARK = "PULT_BMCLAB"
BMC = "PULT_BMC"


class Wrong(Exception):
    """What a person is told in one line."""


def base():
    usual = "/var/lib/pult-labs" if os.geteuid() == 0 else os.path.expanduser(
        "~/.local/state/pult-labs")
    return os.path.abspath(os.environ.get("PULT_LABS", usual))


def folder(name):
    return os.path.join(base(), "bmclab-" + name)


def names():
    """Labs there are, or remains of some."""
    try:
        found = os.listdir(base())
    except FileNotFoundError:
        return []
    return sorted(entry[7:] for entry in found if entry.startswith("bmclab-"))


def read(path, otherwise=""):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return otherwise


def write(path, text, mode=0o644):
    """Whole or not at all."""
    new = path + ".new"
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w",
              encoding="utf-8") as file:
        file.write(text)
    os.rename(new, path)


def settings(name):
    """What `up` decided on; {} if it did not come so far."""
    try:
        return json.loads(read(os.path.join(folder(name), "lab.json"), "{}"))
    except ValueError:
        return {}


def ready(name):
    return os.path.exists(os.path.join(folder(name), "ready"))


def remove_folder(name):
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder(name))


# --- Locks ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def lock(name, seconds=120):
    """One command at a time changes a lab. The lock's file is gone afterwards if the lab is."""
    os.makedirs(base(), exist_ok=True)
    path = os.path.join(base(), f".bmclab-{name}.lock")
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(BlockingIOError, FileNotFoundError), \
                open(path, "a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Another may have removed it between open and lock.
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                try:
                    yield
                finally:
                    if not os.path.isdir(folder(name)):
                        os.unlink(path)
                        with contextlib.suppress(OSError):
                            os.rmdir(base())
                return
        if time.monotonic() > deadline:
            raise Wrong(f"another bmclab works on lab {name}")
        time.sleep(0.05)


@contextlib.contextmanager
def addresses_lock(seconds=120):
    """One lab at a time on this machine looks for free addresses and takes them."""
    with socket.socket(socket.AF_UNIX) as guard:
        deadline = time.monotonic() + seconds
        while True:
            try:
                guard.bind("\0pult-bmclab-addresses")
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise Wrong("another bmclab does not come to an end with its addresses") from None
                time.sleep(0.05)
        yield


# --- Processes -----------------------------------------------------------------------------------


def started(pid):
    """When a process started, in ticks since the boot; None when it has ended."""
    words = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return words[19] if words and words[0] not in "ZX" else None


def note_pid(path, pid):
    write(path, f"{pid} {started(pid)}\n")


def noted_pid(path):
    """The process noted at PATH if it still is that one, else None."""
    words = read(path).split()
    if len(words) == 2 and words[0].isdigit() and started(words[0]) == words[1]:
        return int(words[0])
    return None


def marked(name, number=None):
    """Processes of a lab, or of one BMC of it; this one left out."""
    wanted = {f"{MARK}={folder(name)}".encode()}
    if number is not None:
        wanted.add(f"{BMC}={number}".encode())
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{entry}/environ", "rb") as file:
            if wanted <= set(file.read().split(b"\0")):
                found.append(int(entry))
    return found


def end(name, number=None, seconds=20):
    """Kills what belongs to a lab, or to one BMC of it, and waits until it is gone."""
    deadline = time.monotonic() + seconds
    while True:
        fds = {}
        for pid in marked(name, number):
            with contextlib.suppress(OSError):
                fds[os.pidfd_open(pid)] = pid
        # Looked at again behind the pidfd: a number seen before might be another process by now.
        still = set(marked(name, number)) if fds else ()
        for fd, pid in fds.items():
            if pid in still:
                with contextlib.suppress(OSError):
                    signal.pidfd_send_signal(fd, signal.SIGKILL)
        for fd in fds:
            select.select([fd], [], [], max(0, deadline - time.monotonic()))
            os.close(fd)
        if not fds:
            return
        if time.monotonic() > deadline:
            raise Wrong(f"processes of lab {name} do not end: "
                        + " ".join(map(str, sorted(fds.values()))))
