"""A run of pult that goes on while a test looks at its transcript."""

import contextlib
import datetime
import json
import os
import signal
import subprocess
import time

PULT, TMPDIR = os.environ["PULT"], os.environ["TMPDIR"]


def wait_until(predicate, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = predicate()
        if value:
            return value
        time.sleep(0.05)
    return predicate()


class Session:
    """A run of pult, and its transcript as it grows. Without a SCRIPT (None) it takes lines. Of
    several at once each has its NAME."""

    def __init__(self, layout, script="sleep 10min\n", *options, name="session"):
        self.path = os.path.join(TMPDIR, f"{name}.jsonl")
        self.out = os.path.join(TMPDIR, f"{name}.out")
        written = os.path.join(TMPDIR, f"{name}.pult")
        if script is not None:
            with open(written, "w", encoding="utf-8") as file:
                file.write(script)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        words = ["--plain"] if script is None else ["run", written]
        with open(self.out, "wb") as out:
            self.process = subprocess.Popen(
                [PULT, *words, "--layout", layout, "--record", self.path, *options],
                stdin=subprocess.PIPE, stdout=out, stderr=out, text=True)

    def events(self):
        with contextlib.suppress(FileNotFoundError), open(self.path, encoding="utf-8") as file:
            return [json.loads(line) for line in file.read().split("\n")[2:-1]]
        return []

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def links(self, node, backend="snmp"):
        return [event for event in self.events()
                if event["kind"] == "link" and event["name"] == f"{backend}:{node}"]

    def is_up(self, switch):
        links = self.links(switch)
        return bool(links) and links[-1]["up"]

    def down(self, switch, words):
        """Waits until it says so of SWITCH; the text."""
        def text():
            return next((link["text"] for link in self.links(switch)
                         if not link["up"] and all(word in link["text"] for word in words)), None)
        return wait_until(text)

    def samples(self, node, backend="snmp"):
        """[(seconds, {column: value})]"""
        rows, columns = [], []
        for event in self.events():
            if event["kind"] == "samples" and event["source"] == f"{backend}:{node}":
                columns = event.get("columns", columns)
                rows.append((event["t"] / 1e9, dict(zip(columns, event["v"]))))
        return rows

    def figures(self, label):
        """Of a load or a measurement, as they were told last."""
        return {event["name"]: event["value"] for event in self.events()
                if event["kind"] == "figure" and event["label"] == label}

    def began(self):
        """The wall clock's second that its times count from."""
        with open(self.path, encoding="utf-8") as file:
            file.readline()
            words = json.loads(file.readline())["session"]["started"]
        return datetime.datetime.fromisoformat(words.replace("Z", "+00:00")).timestamp()

    def seen(self, node, fact):
        """What was observed last; None: nothing."""
        values = [event["value"] for event in self.events() if event["kind"] == "observe"
                  and event["node"] == node and event["fact"] == fact]
        return values[-1] if values else None

    def lines(self):
        return [event["text"] for event in self.events() if event["kind"] == "line"]

    def end(self):
        if self.process.args[1] == "--plain":
            self.process.stdin.close()
        else:
            self.process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(20)
        return None
