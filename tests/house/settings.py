#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The settings, their one reader and their manual page agree.  usage: settings.py ROOT

core/base/settings.def has every CRIT_* variable the rooms read; only core/base/setting.c asks the environment for
them; libcrit_pmpi(7) has an item for each, with its default and its words, and no others."""
import glob
import os
import re
import sys

ROW = re.compile(r'^CRIT_SETTING\((\w+),\s*(\w+),[^"]*"([^"]*)",\s*"([^"]*)"', re.M)
ROOMS = ("analysis", "bpf", "cli", "collector", "core", "ompt", "otf2", "pmpi", "report")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def items(page):
    """variable -> text of its item on the page, up to the next variable."""
    found, names = {}, []
    for item in re.split(r"^\.It ", page, flags=re.M)[1:]:
        head, _, text = item.partition("\n")
        if head.startswith("Ev "):
            names = re.findall(r"\bCRIT_\w+", head)
        for name in names:
            found[name] = found.get(name, "") + text
    return found


def has_word(text, word):
    return re.search(rf"(?<![\w%-]){re.escape(word)}(?![\w%-])", text)


def check_page(rows, page):
    for name, (kind, default, words) in rows.items():
        if name not in page:
            yield f"docs/libcrit_pmpi.7: no item for {name}"
            continue
        for word in words.split() + [default] * bool(default):
            if not has_word(page[name], word):
                yield f"docs/libcrit_pmpi.7: {name} ({kind}): does not say {word}"
    for name in sorted(set(page) - set(rows)):
        yield f"docs/libcrit_pmpi.7: {name} is not in core/base/settings.def"


def check_sources(root, rows):
    for room in ROOMS:
        for path in sorted(glob.glob(os.path.join(root, room, "**", "*.[ch]"), recursive=True)):
            text = read(path)
            name = os.path.relpath(path, root)
            for variable in re.findall(r'\bgetenv\("(CRIT_\w+)"', text):
                yield f"{name}: asks the environment for {variable}; use core/base/setting.h"
            for variable in re.findall(r'\bsetenv\("(CRIT_\w+)"', text):
                if variable not in rows:
                    yield f"{name}: {variable} is not in core/base/settings.def"


def main():
    root = sys.argv[1]
    rows = {"CRIT_" + name: rest for name, *rest in ROW.findall(read(root, "core", "base", "settings.def"))}
    faults = [] if rows else ["core/base/settings.def: no row"]
    faults += check_page(rows, items(read(root, "docs", "libcrit_pmpi.7")))
    faults += check_sources(root, rows)
    print(*faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
