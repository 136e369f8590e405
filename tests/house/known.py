# SPDX-License-Identifier: BSD-3-Clause
"""Faults that are known and not yet fixed: known.txt lists each, and may only get shorter."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def known(rule):
    """What known.txt says of one rule: after its name, the rest of the line."""
    with open(os.path.join(HERE, "known.txt"), encoding="utf-8") as file:
        lines = [line.rstrip("\n").partition(" ") for line in file if not line.startswith("#")]
    return {rest for name, _, rest in lines if name == rule}


def faults(rule, found, root):
    """Lines to print: what is new, and what is listed but no longer so.

    found maps what known.txt may list to what is wrong with it.
    known.txt speaks of the tree that it lies in: of any other, nothing is known.
    """
    is_own = os.path.realpath(root) == os.path.realpath(os.path.join(HERE, "../.."))
    listed = known(rule) if is_own else set()
    for item in sorted(set(found) - listed):
        yield f"{item}: {found[item]}"
    for item in sorted(listed - set(found)):
        yield f"tests/house/known.txt: no longer true, remove: {rule} {item}"
