#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each command of crit costs as a run grows in one direction: shapes.py BUILD

Of four times as many call sites, phases, threads, processes, ranks or nodes a command may take no more than twelve
times the CPU time, as caches hold less of them: nothing looks at all rows for each row, which would be sixteen.  And
none takes more than eight times what crit report --json does, but for those of archives: two files for each thread cost
what the file system and libotf2 take.  Of two runs each the cheaper one counts."""
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))

from measure import Bench, output_of, run  # noqa: E402  (found by the line above)

GROWS = 4
GROWTH_MOST = 3 * GROWS
REPORTS_MOST = 8  # that a command may cost
LEAST_S = 0.2  # below that a command costs nothing that is worth a word
RUNS = 2

# Options of crit-synth, with N for what grows, and the smaller N.
SHAPES = {
    "call sites": ("-r 4 -e 50000 -s 4 -k N", 5000),
    "phases": ("-r 4 -e 50000 -s 4 -p N", 1250),
    "threads": ("-b N", 10000),
    "ranks of a node": ("-r N -e 400 -s 3", 256),
    "nodes with messages": ("-n N -r 64 -S -m -e 100 -s 5", 4),
}
PROCESSES = 2500
OF_ARCHIVES = ("export otf2", "verify")
LOOP = "i=0; while [ $i -lt N ]; do /bin/true; i=$((i + 1)); done"

COMMANDS = [["report"], ["report", "--json"], ["what-if"], ["what-if", "--json"], ["waits", "--json"],
            *(["waits", "--all", f"--by={word}"] for word in ("place", "rank", "thread", "name", "region", "site"))]


def synthetic(bench, options, count):
    folder = bench.folder()
    run([bench.program("bin", "crit-synth"), *options.replace("N", str(count)).split(), folder])
    return folder


def processes(bench, count):
    """A shell that runs short programs."""
    folder = os.path.join(bench.folder(), "run")
    run([bench.program("bin", "crit"), "run", "--", "sh", "-c", LOOP.replace("N", str(count))],
        env={"CRIT_DIR": folder, "CRIT_OTF2": "0", "CRIT_FINISH_S": "60"}, allowed=(0, 3))
    return folder


def cpu_s(command):
    """What is said of losses and of messages that nobody took is not what this is about: 3."""
    return min(run(command, allowed=(0, 3)).cpu_s for _ in range(RUNS))


def costs(bench, recordings):
    """{command: CPU s}, its results included."""
    crit, out = bench.program("bin", "crit"), bench.folder()
    paths = sorted(glob.glob(os.path.join(recordings, "**", "*.crit"), recursive=True))
    found = {" ".join(command): cpu_s([crit, *command, *paths]) for command in COMMANDS}
    found["report -o"] = cpu_s([crit, "report", "-o", out, *paths])
    report = os.path.join(out, "report.json")
    found["diff"] = cpu_s([crit, "diff", report, report])
    if "built without OTF2" not in output_of([crit, "--version"]):
        export, verify = OF_ARCHIVES
        found[export] = cpu_s([crit, *export.split(), "-o", out, *paths])
        found[verify] = cpu_s([crit, verify, os.path.join(out, "traces.otf2")])
    return found


def judge(name, few, many):
    """One line per command; the number of those that cost too much."""
    faults = 0
    for command, cost_s in many.items():
        growth, reports = cost_s / max(few[command], 1e-3), cost_s / max(many["report --json"], LEAST_S)
        is_good = cost_s < LEAST_S or (growth <= GROWTH_MOST and (reports <= REPORTS_MOST or command in OF_ARCHIVES))
        faults += not is_good
        print(f"{'ok  ' if is_good else 'FAIL'} {name}: {command}: {cost_s:.2f} s, {growth:.1f} times that of a "
              f"{GROWS}th, {reports:.1f} reports", flush=True)
    return faults


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    bench = Bench(sys.argv[1], 1)
    try:
        faults = sum(judge(name, *(costs(bench, synthetic(bench, options, count)) for count in (least, GROWS * least)))
                     for name, (options, least) in SHAPES.items())
        faults += judge("processes",
                        *(costs(bench, processes(bench, count)) for count in (PROCESSES, GROWS * PROCESSES)))
    finally:
        bench.close()
    print(f"{faults} commands cost too much" if faults else "all commands grow with the run")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
