"""The lab's folder, its lock, and the processes that belong to it.

A lab is found by its name alone: its folder below the base, its namespaces PREFIX-NAME-…, its link
in the console's namespace. A process is the lab's if it lives in one of these namespaces,
or bears the mark that `up` puts into the environment of what it starts.
"""

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import time

from . import plan

NETNS = "/run/netns"
MARK = "PULT_NSLAB"


def base():
    return os.path.abspath(os.environ.get("PULT_LABS", "/var/lib/pult-labs"))


def folder(name):
    return os.path.join(base(), name)


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
    os.chmod(new, mode)
    os.rename(new, path)


def settled(name):
    """What `up` wrote when it was done: {"options": …, "network": "10.78"}; None before."""
    try:
        return json.loads(read(os.path.join(folder(name), "ready"), "null"))
    except ValueError:
        return None


# --- Processes -----------------------------------------------------------------------------------


def started(pid):
    """When a process started, in ticks since the boot; None when there is none, or it has ended."""
    words = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return words[19] if words and words[0] not in ("Z", "X") else None


def note_pid(path, pid):
    write(path, f"{pid} {started(pid)}\n")


def noted_pid(path):
    """The process noted at PATH if it still is that one, else None."""
    words = read(path).split()
    if len(words) == 2 and words[0].isdigit() and started(words[0]) == words[1]:
        return int(words[0])
    return None


def namespaces(name):
    try:
        return sorted(entry for entry in os.listdir(NETNS) if entry.startswith(f"{plan.PREFIX}-{name}-"))
    except FileNotFoundError:
        return []


def _inhabitants(name):
    """Processes of the lab, ourselves left out."""
    inodes = set()
    for entry in namespaces(name):
        with contextlib.suppress(OSError):
            inodes.add(os.stat(os.path.join(NETNS, entry)).st_ino)
    mark = f"{MARK}={folder(name)}".encode()
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            if os.stat(f"/proc/{entry}/ns/net").st_ino in inodes:
                yield int(entry)
            else:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        yield int(entry)
        except OSError:
            continue  # it has ended, or has no memory of its own


def end_processes(name, seconds=20):
    """Kills what belongs to the lab and waits until it is gone."""
    deadline = time.monotonic() + seconds
    while True:
        fds = []
        for pid in list(_inhabitants(name)):
            with contextlib.suppress(OSError):
                fds.append(os.pidfd_open(pid))
        # Only now: a number seen before might be another process by now.
        still = set(_inhabitants(name))
        for fd in fds:
            if _pid_of(fd) in still:
                with contextlib.suppress(OSError):
                    signal.pidfd_send_signal(fd, signal.SIGKILL)
        for fd in fds:
            left = max(0, deadline - time.monotonic())
            select.select([fd], [], [], left)
            os.close(fd)
        if not fds:
            return
        if time.monotonic() > deadline:
            raise plan.Wrong(f"processes of lab {name} do not end: "
                             + " ".join(map(str, sorted(_inhabitants(name)))))


def _pid_of(fd):
    for line in read(f"/proc/self/fdinfo/{fd}").splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1


# --- The folder ----------------------------------------------------------------------------------


@contextlib.contextmanager
def lock(name, seconds=120):
    """One `up` or `down` of a lab at a time. The kernel drops the lock with its holder."""
    os.makedirs(base(), mode=0o755, exist_ok=True)
    path = os.path.join(base(), f".{name}.lock")
    with open(path, "a", encoding="utf-8") as file:
        deadline = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise plan.Wrong(f"another {plan.TOOL} works on lab {name}") from None
                time.sleep(0.05)
        yield


def make_folder(name):
    path = folder(name)
    os.makedirs(path, mode=0o755)
    write(os.path.join(path, plan.TOOL), f"A lab; `{plan.TOOL} down` removes this folder.\n")
    return path


def remove_folder(name):
    path = folder(name)
    if not os.path.isdir(path):
        return
    if os.listdir(path) and not os.path.exists(os.path.join(path, plan.TOOL)):
        raise plan.Wrong(f"{path} is not a lab's folder; it stays")
    shutil.rmtree(path)


def names():
    """Labs there are, or remains of some."""
    found = set()
    with contextlib.suppress(FileNotFoundError):
        found.update(entry for entry in os.listdir(base())
                     if os.path.exists(os.path.join(base(), entry, plan.TOOL)))
    with contextlib.suppress(FileNotFoundError):
        found.update(entry.split("-")[1] for entry in os.listdir(NETNS)
                     if entry.startswith(f"{plan.PREFIX}-") and entry.count("-") >= 2)
    return sorted(found)
