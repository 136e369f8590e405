#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ends that were foretold beside measured ones: rerun_table.py <FIGURES

Each line of the figures is "PROGRAM CHANGE WHAT VALUE": foretold, naive, measured (seconds) or foreign (per cent), once
for each run; of these the median counts, of the foreign load the larger one of the recorded runs and the reruns.
The last line: valid pairs, median and worst error (per cent, of these), pairs in which the naive error is larger.
"""
import collections
import statistics
import sys

FOREIGN_MAX = 3  # per cent: with more a pair tells nothing


def error(end, measured):
    return 100 * (end / measured - 1)


def main():
    values = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in sys.stdin:
        program, change, what, value = line.split()
        values[program, change][what].append(float(value))
    print(f"{'program':20} {'work':6} {'foretold s':>10} {'measured s':>10} {'error %':>8} {'naive %':>8} "
          f"{'foreign %':>9}")
    errors, worse = [], 0
    for (program, change), figures in values.items():
        middle = {what: statistics.median(each) for what, each in figures.items()}
        foreign = max(middle["foreign"], middle["recorded_foreign"])
        own = error(middle["foretold"], middle["measured"])
        naive = error(middle["naive"], middle["measured"])
        print(f"{program:20} {change:6} {middle['foretold']:10.4f} {middle['measured']:10.4f} {own:8.2f} {naive:8.2f} "
              f"{foreign:9.2f}{'' if foreign < FOREIGN_MAX else '  not valid'}")
        if foreign < FOREIGN_MAX:
            errors.append(abs(own))
            worse += abs(naive) > abs(own)
    errors = errors or [100]
    print(f"{len(errors)} {statistics.median(errors):.2f} {max(errors):.2f} {worse}")


if __name__ == "__main__":
    main()
