"""A lab of BMCs, and those who speak to them, for tests and benchmarks that import this."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import time

SRC, PULT = os.environ["SRC"], os.environ["PULT"]
BMCLAB = os.path.join(SRC, "scripts/labs/bmclab")
LOSSY = os.path.join(SRC, "tests/peers/udp_lossy")
LIMIT = 60
PROGRAMS = {"ipmi_sim": "openipmi", "ipmipower": "freeipmi-tools", "ipmitool": "ipmitool",
            "powermand": "powerman", "gcc": "gcc"}

os.environ["PATH"] += ":/usr/sbin:/sbin"


def lacking():
    """Why no lab can be raised here; None if one can."""
    missing = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    return f"not installed: {' '.join(missing)}" if missing else None


def run(*words, limit=LIMIT):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=limit, check=False)


def bmclab(*words):
    done = run(BMCLAB, *words)
    if done.returncode != 0:
        raise AssertionError(f"bmclab {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def same(found, wanted, what=""):
    assert found == wanted, f"{what} wanted {wanted!r}, found {found!r}"


def until(predicate, seconds=LIMIT):
    deadline = time.monotonic() + seconds
    while not predicate():
        assert time.monotonic() < deadline, f"not so after {seconds} s"
        time.sleep(0.02)


class Lab:
    """One that is up, or that raise_lab() has raised."""

    def __init__(self, name):
        self.name = name
        told = json.loads(bmclab("status", "--name", name, "--json"))
        self.folder, self.net, self.count = told["folder"], told["net"], told["count"]
        self.port, self.powermand = told["port"], told["powermand"]
        self.layout = f"{self.folder}/layout.yaml"
        self.counted = {}

    def do(self, command, *words):
        return bmclab(command, *words, "--name", self.name)

    def status(self):
        return json.loads(self.do("status", "--json"))["bmcs"]

    def ipmipower_words(self, action, *options, address):
        return ["ipmipower", f"--config-file={self.folder}/freeipmi.conf", "-h",
                f"{address}:{self.port}", "--" + action, *options]

    def ipmipower(self, action, numbers="1", *options, address=None):
        """{number: answer}"""
        done = run(*self.ipmipower_words(action, *options,
                                         address=address or f"{self.net}.[{numbers}]"))
        return {int(line.split(":")[0].rpartition(".")[2]): line.rpartition(": ")[2]
                for line in done.stdout.splitlines()}

    def ipmitool_words(self, address, *words):
        return ["ipmitool", "-I", "lanplus", "-C", "3", "-H", address, "-p", str(self.port), "-U",
                "admin", "-f", f"{self.folder}/password", *words]

    def ipmitool(self, number, *words):
        done = run(*self.ipmitool_words(f"{self.net}.{number}", *words))
        return done.stdout.strip() or done.stderr.strip()

    def powerman(self, *words):
        return run("powerman", "-h", f"{self.powermand}:10101", *words).stdout

    def counts(self, number):
        """{call: times it was carried out} since the last time."""
        log, found = self.log(number), {}
        for _, what, call in log[self.counted.get(number, 0):]:
            if what == "did":
                found[call] = found.get(call, 0) + 1
        self.counted[number] = len(log)
        return found

    def log(self, number):
        """[(ns, what, arguments)]"""
        with open(f"{self.folder}/bmc{number}/log", encoding="ascii") as file:
            lines = [line.split() for line in file]
        return [(int(words[0]), words[1], " ".join(words[3 if words[1] == "said" else 2:]))
                for words in lines]

    def at_rest(self, numbers, quiet=0.5, seconds=LIMIT):
        """Waits until machines have done what was asked, and nothing was for QUIET seconds."""
        deadline, seen, since = time.monotonic() + seconds, None, time.monotonic()
        while time.monotonic() - since < quiet:
            sizes = [os.path.getsize(f"{self.folder}/bmc{n}/log") for n in numbers]
            if sizes != seen or any(self.busy(n) for n in numbers):
                seen, since = sizes, time.monotonic()
            assert time.monotonic() < deadline, "BMCs do not come to rest"
            time.sleep(0.05)

    def busy(self, number):
        log = self.log(number)
        return bool(log) and log[-1][1] == "asked"

    @contextlib.contextmanager
    def lossy(self, which, *options):
        """A line to each of BMCs WHICH that loses something: at address(n) as long as this lasts.
        Yields a dictionary that holds at the end what was counted, by number."""
        places = {n: f"{self.away(n)}:{self.port}" for n in which}
        counted = {}
        words = [LOSSY, "--stdin", *options] + [
            f"{place}={self.net}.{n}:{self.port}={self.folder}/bmc{n}/log"
            for n, place in places.items()]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            same(process.stdout.readline(), "ready\n")
            try:
                yield counted
            finally:
                process.stdin.close()
                told = json.loads(process.stdout.read())
                counted.update({n: told[place] for n, place in places.items()})

    def away(self, number):
        return f"{self.net}.{number + 100}"

    def write_layout(self, path, numbers, away=(), changes=()):
        """A layout of some of the machines only, those in AWAY behind a lossy line; CHANGES are
        (old, new) of the text."""
        with open(self.layout, encoding="utf-8") as file:
            text = file.read()
        width = max(2, len(str(self.count)))
        everybody = f"a[{1:0{width}}-{self.count}]"
        some = ",".join(f"a{n:0{width}}" for n in numbers)
        places = [(n, self.away(n) if n in away else f"{self.net}.{n}") for n in numbers]
        entries = "".join(f"      a{n:0{width}}: {{address: \"{place}:{self.port}\"}}\n"
                          for n, place in places)
        head, rest = re.match(r"(.*\n    nodes:\n)(?: {6}[^\n]*\n)+(.*)", text, re.S).groups()
        rest = rest.replace(f"  {everybody}:", f"  \"{some}\":").replace(everybody, some)
        text = head + entries + rest
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


def raise_lab(name, count, *options):
    """Down again when this process ends, however it does."""
    bmclab("up", str(count), "--name", name, "--until-exit", str(os.getpid()), *options)
    return Lab(name)


def marked(folder):
    """Processes of the lab in FOLDER."""
    mark = f"PULT_BMCLAB={folder}".encode()
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/environ", "rb") as file:
            if mark in file.read().split(b"\0"):
                found.append(int(entry))
    return found


def run_cases(cases):
    """Exit status, after the lines that tests/run reads."""
    passed = failed = 0
    try:
        for name, case in cases:
            try:
                case()
                passed += 1
            except Exception as problem:  # the others still tell something
                failed += 1
                print(f"failed {name}: {type(problem).__name__} {problem}", flush=True)
    finally:
        run(BMCLAB, "down", "--all")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0
