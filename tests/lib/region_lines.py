# SPDX-License-Identifier: BSD-3-Clause
"""Regions that a report has, against those that the sources' comments ask for: "parallel at main, 1 visits".

usage: region_lines.py REPORT lines|names|FUNCTION[:SYMBOL],… SOURCE…
lines: each has its directive's line, its function and its visits.  names: no two have one name, and there are as many
as are visited or more (clang's are one for each inlined copy), as in programs without debug data.  FUNCTION,…:
all in these have that function, and no other one has any, as in stripped programs that export these.  What differs goes
to standard error.
"""
import collections
import json
import os
import re
import sys

ASKED = re.compile(r"[/!]+ (parallel|task) at (\S+), (\d+) visits(?: of each of (\d+))?$")


def asked_for(sources):
    """{(kind, file, line): (function, visits, instances)}."""
    wanted = {}
    for source in sources:
        with open(source, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                found = ASKED.search(line.rstrip())
                if found and int(found[3]):
                    wanted[found[1], os.path.basename(source), number] = (found[2], int(found[3]), int(found[4] or 1))
    return wanted


def check_lines(wanted, regions):
    """A place may be in the report as often as it has parents, or instances."""
    rows = collections.defaultdict(list)
    for row in regions:
        rows[row["kind"], os.path.basename(row["file"] or ""), row["line"]].append(row)
    for place in sorted(set(rows) - set(wanted), key=str):
        yield f"{place}: no directive"
    for place, (function, visits, instances) in wanted.items():
        said = rows.get(place, [])
        if sum(row["visits"] for row in said) != visits * instances or len(said) != instances:
            yield f"{place}: {[row['visits'] for row in said]} visits, not {visits} of {instances}"
        for row in said:
            if not is_in(function, row) or "omp_fn" in row["function"]:
                yield f"{place}: {row['function']}, not {function}"


def check_names(wanted, regions):
    """No line is known."""
    count = sum(instances for _, _, instances in wanted.values())
    names = {row["name"] for row in regions}
    if len(names) != len(regions) or len(regions) < count:
        yield f"{len(names)} names of {len(regions)} regions, not {count} or more: {sorted(names)}"


def is_in(function, row):
    """Of an optional name, with classes and parameters."""
    return bool(re.search(r"(^|\W)" + re.escape(function) + r"(\W|$)", row["function"] or ""))


def check_exported(functions):
    """A check of as many regions in each of them as are visited, and of none that has another name."""
    symbols = dict(function.partition(":")[::2] for function in functions.split(","))

    def check(wanted, regions):
        for function, symbol in symbols.items():
            count = sum(instances for name, _, instances in wanted.values() if name == function)
            said = [row["name"] for row in regions if is_in(symbol or function, row)]
            if len(said) != count:
                yield f"{function}: {said}, not {count}"
        for row in regions:
            if row["function"] and not any(is_in(symbol or name, row) for name, symbol in symbols.items()):
                yield f"{row['name']}: none of {functions}"
    return check


def main():
    report, what, *sources = sys.argv[1:]
    with open(report, encoding="utf-8") as file:
        regions = [row for row in json.load(file)["regions"] if row["kind"] in ("parallel", "task")]
    wanted = asked_for(sources)
    check = {"lines": check_lines, "names": check_names}.get(what) or check_exported(what)
    wrong = list(check(wanted, regions))
    print(f"{len(regions)} regions")
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(bool(wrong) or not wanted)


main()
