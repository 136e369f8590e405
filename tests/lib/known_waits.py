#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Waits of crit waits --json --by=rank, or --by=thread, beside when the program came to each act by its own clock.

usage: known_waits.py WAITS-JSON TOLD ROUNDS WAITER:ACT:CAUSE:ACT…

TOLD has a line for each act: rank or thread, ns when it came to it, and when it had left it; "edge" where all meet.
In each round a member has equally many acts, from 1 on; with ACT+ it is that of the next round.  The waiter waits
from its act to the cause's, if that is later, and at each edge for the last one.
A member is a rank, or the place of the thread's first line among those of others, from 0 on.
1 unless each has waited so long, to 2 % or 20 us a wait, and other pairs less than 2 % of all that, as they begin
and end.
3 unless they have, and acts lasted longer than what they wait for and others of their kind explain, by as much as
the figures are off: the host or another program was in the way, and who waited for whom then was not told."""
import json
import statistics
import sys

RATIO = 0.02
WAIT_NS = 20000


def acts_of(path):
    """Of each member (came, left) of its acts, and the same of the edges."""
    acts, edges = {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            member, came, left, *is_edge = line.split()
            (edges if is_edge else acts).setdefault(int(member), []).append((int(came), int(left)))
    return acts, edges


def waits_of(acts, case, rounds):
    """Of one expectation: for each round the number of the waiter's act, when it came and when the cause did."""
    waiter, waiter_act, cause, cause_act = case
    per_round = {member: len(acts[member]) // rounds for member in (waiter, cause)}
    numbers = range(int(waiter_act) - 1, len(acts[waiter]), per_round[waiter])
    causes = acts[cause][int(cause_act.rstrip("+")) - 1::per_round[cause]][1 if cause_act.endswith("+") else 0:]
    return [(number, acts[waiter][number][0], came) for number, (came, _) in zip(numbers, causes)]


def meetings(edges):
    """Of each edge: of each member (came, left), and when the last one came."""
    for edge in zip(*edges.values()):
        yield dict(zip(edges, edge)), max(came for came, _ in edge)


def truth_of(acts, edges, cases, rounds):
    """Of each pair expected how long and how often one waited for the other; at edges of all pairs."""
    truth, at_edges = {}, {}
    for case in cases:
        pair = case[0], case[2]
        waits = waits_of(acts, case, rounds)
        ns, count = truth.get(pair, (0, 0))
        truth[pair] = ns + sum(max(0, end - begin) for _, begin, end in waits), count + len(waits)
    for edge, end in meetings(edges):
        last = next(member for member, (came, _) in edge.items() if came == end)
        for member, (came, _) in edge.items():
            at_edges[member, last] = at_edges.get((member, last), 0) + end - came
    return truth, at_edges


def held_up(acts, edges, cases, rounds):
    """How much longer acts lasted than what they wait for and others of their kind explain, in all, ns."""
    ends = {(member, number): came for member in acts for number, (came, _) in enumerate(acts[member])}
    for case in cases:
        for number, begin, end in waits_of(acts, case, rounds):
            ends[case[0], number] = max(ends[case[0], number], begin, end)
    rests = {}
    for (member, number), end in ends.items():
        kind = member, number % (len(acts[member]) // rounds)
        rests.setdefault(kind, []).append(acts[member][number][1] - end)
    longer = [max(0, ns - statistics.median(kind)) for kind in rests.values() for ns in kind]
    return sum(longer) + sum(left - end for edge, end in meetings(edges) for _, left in edge.values())


def main():
    if len(sys.argv) < 5:
        print(__doc__, file=sys.stderr)
        return 2
    acts, edges = acts_of(sys.argv[2])
    rounds = int(sys.argv[3])
    by_rank = bool(edges)
    members = sorted(acts) if by_rank else list(acts)
    cases = [case.split(":") for case in sys.argv[4:]]
    cases = [(members[int(a)], b, members[int(c)], d) for a, b, c, d in cases]
    with open(sys.argv[1], encoding="utf-8") as file:
        waits = json.load(file)
    truth, at_edges = truth_of(acts, edges, cases, rounds)
    key = "rank" if by_rank else "tid"
    found = {(p["from"][key], p["to"][key]): p["waited_s"] * 1e9 for p in waits["pairs"]}
    whole_ns = sum(ns for ns, _ in truth.values())
    said, off_ns = [], 0
    for pair in sorted(truth.keys() | {p for p in found if p[0] in acts and p[1] in acts}):
        (ns, count), edges_ns = truth.get(pair, (0, 0)), at_edges.get(pair, 0)
        bound = max(RATIO * ns, WAIT_NS * count) if count else RATIO * max(whole_ns, edges_ns)
        ns += edges_ns
        if abs(found.get(pair, 0) - ns) > bound:
            off_ns = max(off_ns, abs(found.get(pair, 0) - ns))
        said.append(f"{pair[0]} for {pair[1]}: {found.get(pair, 0) / 1e6:.3f} ms, truly {ns / 1e6:.3f}")
    held_up_ns = held_up(acts, edges, cases, rounds) if off_ns else 0
    if off_ns:
        said.append(f"acts lasted {held_up_ns / 1e6:.3f} ms too long")
    print("; ".join(said))
    return 0 if not off_ns else 3 if held_up_ns >= off_ns else 1


if __name__ == "__main__":
    sys.exit(main())
