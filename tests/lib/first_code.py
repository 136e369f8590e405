# SPDX-License-Identifier: BSD-3-Clause
"""Which code between calls has most of a figure of the causes, over several runs of one program.

usage: first_code.py FUNCTION FIGURE WAITS…
WAITS is what crit waits --json says of a run.  Of a rank all code at whose bounds FUNCTION has a call is one.  Prints
rank, function and the sum, of other code the functions of its bounds.
"""
import collections
import json
import sys


def bounds_of(cause):
    """The functions of the calls around it."""
    return tuple((call or {}).get("function") or "" for call in (cause["before"], cause["after"]))


def main():
    function, figure, *runs = sys.argv[1:]
    sums = collections.Counter()
    for run in runs:
        with open(run, encoding="utf-8") as file:
            causes = json.load(file)["causes"]
        for cause in causes:
            if cause["kind"] == "code":
                bounds = bounds_of(cause)
                name = function if any(function in bound for bound in bounds) else " to ".join(bounds)
                sums[cause["rank"], name] += cause[figure] or 0
    (rank, name), most = sums.most_common(1)[0]
    print(rank, name, round(most, 4))


main()
