#!/usr/bin/python3
"""BMCs that are slow, and BMCs whose answers are lost: how often one reset is then carried out, by
pult and by the tools one would take instead, each as it is installed. How long status, and off,
wait, on, take of 34, beside ipmipower and powerman on the same BMCs; 28 beside six that are broken;
status of 250. Real ipmi_sim BMCs (scripts/labs/bmclab). Twice an aim fails, and so does a reset that
pult has not had carried out exactly once.

REPEATS (5) is how often times are taken, by turns; RESETS (3) how many BMCs each count is over;
OPERATIONS (1000) how many controls of all kinds pult's verdicts are then held to the machines' logs;
PARTS which parts are run: status cycle six keys many once operations.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

SRC, PULT = os.environ["SRC"], os.environ["PULT"]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SRC, "tests/peers"))
from bmc_lab import BMCLAB, lacking, raise_lab, run  # noqa: E402
from pult_session import Desk, do, without_ipmi  # noqa: E402

REPEATS = int(os.environ.get("REPEATS", "5"))
RESETS = int(os.environ.get("RESETS", "3"))
DELAYS = (0, 0.5, 2, 6)
LOST = "lost"  # instead of a delay: it answers at once, and the answer does not arrive
SEATS, MANY = 34, 250
PARTS = os.environ.get("PARTS", "status cycle six keys many once operations").split()
POWERMAN_DEVICE = "/etc/powerman/ipmipower.dev"
LIMIT = 300

failed = False


def report(what, value, unit, aim=None, held_to=True):
    global failed
    said = f" (aim {aim:.3g} {unit})" if aim is not None else ""
    print(f"bmc: {what}: {value:.3g} {unit}{said}", flush=True)
    failed = failed or (aim is not None and held_to and value > 2 * aim)


# --- One reset -----------------------------------------------------------------------------------


def at_once(commands):
    """The last line that each of COMMANDS, all running at once, has said."""
    running = [subprocess.Popen(words, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT) for words in commands]
    said = [process.communicate(timeout=LIMIT)[0].strip().splitlines() for process in running]
    return [lines[-1].strip() if lines else "nothing" for lines in said]


def by_ipmipower(lab, places):
    return at_once(lab.ipmipower_words("reset", address=place) for place in places.values())


def by_ipmitool(lab, places):
    return at_once(lab.ipmitool_words(place, "power", "reset") for place in places.values())


def by_pult(lab, places):
    away = [n for n, place in places.items() if place == lab.away(n)]
    layout = lab.write_layout(f"{lab.folder}/once.yaml", list(places), away=away)
    results = {node: f"{verdict} {text}".strip()
               for op, node, verdict, text, _ in do(layout, "power reset @all").results(1)
               if op == "reset"}
    return [results[f"a{n:02}"] for n in places]


def bench_once(name, tool):
    """{column: ([times carried out], what was said of the last)}; each with RESETS BMCs."""
    columns = [column for column in (*DELAYS, LOST) for _ in range(RESETS)]
    lab = raise_lab("once", len(columns), "--on", f"1-{len(columns)}")
    numbers = range(1, len(columns) + 1)
    for column in DELAYS[1:]:
        which = ",".join(str(n) for n in numbers if columns[n - 1] == column)
        lab.do("break", which, f"slow={column}")
    lost = [n for n in numbers if columns[n - 1] == LOST]
    with lab.lossy(lost, "--control", "1"):
        places = {n: lab.away(n) if n in lost else f"{lab.net}.{n}" for n in numbers}
        said = tool(lab, places)
        lab.at_rest(numbers, quiet=max(DELAYS) + 2, seconds=LIMIT)
    found = {}
    for n in numbers:
        times, _ = found.get(columns[n - 1], ([], ""))
        found[columns[n - 1]] = ([*times, lab.counts(n).get("set reset 1", 0)], said[n - 1])
    lab.do("down")
    head = {column: column if column == LOST else f"{column:g} s" for column in found}
    for column, (_, words) in found.items():
        print(f"bmc: {name}, {head[column]}, says: {words}", flush=True)
    return found


def once_table(tools):
    global failed
    tables = {name: bench_once(name, tool) for name, tool in tools.items()}
    columns = [*DELAYS, LOST]
    print(f"bmc: how often one reset was carried out, {RESETS} BMCs each, by how late they answer")
    print("bmc: " + f"{'':12}" + "".join(f"{c if c == LOST else f'{c:g} s':>10}" for c in columns))
    for name, found in tables.items():
        cells = []
        for column in columns:
            times = sorted(found[column][0])
            cells.append(f"{times[0]}" if times[0] == times[-1] else f"{times[0]}-{times[-1]}")
            failed = failed or (name == "pult" and times != [1] * RESETS)
        print("bmc: " + f"{name:12}" + "".join(f"{cell:>10}" for cell in cells), flush=True)


def bench_operations():
    """Every control, on BMCs that are slow and lines that lose: the test of it, with many."""
    global failed
    done = run(sys.executable, os.path.join(SRC, "tests/peers/ipmi_once.test"), limit=30 * 60)
    print(f"bmc: of {os.environ['OPERATIONS']} controls on slow BMCs and lossy lines, by pult")
    for line in done.stdout.splitlines():
        print(f"bmc: {line[:70]}", flush=True)
    failed = failed or done.returncode != 0


# --- Times ---------------------------------------------------------------------------------------


def timed(words, wanted):
    """Seconds that a command takes whose output has WANTED in it."""
    began = time.monotonic()
    done = run(*words, limit=LIMIT)
    took = time.monotonic() - began
    if not re.search(wanted, done.stdout):
        sys.exit(f"bmc.py: {words[0]} says {done.stdout!r} {done.stderr!r}")
    return took


def pult_timed(lab, command, layout=None):
    """(seconds of the whole process, of its command, until each of the lab was seen once, which a
    session begins with). COMMAND is for all."""
    began = time.monotonic()
    session, count = do(layout or lab.layout, command), lab.count
    took = time.monotonic() - began
    if session.done() != ["ok"]:
        sys.exit(f"bmc.py: pult says {session.end.stderr!r}")
    done, = session.of("done")
    asked, = session.of("command")
    first = [e["t"] for e in session.of("result") if e["req"] == 1 and e["verdict"] == "ok"]
    if len(first) != count:
        sys.exit(f"bmc.py: pult has seen {len(first)} of {count}: {session.end.stderr!r}")
    return took, (done["t"] - asked["t"]) / 1e9, max(first) / 1e9


def by_turns(repeats, **functions):
    """{name: median of what it returned}, or of each of a tuple; all under the same load."""
    found = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            value = function()
            found[name].append(value if isinstance(value, tuple) else (value,))
    medians = {name: tuple(map(statistics.median, zip(*values))) for name, values in found.items()}
    return {name: value if len(value) > 1 else value[0] for name, value in medians.items()}


def bench_status(lab, with_pult):
    count, hosts = lab.count, f"{lab.net}.[1-{lab.count}]"
    functions = {
        "ipmipower": lambda: timed(lab.ipmipower_words("stat", address=hosts), r"\.1: o[nf]"),
        "powerman": lambda: timed(["powerman", "-h", f"{lab.powermand}:10101", "-q"], r"a\[0*1-")}
    if with_pult:
        functions["pult"] = lambda: pult_timed(lab, "power status @all")
    took = by_turns(REPEATS, **functions)
    report(f"ipmipower --stat, {count}, median of {REPEATS}", took["ipmipower"], "s")
    report(f"powerman -q, {count}, median of {REPEATS}", took["powerman"], "s")
    if with_pult:
        whole, command, first = took["pult"]
        aim = min(took["ipmipower"], 1.3 * took["powerman"])
        report(f"pult, {count} seen as a session begins", first, "s", aim)
        report("pult, its power status @all, which that look answers", command, "s", aim)
        report("pult, the whole of pult do, with its transcript", whole, "s", aim)


def simulators_cpu(lab):
    """Seconds of processor that a lab's BMCs have taken, with the machines behind them."""
    total = 0
    for n in range(1, lab.count + 1):
        with open(f"{lab.folder}/bmc{n}/pid", encoding="ascii") as file:
            pid = file.read().split()[0]
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            total += sum(map(int, file.read().rsplit(") ", 1)[1].split()[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def bench_many(lab, with_pult):
    """What the simulators themselves need of this machine is a bound for everybody."""
    hosts, cores = f"{lab.net}.[1-{lab.count}]", len(os.sched_getaffinity(0))
    if with_pult:
        before = simulators_cpu(lab)
        first = statistics.median(pult_timed(lab, "power status @all")[2] for _ in range(REPEATS))
        bound = (simulators_cpu(lab) - before) / REPEATS / cores
        report(f"{lab.count} simulators' own processor time, by {cores} cores", bound, "s")
        report(f"pult, {lab.count} seen as a session begins", first, "s", max(3.5, 1.2 * bound))
    # All at once, which is its default, they drown in what is sent again.
    words = lab.ipmipower_words("stat", "--fanout=32", address=hosts)
    began = time.monotonic()
    answers = len(re.findall(r": o(?:n|ff)$", run(*words, limit=LIMIT).stdout, re.M))
    report(f"ipmipower --stat --fanout=32, {answers} of {lab.count} answers",
           time.monotonic() - began, "s")


def bench_cycle(lab, with_pult):
    """powerman waits what its ipmipower.dev says, pult what the layout says: 1 s here. Beside that
    stand pult with powerman's pause, and what either takes beyond its pause."""
    with open(POWERMAN_DEVICE, encoding="utf-8") as file:
        pause = float(re.search(r"script cycle_ranged \{[^}]*\bdelay (\S+)", file.read())[1])
    powerman = ["powerman", "-h", f"{lab.powermand}:10101"]
    timed([*powerman, "-1", f"a[01-{SEATS}]"], "completed")
    functions = {"powerman": lambda: timed([*powerman, "-c", f"a[01-{SEATS}]"], "completed")}
    if with_pult:
        equal = lab.write_layout(f"{lab.folder}/equal.yaml", range(1, SEATS + 1),
                                 changes=[("{pause: 1 s}", f"{{pause: {pause:g} s}}")])
        functions["pult"] = lambda: pult_timed(lab, "power cycle @all")
        functions["equal"] = lambda: pult_timed(lab, "power cycle @all", equal)
    took = by_turns(max(1, REPEATS // 2), **functions)
    report(f"powerman -c, {SEATS}: off, {pause:g} s as it ships, on", took["powerman"], "s")
    if with_pult:
        shipped, equal = took["pult"][1], took["equal"][1]
        report(f"pult, power cycle of {SEATS}: off, 1 s as bmclab's layout has it, on", shipped, "s")
        report(f"pult, the same with a pause of {pause:g} s", equal, "s", took["powerman"])
        report("pult, pauses as shipped, over powerman -c", shipped / took["powerman"],
               "times that", 0.5)
        # The pause is most of it, and nobody can halve that: told, and not held to.
        report("pult, equal pauses, over powerman -c", equal / took["powerman"], "times that", 0.5,
               held_to=False)
        report("without the pause: powerman", took["powerman"] - pause, "s")
        report("without the pause: pult", shipped - 1, "s")


# --- Six of 34 -----------------------------------------------------------------------------------


def last_of(layout, nodes):
    """Seconds until the last of NODES was on."""
    answers = {node: (verdict, seconds)
               for _, node, verdict, _, seconds in do(layout, "power on @all").results(1)}
    if any(answers[node][0] != "ok" for node in nodes):
        sys.exit(f"bmc.py: not on: {answers}")
    return max(answers[node][1] for node in nodes)


def break_six(lab):
    lab.do("break", "1-2", "dead")
    lab.do("break", "3", "mute")
    lab.do("break", "4", "hang")
    lab.do("break", "5", "hang-set")
    lab.do("break", "6", "password")


def bench_six(lab):
    healthy = [f"a{n:02}" for n in range(7, SEATS + 1)]
    alone = lab.write_layout(f"{lab.folder}/28.yaml", range(7, SEATS + 1))

    def off():
        if do(alone, "power off @all").done() != ["ok"]:
            sys.exit("bmc.py: 28 are not off")

    def beside():
        break_six(lab)
        took = last_of(lab.layout, healthy)
        lab.do("mend")
        off()
        return took

    def by_themselves():
        took = last_of(alone, healthy)
        off()
        return took

    off()
    took = by_turns(max(1, REPEATS // 2 + 1), beside=beside, alone=by_themselves)
    report("pult, 28 on by themselves", took["alone"], "s")
    report("pult, 28 on beside 3 dead, 2 hung, 1 wrong password", took["beside"] / took["alone"],
           "times that", 1.2)


def bench_keys(lab, seconds=12):
    """Letters typed at the `:` line while six of 34 do not answer, and when each is on the screen."""
    break_six(lab)
    desk = Desk(lab.layout, lab.folder)
    desk.command("power on @all", SEATS)
    desk.press(":")
    took, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        took.append(desk.key_to_screen("ZQXJ"[len(took) % 4]))
    desk.close()
    lab.do("mend")
    took.sort()
    report(f"key to screen beside those six, median of {len(took)}", took[len(took) // 2], "ms")
    report("key to screen beside those six, longest", took[-1], "ms", 50)


def run_parts(with_pult):
    with_room = {"status": bench_status, "cycle": bench_cycle}
    of_pult = {"six": bench_six, "keys": bench_keys} if with_pult else {}
    if set(PARTS) & {*with_room, *of_pult}:
        lab = raise_lab("room", SEATS)
        for name in filter(with_room.get, PARTS):
            with_room[name](lab, with_pult)
        for name in filter(of_pult.get, PARTS):
            of_pult[name](lab)
        lab.do("down")
    if "many" in PARTS:
        bench_many(raise_lab("many", MANY), with_pult)
        run(BMCLAB, "down", "--name", "many")
    if "once" in PARTS:
        tools = {"ipmipower": by_ipmipower, "ipmitool": by_ipmitool}
        once_table({**tools, "pult": by_pult} if with_pult else tools)
    if "operations" in PARTS and with_pult:
        bench_operations()


def main():
    if lacking():
        print(f"bmc: left out, {lacking()}")
        return 0
    with_pult = not without_ipmi()
    if not with_pult:
        print(f"bmc: {without_ipmi()}")
    with tempfile.TemporaryDirectory(prefix="pult-bmc-") as folder:
        os.environ.update(PULT_LABS=os.path.join(folder, "labs"), TMPDIR=folder)
        os.environ.setdefault("OPERATIONS", "1000")
        try:
            run_parts(with_pult)
        finally:
            run(BMCLAB, "down", "--all")
    return failed


sys.exit(main())
