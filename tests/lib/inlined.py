#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lines and inline chains of a report.json beside tests/apps/threads/inlined.c: a line per function, as line_truth.py
has it (name, share, standard error, truth; in per cent).

usage: inlined.py REPORT SOURCE TOLD      1 unless nearly all samples of the program are in one line of each, inlined at
its call; those of the loader, and of the kernel's code for clocks, are as many as the machine makes them"""
import json
import sys

CALLER = "take_round"
LEAST_SHARE = 0.95  # of all: clocks are asked for in other lines


def lines_of(source, name):
    """(the line of its work, the line that calls it)."""
    with open(source, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return (next(i for i, line in enumerate(lines, 1) if f"{name}_clock," in line and "WORK" in line),
            next(i for i, line in enumerate(lines, 1) if f"{name}();" in line and "CALL" in line))


def is_right(row, source, name):
    work, call = lines_of(source, name)
    frames = [(frame["function"], frame["file"].rsplit("/")[-1], frame["line"]) for frame in row["frames"]]
    return (row["function"], row["line"], row["inlined_into"], frames) == (
        name, work, CALLER, [(name, "inlined.c", work), (CALLER, "inlined.c", call)])


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        hot = [row for row in json.load(file)["hot"] if row["kind"] == "code"
               and (row["module"] or "").rsplit("/", 1)[-1] == "inlined"]
    with open(sys.argv[3], encoding="utf-8") as file:
        truth = {row[0]: float(row[5]) for row in map(str.split, file)}
    rows = {name: [row for row in hot if row.get("frames") and is_right(row, sys.argv[2], name)] for name in truth}
    found = {name: sum(row["cmetric_s"] for row in rows[name]) for name in truth}
    whole = sum(found.values())
    if whole < LEAST_SHARE * sum(row["cmetric_s"] for row in hot) or not all(found.values()):
        print([(row["function"], row["line"], row.get("frames"), row["share"]) for row in hot[:6]], file=sys.stderr)
        return 1
    for name in truth:
        error = sum(row["error_s"] ** 2 for row in rows[name]) ** 0.5
        print(name, f"{100 * found[name] / whole:.3f} {100 * error / whole:.3f}",
              f"{100 * truth[name] / sum(truth.values()):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
