#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CMetric of tests/apps/deadlines against the closed form: deadlines.py PHASES MS:MS... REPORT...

Prints the largest error of any rank's share, and of its CMetric relative to what it should be; medians of the reports.
All that are not done share the time since the last who was, by GAPP section 2.1."""
import json
import statistics
import sys


def expected(ends_s):
    earned = dict.fromkeys(range(len(ends_s)), 0.0)
    last_s = 0.0
    for end_s in sorted(set(ends_s)):
        active = [i for i, x in enumerate(ends_s) if x >= end_s]
        for i in active:
            earned[i] += (end_s - last_s) / len(active)
        last_s = end_s
    return earned


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    phases = int(sys.argv[1])
    ends_s = [float(x) / 1000 for x in sys.argv[2].split(":")]
    told, shares = {}, {}
    for path in sys.argv[3:]:
        with open(path, encoding="utf-8") as file:
            for row in json.load(file)["ranks"]:
                told.setdefault(row["rank"], []).append(row["cmetric_s"])
                shares.setdefault(row["rank"], []).append(row["share"])
    if sorted(told) != list(range(len(ends_s))):
        print(f"deadlines.py: reports of ranks {sorted(told)}, not of {len(ends_s)}", file=sys.stderr)
        return 1
    truth = expected(ends_s)
    window_s = sum(truth.values())
    print(max(round(abs(statistics.median(shares[i]) - truth[i] / window_s), 4) for i in truth),
          max(round(abs(statistics.median(told[i]) / phases / truth[i] - 1), 4) for i in truth))
    return 0


if __name__ == "__main__":
    sys.exit(main())
