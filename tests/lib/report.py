#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Asks a report.json a question: report.py FILE EXPRESSION, over r, share(), checks(),
lost(), rank(), role(), lacks(), tally()."""
import collections
import json
import sys


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            r = json.load(file)
    except (OSError, ValueError) as error:
        print(f"report.py: cannot read {sys.argv[1]}: {error}", file=sys.stderr)
        return 1

    def rank(number):
        return next(x for x in r["ranks"] if x["rank"] == number)

    def share(number):
        return round(rank(number)["share"], 4)

    def checks():
        return max(abs(x["error_ratio"]) for x in r["checks"])

    def lost():
        return sum(r["losses"].get(k, 0) for k in ("kernel_records", "shim_records"))

    def role(name):
        return [x for x in r["threads"] if x["role"] == name]

    # switches that this machine's kernel tells nobody of are no part of what a test is about
    def lacks():
        return [x["what"] for x in r["missing"]
                if x["is_incomplete"] and "the kernel did not report" not in x["what"]]

    def tally(items):
        return sorted(collections.Counter(items).items())

    names = {"r": r, "rank": rank, "share": share, "checks": checks, "lost": lost, "role": role,
             "lacks": lacks, "tally": tally}
    try:
        print(eval(sys.argv[2], names))  # the expression is the test's own
    except (LookupError, StopIteration, ValueError) as error:
        print(f"report.py: {sys.argv[2]}: {error!r}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
