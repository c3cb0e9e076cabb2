"""The calls of Linux that Python 3.11 has no names for."""

import ctypes
import os

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWPID, CLONE_NEWNET = 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result, what):
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def setns(path):
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc.setns(fd, CLONE_NEWNET), f"setns {path}")
    finally:
        os.close(fd)


def unshare(flags):
    _check(_libc.unshare(flags), "unshare")


def mount(source, target, kind=None, flags=0, data=None):
    def word(text):
        return None if text is None else os.fsencode(text)

    _check(_libc.mount(word(source), word(target), word(kind), ctypes.c_ulong(flags), word(data)),
           f"mount {target}")


def unmount(target):
    _check(_libc.umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")
