#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shares of functions in the CMetric, as samples have them, beside the program's own clock (tests/apps/clocked.h).

usage: line_truth.py [--cpu] TOLD FUNCTIONS
                                         a line per function: name, share, standard error, truth; in per cent.
                                         FUNCTIONS: what crit report --by function says
                                         --cpu: one thread worked, and its time in a queue is nobody's: no sample
                                         tells where it queues, that time is divided as that in which it runs
                                         (docs/metric.md), and so its share of the CMetric is that of the CPU time
       line_truth.py --case < LINES      of several runs of a case: mean error within 3 standard errors of it, or a
                                         point; none beyond 4.5
       line_truth.py --all < LINES       of all: the mean of the squares of errors in standard errors, 0.6 to 1.5"""
import sys


def told(path, column):
    """CMetric (5) or CPU time (3) in ns by function, of those that were used."""
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if " 0x" in line or " (nil) " in line]
    return {row[0]: float(row[column]) for row in rows if float(row[column])}


def estimates(path):
    """(CMetric, standard error) in s by function, without its scope."""
    with open(path, encoding="utf-8") as file:
        rows = [line.split(maxsplit=5) for line in file if "%" in line]
    return {row[5].split(" (")[0].split("::")[-1].strip(): (float(row[0]), float(row[1]))
            for row in rows if len(row) > 5}


def compare(truth, found):
    whole, total = sum(truth.values()), sum(found.get(name, (0, 0))[0] for name in truth)
    for name, value in truth.items():
        share, error = found.get(name, (0, 0))
        print(name, f"{100 * share / total:.3f} {100 * error / total:.3f} {100 * value / whole:.3f}")


def lines():
    for line in sys.stdin:
        name, share, error, truth = line.split()
        yield name, float(share), float(error), float(truth)


def check_case():
    runs, is_right, said = {}, True, []
    for name, share, error, truth in lines():
        runs.setdefault(name, []).append((share - truth, error, truth))
    for name, rows in runs.items():
        mean = sum(row[0] for row in rows) / len(rows)
        error = sum(row[1] for row in rows) / len(rows)
        worst = max(abs(row[0]) / row[1] for row in rows)
        is_right &= abs(mean) <= max(3 * error / len(rows) ** 0.5, 1) and worst <= 4.5
        said.append(f"{name} {rows[0][2]:.1f} %: {mean:+.2f}, error {error:.2f}, worst {worst:.1f} of it")
    return is_right and len(runs) > 1, "; ".join(said)


def check_all():
    squares = [((share - truth) / error) ** 2 for _, share, error, truth in lines()]
    mean = sum(squares) / len(squares)
    return 0.6 <= mean <= 1.5, f"{mean:.2f} of {len(squares)}"


def main():
    column = 3 if sys.argv[1:2] == ["--cpu"] else 5
    files = sys.argv[2 if column == 3 else 1:]
    if len(files) == 2:
        compare(told(files[0], column), estimates(files[1]))
        return 0
    if len(sys.argv) != 2 or sys.argv[1] not in ("--case", "--all"):
        print(__doc__, file=sys.stderr)
        return 2
    is_right, said = check_case() if sys.argv[1] == "--case" else check_all()
    print(said)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
