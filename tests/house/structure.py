#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No circles of modules, no struct tag or name of a module twice, no folder too full.

usage: structure.py [--list] ROOT

--list prints what is wrong as known.txt wants it; measure.py says what a module is.
"""
import sys

import known
import measure

CIRCLE = 3  # modules, at most, and of one folder


def circles(tree):
    across, inside = tree.circles()
    groups = across + [group for group in inside if len(group) > CIRCLE]
    return {module: f"in a circle with {' '.join(m for m in group if m != module)}"
            for group in groups for module in group}


def folders(tree):
    limits = (tree.modules(), measure.MODULES), (tree.programs(), measure.PROGRAMS)
    return {folder: f"{len(names)} modules, at most {limit}"
            for folders, limit in limits for folder, names in folders.items() if len(names) > limit}


RULES = {
    "circle": circles,
    "folder": folders,
    "tag": lambda tree: {f"struct {tag} {' '.join(paths)}": "a tag has one body"
                         for tag, paths in tree.several_bodies().items()},
    "name": lambda tree: {" ".join(modules): "a name has one module"
                          for modules in tree.several_places().values()},
}


def main():
    root = sys.argv[-1]
    tree = measure.Tree(root)
    found = {rule: rule_of(tree) for rule, rule_of in RULES.items()}
    if "--list" in sys.argv:
        print(*(f"{rule} {item}" for rule in RULES for item in sorted(found[rule])), sep="\n")
        return 0
    faults = [text for rule in RULES for text in known.faults(rule, found[rule], root)]
    if not tree.sources:
        faults.append(f"no source below {root}")
    print(*faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
