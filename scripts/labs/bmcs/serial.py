"""The machines' serial lines: one process, a pseudo-terminal for each, that ipmi_sim serves as SOL.

A machine that is switched on or reset prints BOOT there, line by line; one that is up echoes what
is typed and asks for a login again. Whether it is on is read from chassis's log.
"""

import contextlib
import os
import pty
import selectors
import time
import tty

from . import files

TICK = 0.1
# Seconds after the line before, text.
BOOT = [
    (0.3, "Press F12 for boot menu"),
    (0.3, "iPXE 1.21.1 -- Open Source Network Boot Firmware -- https://ipxe.org"),
    (0.2, "net0: link up"),
    (0.3, "Configuring (net0 52:54:00:12:34:56)...... ok"),
    (0.2, "vmlinuz... ok"),
    (0.2, "initrd... ok"),
    (0.3, "[    0.000000] Linux version 6.1.0 (debian-kernel@lists.debian.org)"),
    (0.5, "[    1.284210] Run /init as init process"),
    (0.3, "Begin: Mounting root file system ... done."),
    (0.5, "Debian GNU/Linux 12 {node} ttyS0"),
    (0.1, ""),
    (0.0, "{node} login: "),
]
PROMPT = len(BOOT) - 1


class Line:
    def __init__(self, name, settings, number):
        path = files.bmc(name, number)
        self.node = files.node(settings, number)
        self.log = open(os.path.join(path, "log"), "rb")
        self.log.seek(0, os.SEEK_END)
        with open(os.path.join(path, "state"), encoding="ascii") as file:
            on = file.read().split()[1] == "1"
        # The other end stays open, or reading fails while nobody has it open.
        self.fd, self.other = pty.openpty()
        tty.setraw(self.other)
        os.set_blocking(self.fd, False)
        link = files.line(name, settings, number)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(link)
        os.symlink(os.ttyname(self.other), link)
        self.next = len(BOOT) if on else None  # line to print; None: the machine is off
        self.due = 0

    def print(self, text):
        # Nobody reads a line that is full; a machine does not wait for that.
        with contextlib.suppress(BlockingIOError):
            os.write(self.fd, text.encode())

    def follow(self, now):
        if os.fstat(self.log.fileno()).st_size < self.log.tell():
            self.log.seek(0)
        for line in self.log.read().splitlines():
            words = line.split()[1:]
            if words in ([b"did", b"set", b"power", b"1"], [b"did", b"set", b"reset", b"1"]):
                if self.next is None or words[2] == b"reset":
                    self.next, self.due = 0, now + BOOT[0][0]
            elif words[:3] == [b"did", b"set", b"power"] or words[:3] == [b"did", b"set",
                                                                          b"shutdown"]:
                self.next = None
        while self.next is not None and self.next < len(BOOT) and self.due <= now:
            text = BOOT[self.next][1].format(node=self.node)
            self.print(text if self.next == PROMPT else text + "\r\n")
            self.next += 1
            if self.next < len(BOOT):
                self.due += BOOT[self.next][0]

    def typed(self):
        text = os.read(self.fd, 4096).decode("utf-8", "replace")
        if self.next == len(BOOT):
            self.print(text.replace("\r", f"\r\n{BOOT[PROMPT][1].format(node=self.node)}"))


def serve(name, settings):
    selector = selectors.DefaultSelector()
    for number in range(1, settings["count"] + 1):
        line = Line(name, settings, number)
        selector.register(line.fd, selectors.EVENT_READ, line)
    print("ready", flush=True)
    again = time.monotonic()
    while True:
        for key, _ in selector.select(max(0, again - time.monotonic())):
            with contextlib.suppress(OSError):
                key.data.typed()
        if time.monotonic() >= again:
            for key in selector.get_map().values():
                key.data.follow(time.monotonic())
            again = time.monotonic() + TICK
