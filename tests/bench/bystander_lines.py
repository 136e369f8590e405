# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of bystanders: what collectors that stand ready cost everybody's context switches."""
import contextlib
import glob
import os
import signal
import subprocess

from kernel_lines import PIPE_LOOPS, pipe
from measure import NotBuilt, interleave, median, ratios, run, spread, wait_for

COLLECTORS = (1, 2, 4, 8)
LOOPS = PIPE_LOOPS // 4
STATISTICS = "/proc/sys/kernel/bpf_stats_enabled"
SWITCH_NS_BAR = 160  # of one collector
SWITCH_NS_AIM = 100


def programs_of(pid):
    """(ns, runs) of each program of a collector, as the kernel counts them."""
    found = {}
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
            if "run_cnt" in fields:
                found[int(fields["prog_id"])] = (int(fields["run_time_ns"]),
                                                 int(fields["run_cnt"]))
    return found


def is_confined(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return "Seccomp:\t2" in file.read()


@contextlib.contextmanager
def collectors(bench, count):
    """So many of them, attached, without a run."""
    started = []
    try:
        for _ in range(count):
            socket = os.path.join(bench.folder(), "socket")
            started.append(subprocess.Popen([bench.program("bin", "critd"), "--service",
                                             "--socket-path", socket],
                                            stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL))
        for critd in started:
            wait_for(lambda critd=critd: is_confined(critd.pid), "collector")
        yield [critd.pid for critd in started]
    finally:
        for critd in started:
            critd.send_signal(signal.SIGTERM)
            critd.wait()


@contextlib.contextmanager
def statistics():
    """The kernel counts what programs take, and pays for its clock meanwhile."""
    with open(STATISTICS, "r+", encoding="ascii") as file:
        before = file.read()
        file.seek(0)
        file.write("1")
        file.flush()
        try:
            yield
        finally:
            file.seek(0)
            file.write(before)


def beside(bench, count):
    """CPU s of a pipe that belongs to no run, beside so many collectors."""
    with collectors(bench, count):
        return run(pipe(0, LOOPS))[0]


def switch_ns(bench, count):
    """Run time of all programs for one switch of the pipe and the wakeup before it."""
    with collectors(bench, count) as pids, statistics():
        before = [programs_of(pid) for pid in pids]
        run(pipe(0, LOOPS))
        after = [programs_of(pid) for pid in pids]
    spent = sum(ns - old[number][0] for new, old in zip(after, before)
                for number, (ns, _) in new.items())
    switches = max(runs - before[0][number][1] for number, (_, runs) in after[0].items())
    return spent / switches


def lines_bystander(bench):
    bench.tool("perf")
    if os.geteuid() != 0:
        raise NotBuilt("root, to start collectors and to read the kernel's counters")
    figures = interleave(bench.rounds, {
        "alone": lambda: run(pipe(0, LOOPS))[0],
        **{count: lambda count=count: beside(bench, count) for count in COLLECTORS}})
    for count in COLLECTORS:
        costs = [switch_ns(bench, count) for _ in range(bench.rounds)]
        values = ratios(figures, count)
        yield (f"unrelated switch, {count} collector{'s' if count > 1 else ''}", median(costs),
               "ns", count * SWITCH_NS_BAR, count * SWITCH_NS_AIM,
               f"{spread(costs)}; sched pipe {median(values):.2f}x")


LINES = (lines_bystander,)
