#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Maps reports of schema crit-report/1 to the words of crit-report/2 and compares them with today's.

usage: report_words.py OLD NEW    directories of golden reports; each file of OLD has its like in NEW

Prints a diff; exit 0 when it is empty.  Numbers are compared as text, digit by digit.  Runs of blanks in tables of
report.txt count as one: a column may have become wider with its head.
"""
import difflib
import json
import os
import re
import sys

KEYS = {
    "balanced_window_s": "bound_s", "laws": "checks", "mpi_sites": "mpi_call_sites",
    "node_stall_s": "node_all_waiting_s", "omp_construct_sites": "omp_construct_call_sites",
    "silent_s": "all_waiting_window_s", "stake_s": "gain_s", "stall_s": "all_waiting_s",
    "stall_sum_s": "all_waiting_sum_s", "threads_stall_s": "threads_all_waiting_s",
    "threads_without_stripe": "threads_without_buffer", "waited_for_s": "blame_s",
}
SINCE = {"hot", "missed_maps", "wakes_early"}  # keys that came after the words changed: left out of today's
# Words of report.txt, in this order.
TEXT = [
    (r"^laws: sum CMetric = T\(n>=1\), \+ stall = window: worst error ",
     "checks: sum CMetric = T(n>=1), + all-wait = window: worst "),
    (r"^Laws$", "Consistency checks"),
    (r"\bCPU-true\b", "CPU-time"),
    (r"; stall = dt/w\b", "; all-wait = dt/w"),
    (r"\bsum stall\b", "sum all-wait"),
    (r"share it as stall$", "share it as all-wait"),
    (r"\bwaited-for\b", "blame"),
    (r"\bstall\b", "all-wait"),
    (r"\bwithout stripe\b", "without buffer"),
]
# Of ranks with several threads, which hybrid has.
SENTENCE = (r"; the others (wait [\d.]+ s for it \(sum\s)over ranks\)", r"; threads \1over threads)")


def renamed(value):
    """A JSON value by the new names; a member that both have must be the same in both."""
    if isinstance(value, list):
        return [renamed(item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, item in value.items():
        new, item = KEYS.get(key, key), renamed(item)
        if out.setdefault(new, item) != item:
            sys.exit(f"{key} and {new} differ: {item}, {out[new]}")
    return out


def report(text):
    """Lines of a report.json, sorted by key, numbers as they are written."""
    value = json.loads(text, parse_float=str, parse_int=str,
                       object_pairs_hook=lambda pairs: {key: item for key, item in pairs if key not in SINCE})
    return json.dumps(value, indent=1, sort_keys=True).splitlines(), value


def lines(path, is_old):
    """What a file says, as lines to compare."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if is_old and os.path.basename(path).startswith("hybrid."):
        text = re.sub(*SENTENCE, text)
    if path.endswith(".json"):
        plain, value = report(text)
        if is_old:
            value = renamed(value)
            value["schema"] = "crit-report/2"
            plain = json.dumps(value, indent=1, sort_keys=True).splitlines()
        return plain
    if path.endswith(".csv"):
        names = KEYS if is_old else {}
        return [",".join(names.get(word, word) for word in line.split(",")) for line in text.splitlines()]
    out = []
    for line in text.splitlines():
        for old, new in TEXT if is_old else []:
            line = re.sub(old, new, line)
        out.append(re.sub(r"  +", " ", line))
    return out


def main():
    """One diff per file of the old directory."""
    old, new = sys.argv[1:]
    count = 0
    for name in sorted(os.listdir(old)):
        for line in difflib.unified_diff(lines(os.path.join(old, name), True), lines(os.path.join(new, name), False),
                                         f"{old}/{name}", f"{new}/{name}", lineterm=""):
            print(line)
            count += 1
    sys.exit(count > 0)


if __name__ == "__main__":
    main()
