#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Call paths of a report.json beside its lines.

usage: paths.py REPORT sums             what paths have is what lines have, and how their chains end adds up to it
       paths.py REPORT complete         per cent of the samples whose chains are complete
       paths.py REPORT chain NAME...    share of the paths that are NAME... from the outermost one named, in per cent;
                                        and without those that !NAME lies on"""
import json
import sys


def check_sums(report):
    lines, paths = ([row for row in report[key] if row["kind"] != "not_sampled"] for key in ("hot", "paths"))
    lines = sum(row["cmetric_s"] for row in lines)
    selves = sum(row["self_cmetric_s"] for row in paths)
    roots = sum(row["cmetric_s"] for row in paths if row["parent"] is None)
    ends = sum(row["cmetric_s"] for row in report["path_ends"])
    sums = (lines, selves, roots, ends)
    is_whole = not report["paths_unlisted"] and max(sums) - min(sums) <= 1e-9 * max(sums)
    return is_whole, "lines {:.9f}, frames {:.9f}, outermost {:.9f}, ends {:.9f} s".format(*sums)


def chain_of(paths, at):
    names = []
    while at is not None:
        names.append(paths[at]["function"])
        at = paths[at]["parent"]
    return names[::-1]


def is_within(names, chain):
    """In this order, whatever lies between them, but for what is not to lie there."""
    rest = iter(chain)
    return all(name[1:] not in chain if name[0] == "!" else name in rest for name in names)


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    paths, is_right = report.get("paths", []), True
    if sys.argv[2] == "sums":
        is_right, said = check_sums(report)
    elif sys.argv[2] == "complete":
        ends = {row["end"]: row["samples"] for row in report["path_ends"]}
        said = f"{100 * ends.get('complete', 0) / sum(ends.values()):.1f}"
    else:
        whole = sum(row["self_cmetric_s"] for row in paths)
        found = sum(row["self_cmetric_s"] for at, row in enumerate(paths)
                    if is_within(sys.argv[3:], chain_of(paths, at)))
        said = f"{100 * found / whole:.1f}"
    print(said)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
