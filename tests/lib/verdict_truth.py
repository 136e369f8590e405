#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds a verdict against what the program measured itself: verdict_truth.py OUTPUT REPORT.

OUTPUT has a line per worker, as tests/apps/steps.h prints it: work RANK TID CPU-SECONDS WALL-SECONDS.  Prints one line:
KIND NAMED EXCESS OFF FOREIGN TAKEN WINDOW USABLE
  NAMED    none; heaviest: the unit with most work by its own clock, and only it; else those named, with commas
  EXCESS   seconds by which the promise is below the floor (work / usable CPUs), less what the clocks differ; at most 0
           is right
  OFF      (promised - (window - work / units)) / window; none: nothing is promised; foreign: for others had the CPUs
  FOREIGN  share of the time between begin and end of work that somebody else had the CPU, at most as many workers as
           CPUs given
  TAKEN    the same time per unit, as a share of the window
"""
import json
import sys

SWITCH_S = 2e-6  # a thread's CPU clock is read on another way than the stamps of a switch, both within a microsecond


def read_work(path):
    rows = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if len(words) == 5 and words[0] == "work":
                rows.append((int(words[1]), int(words[2]), float(words[3]), float(words[4])))
    return rows


def named(verdict, work):
    """Without ranks the units are threads."""
    units = {}
    key = "rank" if verdict["unit"] == "ranks" else "tid"
    for rank, tid, cpu_s, _ in work:
        unit = rank if key == "rank" else tid
        units[unit] = units.get(unit, 0) + cpu_s
    names = [row[key] for row in verdict["named"]]
    if not names:
        return "none", len(units)
    if names == [max(units, key=units.get)]:
        return "heaviest", len(units)
    return ",".join(map(str, names)), len(units)


def excess_of(report, work_s, promised_s):
    """Work that was seen to run is more than the program's own by no more than a clock's error per switch; what is
    unknown may have been work."""
    floor_s = work_s / sum(node["usable_cpus"] for node in report["nodes"])
    error_s = sum(t["switches"] * SWITCH_S + t["unknown_s"] for t in report["threads"])
    return floor_s - (report["job"]["window_s"] - promised_s) - error_s


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    work = read_work(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    if not work:
        print("verdict_truth.py: the program did not say what it did", file=sys.stderr)
        return 1
    verdict, window_s = report["verdict"], report["job"]["window_s"]
    work_s = sum(row[2] for row in work)
    names, units = named(verdict, work)
    promised_s = verdict["promised_s"]
    off = "foreign" if verdict["foreign_load"] else "none"
    if promised_s is not None:
        off = f"{(promised_s - (window_s - work_s / units)) / window_s:.4f}"
    wall_s = sum(row[3] for row in work)
    print(verdict["kind"], names, f"{excess_of(report, work_s, promised_s or 0):.6f}", off,
          f"{1 - work_s / wall_s:.4f}", f"{(wall_s - work_s) / units / window_s:.4f}", f"{window_s:.3f}",
          sum(node["usable_cpus"] for node in report["nodes"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
