"""A run of pult on real backends, as its transcript tells it."""

import contextlib
import datetime
import fcntl
import glob
import json
import os
import pty
import re
import select
import struct
import termios
import time

from bmc_lab import PULT, run

CALLS = {"on": "set power 1", "off": "set power 0", "reset": "set reset 1",
         "soft": "set shutdown 1", "pxe": "set boot pxe", "disk": "set boot default"}


class Transcript:
    """What a session has written so far."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        # One that is under way ends anywhere.
        lines = [json.loads(line) for line in self.text.rpartition("\n")[0].splitlines()]
        began = datetime.datetime.fromisoformat(lines[1]["session"]["started"].replace("Z", "+00:00"))
        self.began = int(began.timestamp() * 1e6) * 1000
        self.events = lines[2:]
        self.requests = {event["id"]: event for event in self.events if event["kind"] == "request"}

    def of(self, kind):
        return [event for event in self.events if event["kind"] == kind]

    def commands(self, beginning):
        """The numbers of those that begin so."""
        return {event["cmd"] for event in self.of("command")
                if event["text"].removeprefix("try ").startswith(beginning)}

    def results(self, command):
        """[(operation, node, verdict, text, seconds since the command)] of a command, by number."""
        since = next(e["t"] for e in self.of("command") if e["cmd"] == command)
        return [(self.operation(event["req"]), event["node"], event["verdict"],
                 event.get("text", ""), (event["t"] - since) / 1e9)
                for event in self.of("result") if self.requests[event["req"]]["cmd"] == command]

    def operation(self, request):
        made = self.requests[request]
        if made["op"] == "boot-device":
            return made["args"]["device"]
        return "soft" if made["args"].get("how") == "soft" else made["op"]

    def done(self):
        return [event["verdict"] for event in self.of("done")]


class Session(Transcript):
    """A run of pult, which has ended; of several at once each has its NAME."""

    def __init__(self, words, layout, limit=170, name="session"):
        path = os.path.join(os.environ["TMPDIR"], f"{name}.jsonl")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        self.end = run(PULT, *words, "--layout", layout, "--record", path, limit=limit)
        super().__init__(path)


def do(layout, *commands, options=("--yes",), name="session"):
    return Session(["do", "; ".join(commands), *options], layout, name=name)


class Desk:
    """The console in a terminal of its own, of SIZE (lines, columns); its files are in HOME. Before
    its screen is up it asks: ANSWERS are pairs of what it shows and what is typed then."""

    def __init__(self, layout, home, size=(43, 132), language="C.UTF-8", answers=()):
        self.home = home
        self.output = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LANG=language, LC_ALL=language,
                              XDG_STATE_HOME=home, XDG_CONFIG_HOME=home)
            # Until it has its size.
            while struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8)))[:2] != size:
                time.sleep(0.01)
            os.execvp(PULT, [PULT, "--layout", layout])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        for question, answer in answers:
            self.until(question)
            self.press(f"{answer}\r")
        self.until("F1")

    def read(self, seconds):
        got = os.read(self.fd, 65536) if select.select([self.fd], [], [], seconds)[0] else b""
        self.output += got
        return got

    def quiet(self, seconds):
        """Reads until nothing has come for SECONDS."""
        while self.read(seconds):
            pass

    def until(self, wanted, seconds=30):
        end, seen = time.monotonic() + seconds, b""
        while wanted.encode() not in seen:
            assert time.monotonic() < end, f"the console does not show {wanted!r}: {seen[-500:]!r}"
            seen += re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][0-9A-Za-z]", b"", self.read(0.2))

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def command(self, line, seats):
        """Types LINE, and when the plan asks for it the number of SEATS."""
        self.press(f":{line}\r")
        self.until("to go on")
        self.press(f"{seats}\r")

    def key_to_screen(self, letter):
        """Milliseconds until a LETTER that is typed at the `:` line is seen. It is on no screen."""
        self.quiet(0.1)
        pressed = time.monotonic()
        self.press(letter)
        self.until(letter)
        return 1000 * (time.monotonic() - pressed)

    def transcript(self):
        """The last one of HOME."""
        return Transcript(max(glob.glob(f"{self.home}/pult/*.jsonl"), key=os.path.getmtime))

    def close(self):
        os.kill(self.pid, 15)
        while self.pid not in os.waitpid(self.pid, os.WNOHANG):
            try:
                self.read(0.05)
            except OSError:
                time.sleep(0.01)
        os.close(self.fd)


def without_ipmi():
    """Why pult cannot speak IPMI; None if it can."""
    return None if " ipmi" in run(PULT, "--version").stdout else "pult was built without libfreeipmi"
