# SPDX-License-Identifier: BSD-3-Clause
"""What wait_paths[] of a report say against what the program (tests/apps/threads/waits.c) told of itself.

usage: waits.py REPORT.JSON TOLD sleeps|locks|storm
"""

import json
import sys

NEAR = 0.01  # of each figure


def functions_of(path, frames):
    """Names of a frame and its callers, the innermost first."""
    names = []
    while path is not None:
        names.append(frames[path]["function"])
        path = frames[path]["parent"]
    return names


def by_function(report, function):
    """Rows (call, object, seconds) that were blocked below a function, by captured paths."""
    found = []
    for row in report["wait_paths"]:
        own = sum(frame["self_blocked_s"] for at, frame in enumerate(row["paths"])
                  if function in functions_of(at, row["paths"]))
        if own:
            found.append((row["call"], row["object"], own))
    return found


def check_sums(report):
    """The laws: paths sum to their row, rows to the blocked time of app threads in their part of the window."""
    for row in report["wait_paths"]:
        paths = sum(frame["self_blocked_s"] for frame in row["paths"])
        if row["paths"] and abs(paths - row["blocked_s"]) > 1e-8:
            return f"paths of {row['call']} {row['object']} sum to {paths}, not {row['blocked_s']}"
    rows = sum(row["blocked_s"] for row in report["wait_paths"])
    threads = sum(t["blocked_s"] - t["cells"].get("blocked_setup_s", 0)
                  for t in report["threads"] if t["role"] == "app")
    return "" if abs(rows - threads) < 1e-6 else f"rows sum to {rows}, threads are blocked for {threads}"


def check_function(report, function, call, told_s):
    """The longest wait below a function: its call, its time."""
    found = sorted(by_function(report, function), key=lambda row: -row[2])
    if not found or found[0][0] != call:
        return f"{function}: {found}, not {call}"
    unknown_s = report["losses"]["unknown_s"]  # idle CPUs of virtual machines: docs/architecture.md
    if not -NEAR * told_s - unknown_s <= found[0][2] - told_s <= NEAR * told_s:
        return f"{function}: {found[0][2]} s in {call}, not {told_s}; {unknown_s} s are unknown"
    return ""


def check(report, told, what):
    """What is wrong, or ''."""
    calls = {"sleeps": {"g": "clock_nanosleep", "h": "read"}, "locks": {"want_a": "futex", "want_b": "futex"},
             "storm": {}}[what]
    wrong = [check_sums(report)]
    wrong += [check_function(report, name, call, told[name]) for name, call in calls.items()]
    if what == "sleeps":
        spinner = sum(t["blocked_s"] for t in report["threads"] if t["name"] == "spinner")  # at its birth alone
        wrong.append("" if spinner < 1e-3 and not by_function(report, "spin") else f"the spinner: {spinner}")
    if what == "locks":
        objects = [by_function(report, name)[0][1] for name in calls]
        wrong.append("" if len(set(objects)) == 2 else f"both locks are {objects}")
    return "; ".join(text for text in wrong if text)


def main():
    """Says what is wrong, and exits with 1 then."""
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        told = {name: int(ns) * 1e-9 for name, ns in (line.split() for line in file)}
    said = check(report, told, sys.argv[3])
    print(said)
    sys.exit(bool(said))


main()
