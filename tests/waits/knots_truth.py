#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""crit-knots-find against who reaches whom, found pair by pair, for random graphs.

usage: knots_truth.py BUILD COUNT [SEED]
"""
import itertools
import random
import subprocess
import sys

LEAST, MOST = 10, 200


def graph(dice):
    """Vertices, and edges {(from, to): weight}: sparse and dense ones, with ties, with one all wait for."""
    count = dice.randint(1, 9)
    density = dice.choice([0.15, 0.3, 0.6, 1])
    highest = dice.choice([12, 30, 150, 400])
    edges = {pair: dice.randint(1, highest) for pair in itertools.permutations(range(count), 2)
             if dice.random() < density}
    if dice.random() < 0.5:
        late = dice.randrange(count)
        for (a, b) in edges:
            if b == late:
                edges[a, b] *= dice.randint(2, 12)
    return count, edges


def parts_of(vertices, edges):
    """Sets of vertices that reach each other, by the transitive closure."""
    reaches = {(a, b) for a, b in edges if a in vertices and b in vertices} | {(v, v) for v in vertices}
    for k in vertices:
        reaches |= {(a, b) for a in vertices if (a, k) in reaches for b in vertices if (k, b) in reaches}
    return {frozenset(b for b in vertices if {(a, b), (b, a)} <= reaches) for a in vertices}


def sinks(vertices, kept):
    parts = parts_of(vertices, kept)
    return [part for part in parts
            if not any(a in part and b in vertices and b not in part for a, b in kept)]


def weights(part, edges):
    """By how much the others wait for it, and it for them."""
    return (sum(w for (a, b), w in edges.items() if a not in part and b in part),
            sum(w for (a, b), w in edges.items() if a in part and b not in part))


def is_waited_for(part, edges):
    return any(a not in part and b in part and w >= LEAST for (a, b), w in edges.items())


def knots_in(whole, edges):
    """Knots of a set whose vertices all reach each other; none: it does not split into any."""
    kept = {pair: w for pair, w in edges.items() if w >= LEAST and whole >= set(pair)}
    while len(parts_of(whole, kept)) == 1 and kept:
        lightest = min(kept, key=lambda pair: (kept[pair], pair))
        if kept[lightest] > MOST:
            return []
        del kept[lightest]
    return accepted(whole, kept, edges)


def accepted(vertices, kept, edges):
    found = []
    for part in sinks(vertices, kept):
        into, out = weights(part, edges)
        if is_waited_for(part, edges) and into >= 2 * out:
            found += knots_in(part, edges) if len(part) > 1 else []
            if not any(knot <= part for knot in found):
                found.append(part)
    return found


def truth(count, edges):
    """(its vertices, waited for, waits, whether it is none) of each."""
    vertices = frozenset(range(count))
    kept = {pair: w for pair, w in edges.items() if w >= LEAST}
    rows = []
    for part in sinks(vertices, kept):
        into, out = weights(part, edges)
        is_alone = not is_waited_for(part, edges)
        if is_alone and len(part) == 1 or not is_alone and into < 2 * out:
            continue
        inside = knots_in(part, edges) if len(part) > 1 else []
        rows += [(sorted(knot), *weights(knot, edges), 0) for knot in inside or [part]
                 if inside or not is_alone]
        if is_alone and not inside:
            rows.append((sorted(part), into, out, 1))
    return sorted(rows)


def main():
    build, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    graphs = [graph(random.Random(seed + i)) for i in range(count)]
    text = ""
    for i, (vertices, edges) in enumerate(graphs):
        lines = [f"edge {a} {b} {w}\n" for (a, b), w in edges.items()]
        random.Random(i).shuffle(lines)
        text += f"graph {vertices} {LEAST} {MOST}\n" + "".join(lines) + "find\n"
    done = subprocess.run([f"{build}/tests/crit-knots-find"], input=text, text=True,
                          stdout=subprocess.PIPE)
    told = done.stdout.split("done\n")[:-1]
    wrong = knots = trimmed = components = 0
    for number, ((vertices, edges), lines) in enumerate(zip(graphs, told), seed):
        got = []
        for line in lines.splitlines():
            into, out, is_component, *members = map(int, line.split()[1:])
            got.append((members, into, out, is_component))
        expected = truth(vertices, edges)
        knots += sum(not row[3] for row in expected)
        components += sum(row[3] for row in expected)
        trimmed += any(w >= LEAST and a in row[0] and b not in row[0]
                       for row in expected for (a, b), w in edges.items())
        if sorted(got) != expected:
            wrong += 1
            print(f"graph {number}: {vertices} vertices, {edges}: {expected}, told {got}")
    print(f"{len(told)} of {count} graphs, {wrong} wrong; {knots} knots, {components} components "
          f"without, {trimmed} graphs where edges were dropped one by one")
    return 0 if len(told) == count and not wrong and knots > count / 4 and components and trimmed and \
        not done.returncode else 1


sys.exit(main())
