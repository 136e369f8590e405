#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each thread waited is the time it has in cells of waits.

usage: cells.py WAITS-JSON REPORT-JSON

In a run without ranks all its blocked time is waiting, too; with ranks what one of the run ended.  An OpenMP worker
waits from the end of a region to the next one: it is idle before its first one as well, which is no wait, so of idle
cells there may be more.
"""
import json
import math
import re
import sys

IS_WAIT = re.compile(r"_(mpi_wait|mpi_may_wait|mpi_poll|omp_wait)_s$")
ROUNDING = 1e-9  # seconds of a cell, which has whole nanoseconds


def sum_room(total, count):
    """How far sums of so many numbers in double precision may be apart: of damaged recordings they have centuries."""
    return (ROUNDING + math.ulp(total)) * count


def main():
    waits, report = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
    rows = {}  # a damaged recording may have a thread twice
    for row in waits["threads"]:
        rows.setdefault((report["nodes"][row["node"]]["host"], row["pid"], row["tid"]), []).append(row)
    faults = compared = 0
    waited_sum = 0
    for thread in report["threads"]:
        if thread["role"] != "app":
            continue
        cells = {key: value for key, value in thread["cells"].items() if "_setup_" not in key}
        row = rows[thread["node"], thread["pid"], thread["tid"]].pop(0)  # both have them in one order
        parts = row["wait_state_s"] + row["transfer_s"] + row["cpu_s"] + row["unknown_s"]
        in_waits, blocked, idle = 0, 0, 0
        for key, value in cells.items():
            if IS_WAIT.search(key):
                in_waits += value
            elif "_omp_idle_" in key:
                idle += value
            elif key.startswith("blocked_"):
                blocked += value
        least, most = (in_waits, in_waits + blocked) if report["ranks"] else (in_waits + blocked,) * 2
        room = sum_room(row["waiting_s"], len(cells))
        waited_sum += row["waiting_s"]
        compared += 1
        if abs(parts - row["waiting_s"]) > room or not least - room <= row["waiting_s"] <= most + idle + room:
            faults += 1
            print(f"thread {thread['tid']}: waited {row}, in its cells {least:.9f} to {most:.9f} s, idle {idle:.9f} s")
    if abs(waited_sum - waits["waiting_s"]) > sum_room(waited_sum, compared + 1):
        faults += 1
        print(f"threads waited {waited_sum} s, waits are {waits['waiting_s']} s")
    return 1 if faults or not compared else 0


sys.exit(main())
