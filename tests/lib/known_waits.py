#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Waits of crit waits --json --by=rank, or --by=thread, beside when the program came to each act by its own clock.

usage: known_waits.py WAITS-JSON TOLD WAITER:ACT:CAUSE:ACT…

TOLD has a line for each act: rank or thread, ns.  In each round a member has as many acts as the largest ACT of it,
from 1 on; with ACT+ it is that of the next round.  The waiter waits from its act to the cause's, if that is later.
A member is a rank, or the place of the thread's first line among those of others, from 0 on.
1 unless each has waited so long, to 2 % or 20 us a wait, and other pairs less than 2 % of all that, as they begin
and end."""
import json
import sys

RATIO = 0.02
WAIT_NS = 20000


def acts_of(path):
    acts = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if len(words := line.split()) == 2:
                acts.setdefault(int(words[0]), []).append(int(words[1]))
    return acts


def wait_of(acts, case, per_round):
    """(waiter, cause, ns, waits) of one expectation."""
    waiter, waiter_act, cause, cause_act = case
    later = cause_act.endswith("+")
    begins = acts[waiter][int(waiter_act) - 1::per_round[waiter]]
    ends = acts[cause][int(cause_act.rstrip("+")) - 1::per_round[cause]][1 if later else 0:]
    return waiter, cause, sum(max(0, end - begin) for begin, end in zip(begins, ends)), len(begins)


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        waits = json.load(file)
    acts = acts_of(sys.argv[2])
    by_rank = any(cause["rank"] is not None for cause in waits["causes"])  # there may be no pairs
    members = sorted(acts) if by_rank else list(acts)
    cases = [case.split(":") for case in sys.argv[3:]]
    cases = [(members[int(a)], b, members[int(c)], d) for a, b, c, d in cases]
    per_round = {}
    for a, b, c, d in cases:
        for member, act in ((a, b), (c, d)):
            per_round[member] = max(per_round.get(member, 1), int(act.rstrip("+")))
    truth, said, is_right = {}, [], True
    for waiter, cause, ns, count in (wait_of(acts, case, per_round) for case in cases):
        before = truth.get((waiter, cause), (0, 0))
        truth[waiter, cause] = before[0] + ns, before[1] + count
    key = "rank" if by_rank else "tid"
    found = {(p["from"][key], p["to"][key]): p["waited_s"] * 1e9 for p in waits["pairs"]}
    whole_ns = sum(ns for ns, _ in truth.values())
    for pair in sorted(truth.keys() | {p for p in found if p[0] in acts and p[1] in acts}):
        ns, count = truth.get(pair, (0, 0))
        is_right &= abs(found.get(pair, 0) - ns) <= (max(RATIO * ns, WAIT_NS * count) if count else RATIO * whole_ns)
        said.append(f"{pair[0]} for {pair[1]}: {found.get(pair, 0) / 1e6:.3f} ms, truly {ns / 1e6:.3f}")
    print("; ".join(said))
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
