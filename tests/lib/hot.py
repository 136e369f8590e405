#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of hot lines beside each other, for functions of tests/apps/threads/sampled.

usage: hot.py DIRECTORY TOLD CRIT     CRIT: the command
Those by line, function and library have the CMetric of all threads; crit annotate has of each function what the table
by function has."""
import json
import subprocess
import sys

ROUNDED = 0.00005  # s, in a row of a table


def table(command, *arguments):
    """(CMetric, place) of each row."""
    lines = subprocess.run([command, *arguments], check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [line.split(maxsplit=5) for line in lines[1:]]
    return [(float(row[0]), row[5]) for row in rows]


def annotated(command, directory, function):
    """CMetric in the rows that have any, of the lines of a function."""
    said = subprocess.run([command, "annotate", directory, function], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in said.splitlines()[1:]]
    return [float(row[0]) for row in rows if len(row) > 5 and row[2].endswith("%") and row[3].endswith("%")]


def check_tables(report, told, directory, command):
    wrong = []
    all_s = sum(thread["cmetric_s"] for thread in report["threads"])
    for level in ("line", "function", "library"):
        rows = table(command, "report", f"--by={level}", directory)
        if abs(sum(row[0] for row in rows) - all_s) > ROUNDED * len(rows) + 1e-9:
            wrong.append(f"by {level} {sum(row[0] for row in rows):.4f} s, threads {all_s:.4f}")
        if level == "function":
            functions = {place.split(" (")[0]: cmetric_s for cmetric_s, place in rows}
    for name in (row[0] for row in told):
        lines = annotated(command, directory, name)
        if not lines or abs(sum(lines) - functions[name]) > ROUNDED * (len(lines) + 1) + 1e-9:
            wrong.append(f"annotate {name}: {sum(lines):.4f} s, by function {functions[name]:.4f}")
    return wrong


def main():
    directory, told_path, command = sys.argv[1:]
    with open(f"{directory}/report.json", encoding="utf-8") as file:
        report = json.load(file)
    with open(told_path, encoding="utf-8") as file:
        told = [row for row in map(str.split, file.read().splitlines()) if int(row[3])]
    wrong = check_tables(report, told, directory, command)
    print("; ".join(wrong) or f"{len(report['hot'])} lines, {len(told)} functions")
    return 1 if wrong or not told else 0


if __name__ == "__main__":
    sys.exit(main())
