# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of bystanders: what collectors that stand ready cost everybody's context switches."""
import os

from collectors import collectors, programs_of, statistics
from kernel_lines import PIPE_LOOPS, pipe
from measure import NotBuilt, interleave, median, ratios, run, spread

COLLECTORS = (1, 2, 4, 8)
LOOPS = PIPE_LOOPS // 4
SWITCH_NS_BAR = 160  # of one collector
SWITCH_NS_AIM = 100


def beside(bench, count):
    """CPU s of a pipe that belongs to no run, beside so many collectors."""
    with collectors(bench, count):
        return run(pipe(0, LOOPS))[0]


def switch_ns(bench, count):
    """Run time of all programs for one switch of the pipe and the wakeup before it."""
    with collectors(bench, count) as started, statistics():
        before = [programs_of(pid) for pid, _ in started]
        run(pipe(0, LOOPS))
        after = [programs_of(pid) for pid, _ in started]
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
