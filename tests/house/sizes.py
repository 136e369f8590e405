#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Functions, files, headers and lines within their budgets.  usage: sizes.py ROOT"""
import fnmatch
import os
import re
import sys

from files import sources

WIDTH = 100
SCRIPT_WIDTH = 120
FUNCTION_LINES = 60
# First match wins: pattern on the path, lines allowed.  Contracts are longer than other headers.
FILE_LINES = [
    ("CMakeLists.txt", 119),
    ("*/CMakeLists.txt", 59),
    ("core/abi/*.h", 250),
    ("analysis/schema/results.h", 250),
    ("*.h", 150),
    ("*/main.c", 120),
    ("*.c", 600),
    ("*.py", 600),
    ("*.sh", 600),
    ("*.cmake", 120),
    ("Makefile", 120),
    (".ci/run", 60),
]


def limit_of(path):
    return next((n for pattern, n in FILE_LINES if fnmatch.fnmatch(path, pattern)), None)


def long_functions(lines):
    """(line, name, length) of each function over the budget; a body closes in column 0."""
    start = name = None
    for number, line in enumerate(lines, 1):
        if re.match(r"[A-Za-z_].*\(", line) and not line.rstrip().endswith(";"):
            start, name = number, re.search(r"(\w+)\s*\(", line).group(1)
        elif line.startswith("}"):
            if start and number - start + 1 > FUNCTION_LINES:
                yield start, name, number - start + 1
            start = None


def faults_of(root, path):
    limit = limit_of(path)
    if limit is None:
        return
    with open(os.path.join(root, path), encoding="utf-8") as file:
        lines = file.read().split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if len(lines) > limit:
        yield f"{path}: {len(lines)} lines, at most {limit}"
    for number, line in enumerate(lines, 1):
        width = len(line.expandtabs(8))
        allowed = WIDTH if path.endswith((".c", ".h")) else SCRIPT_WIDTH
        if width > allowed:
            yield f"{path}:{number}: {width} columns, at most {allowed}"
    if path.endswith((".c", ".h")):
        for number, name, length in long_functions(lines):
            yield f"{path}:{number}: {name}: {length} lines, at most {FUNCTION_LINES}"


def main():
    root = sys.argv[1]
    paths = sorted(path for path in sources(root) if limit_of(path))
    faults = [fault for path in paths for fault in faults_of(root, path)]
    if not paths:
        faults.append(f"no source below {root}")
    print(*faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
