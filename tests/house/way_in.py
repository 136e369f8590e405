#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/architecture.md begins with a table of files and functions, and all of them exist.

usage: way_in.py ROOT
"""
import os
import re
import sys

ROW = re.compile(r"\|[^|]+\| `([^`]+)` \| `([^`]+)` \|$")


def rows(root):
    """(file, function) of the first table."""
    with open(os.path.join(root, "docs/architecture.md"), encoding="utf-8") as file:
        first = file.read().partition("\n## ")[2].partition("\n## ")[0]
    return [ROW.match(line).groups() for line in first.splitlines() if ROW.match(line)]


def is_there(root, path, name):
    if not os.path.exists(os.path.join(root, path)):
        return False
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return any(re.match(rf"(\w[^;=]*\W)?{re.escape(name)}\(", line) for line in file)


def main():
    root = sys.argv[-1]
    found = rows(root)
    faults = [f"docs/architecture.md: {path} has no {name}" for path, name in found
              if not is_there(root, path, name)]
    if not found:
        faults.append("docs/architecture.md: does not begin with a table of files and functions")
    print(*faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
