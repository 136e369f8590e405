#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The budgets, measured: one row per line, with bar, aim and verdict.

usage: bench.py BUILD [ROUNDS]

Ratios are CPU times (user and system) of interleaved runs, medians with smallest and largest.
Exit 0 when every bar is met, 1 when one is missed or a part is not built yet.
"""
import os
import signal
import sys

import analysis_lines
import application_lines
import bystander_lines
import kernel_lines
import machine_lines
import omp_lines
import sample_lines
import shim_lines
import start_lines
import wall_lines
from measure import Bench, NotBuilt

ROW = "{:<42} {:>10} {:>8} {:>8}  {:<9} {}"


def number(value, unit=""):
    if value is None:
        return "-"
    return f"{value:.3g}{unit}" if abs(value) < 1000 else f"{value:.0f}{unit}"


def verdict_of(figure, bar, aim, is_more_better):
    def meets(limit):
        if limit is None:
            return False
        return figure >= limit if is_more_better else figure <= limit

    if bar is None and aim is None:
        return "no bar"
    if meets(aim):
        return "aim"
    return "bar" if meets(bar) else "MISSED"


def show(what, figure, unit, bar, aim, note, is_more_better=False):
    """Prints one row; true when its bar is met."""
    verdict = verdict_of(figure, bar, aim, is_more_better)
    print(ROW.format(what, number(figure, unit), number(bar), number(aim), verdict, note),
          flush=True)
    return verdict != "MISSED"


def measure(bench, line):
    """All rows of one line; false when one misses its bar or cannot be measured."""
    try:
        return all([show(*row) for row in line(bench)])
    except NotBuilt as missing:
        print(ROW.format(line.__name__, "", "", "", "not built yet", missing), flush=True)
    except Exception as error:  # whatever it is, the lines after it are measured
        print(ROW.format(line.__name__, "", "", "", "FAILED", repr(error)), flush=True)
    return False


def main():
    if len(sys.argv) not in (2, 3):
        print("usage: bench.py BUILD [ROUNDS]", file=sys.stderr)
        return 2
    # a shell's job in the background ignores it, and so would peers that are ended by it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # mpirun wants to be told twice that root is meant.
    if os.geteuid() == 0:
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    os.environ["CRIT_OTF2"] = "0"  # an archive being written would disturb the next run
    os.environ["CRIT_FINISH_S"] = "10"  # results are read as soon as a run has ended
    bench = Bench(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
    print(ROW.format("what", "figure", "bar", "aim", "verdict", "spread; peers"))
    try:
        lines = (machine_lines.LINES + kernel_lines.LINES + sample_lines.LINES + bystander_lines.LINES +
                 shim_lines.LINES + omp_lines.LINES + start_lines.LINES + wall_lines.LINES +
                 application_lines.LINES + analysis_lines.LINES)
        met = [measure(bench, line) for line in lines]
    finally:
        bench.close()
    return 0 if all(met) else 1


sys.exit(main())
