#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares report.json and messages.csv with what tests/apps/messages said: compare_messages.py DIR OUTPUT."""
import csv
import json
import os
import sys

REDUCTIONS = 20


def read_truth(path):
    """Pairs, calls and the late rank a run of the program printed."""
    pairs, calls, late = {}, {}, None
    with open(path, encoding="utf-8") as file:
        for words in map(str.split, file):
            if words[0] == "pair":
                pairs[int(words[1]), int(words[2])] = (int(words[3]), int(words[4]))
            elif words[0] == "call":
                calls[words[1], words[2]] = (int(words[3]), int(words[4]))
            elif words[0] == "last":
                late = int(words[1])
    return pairs, calls, late


def pairs_of(rows, way):
    """{(from, to): (messages, bytes)} as the senders or the receivers saw it."""
    return {(int(x["from_rank"]), int(x["to_rank"])): (int(x[f"{way}_messages"]), int(x[f"{way}_bytes"]))
            for x in rows}


def calls_of(report, names):
    """{(call, way): (messages, bytes)} of the calls of that name."""
    found = {}
    for call in report["mpi_calls"]:
        for way in ("sent", "received"):
            volume = call[way]
            if call["name"] in names and volume and volume["count"]:
                found[call["name"], way] = (volume["count"], volume["bytes"])
    return found


def faults(report, table, truth):
    """One line per difference."""
    pairs, calls, late = truth
    messages = report["messages"]
    for name, rows in (("report.json", messages["pairs"]), ("messages.csv", table)):
        for way in ("sent", "received"):
            if pairs_of(rows, way) != pairs:
                yield f"{name}, {way}: {pairs_of(rows, way)}, not {pairs}"
    found = calls_of(report, {name for name, _ in calls})
    if found != calls:
        yield f"calls: {found}, not {calls}"
    if not messages["is_whole"]:
        yield f"messages are not whole: {messages['losses']}"
    wrong = {k: v for k, v in messages["losses"].items() if v}
    if wrong:
        yield f"losses: {wrong}"
    reductions = [x for x in messages["collectives"] if x["name"] == "MPI_Allreduce"]
    if len(reductions) != 1 or reductions[0]["instances"] != REDUCTIONS:
        yield f"reductions: {reductions}"
    elif reductions[0]["last"][0]["rank"] != late or reductions[0]["last"][0]["count"] < REDUCTIONS * 3 // 4:
        yield f"last at the reductions: {reductions[0]['last']}"
    if any(x["incomplete_instances"] for x in messages["collectives"]):
        yield "a collective lacks a member"


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(os.path.join(sys.argv[1], "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    with open(os.path.join(sys.argv[1], "messages.csv"), encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    truth = read_truth(sys.argv[2])
    if not truth[0] or not truth[1]:
        print("the program printed no truth")
        return 1
    lines = list(faults(report, table, truth))
    print("\n".join(lines) or f"{len(truth[0])} pairs and {len(truth[1])} calls agree")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
