#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No file called utils, no banned function, SPDX first, no TODO without a condition.  usage: words.py ROOT"""
import re
import sys
from pathlib import Path

from files import sources

VAGUE = re.compile(r"/(utils?|common|helpers?|misc)(/|\.|$)")
LICENSE = re.compile(r"SPDX-License-Identifier: (BSD-3-Clause|\(BSD-3-Clause OR GPL-2\.0-only\))")
BANNED = re.compile(r"\b(strcpy|strcat|strncpy|sprintf|strtok|atoi|localtime|gmtime|alloca)\s*\(")
NO_CODE = re.compile(r'//.*|^ \*.*|"[^"]*"')
TODO = re.compile(r"\b(TODO|FIXME|XXX)\b")
CONDITION = re.compile(r"TODO[^.]*\b(until|when|once)\b")


def first_line(lines):
    """The line that must carry the license, past an interpreter's or a linter's."""
    return next((line for line in lines if not re.match(r"#!|# shellcheck shell", line)), "")


def faults_in(name, lines):
    path = Path(name)
    is_code = path.suffix in (".c", ".h")
    is_script = path.suffix in (".sh", ".py")
    if is_code or is_script or name == ".ci/run":
        first = first_line(lines)
        if not LICENSE.search(first):
            yield "no SPDX line at its top"
        if name.startswith("bpf/") and "GPL-2.0-only" not in first:
            yield "bpf/ is dual BSD/GPL"
    for i, line in enumerate(lines, 1):
        if is_code and BANNED.search(NO_CODE.sub("", line)):
            yield f"{i}: banned function: {line.strip()}"
    if name.startswith("tests/house/"):
        return
    if is_code or is_script or path.suffix == ".cmake" or path.name in ("CMakeLists.txt", "Makefile"):
        for i, line in enumerate(lines, 1):
            if TODO.search(line) and not CONDITION.search(line):
                yield f"{i}: a TODO says 'until …' or 'when …': {line.strip()}"


def main():
    root = Path(sys.argv[1])
    names = sorted(sources(root))
    faults = [] if names else [f"no file below {root}"]
    for name in names:
        vague = VAGUE.search(f"/{name}")
        if vague:
            faults.append(f"{name}: name the noun, not '{vague[1]}'")
        lines = (root / name).read_text(encoding="utf-8", errors="replace").splitlines()
        faults += [f"{name}: {fault}" for fault in faults_in(name, lines)]
    print(*faults, sep="\n", end="\n" if faults else "")
    if faults:
        print(f"words: {len(faults)} fault(s)")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
