#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares threads[] of a report (--active=kernel) with truth.py's figures: compare_truth.py TRUTH REPORT.

Each thread may differ by max(1 %, 50 us + 2 us per switch), the sum by 0.5 %; no thread may be missing."""
import json
import sys


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        truth = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    found = {x["tid"]: x["cmetric_s"] for x in report["threads"]}
    bad = 0
    worst = 0.0
    for thread in truth["threads"]:
        tid, true_s = thread["tid"], thread["cmetric_s"]
        allowed_s = max(0.01 * true_s, 50e-6 + 2e-6 * thread["switches"])
        if tid not in found:
            print(f"thread {tid} is missing; truth {true_s:.6f} s")
            bad += 1
            continue
        error_s = abs(found[tid] - true_s)
        worst = max(worst, error_s / allowed_s)
        if error_s > allowed_s:
            print(f"thread {tid}: {found[tid]:.6f} s, truth {true_s:.6f} s, allowed {allowed_s:.6f} s, "
                  f"{thread['switches']} switches")
            bad += 1
    extra = set(found) - {x["tid"] for x in truth["threads"]}
    for tid in extra:
        print(f"thread {tid} is unknown to truth: {found[tid]:.6f} s")
    sum_s, true_sum_s = sum(found.values()), truth["cmetric_sum_s"]
    sum_error = abs(sum_s - true_sum_s) / true_sum_s
    print(f"{len(truth['threads'])} threads, {bad} bad, {len(extra)} extra, worst {worst:.2f} of allowed; "
          f"sum {sum_s:.4f} truth {true_sum_s:.4f} ({100 * sum_error:.3f} %); "
          f"breaks {truth['breaks']} members {truth['member_breaks']} doubtful {truth['doubtful']}, "
          f"crit unmatched {report['losses'].get('unmatched_switches')}")
    return 1 if bad or extra or sum_error > 0.005 else 0


if __name__ == "__main__":
    sys.exit(main())
