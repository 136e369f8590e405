#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""crit-waits-play against a look at every nanosecond, for random programs.

usage: backplay_truth.py BUILD COUNT [SEED]
"""
import random
import subprocess
import sys

import programs
from brute_force import BruteForce

WILD_ONE_OF = 4  # programs that no simulator would make


def join_buckets(film, dice):
    """Makes vertices of any buckets, or leaves them to threads."""
    least = dice.choice([0, 1, 2, len(film.parts)])
    for bucket in range(len(film.parts) if least else 0):
        others = sorted(set(film.vertices))
        film.vertices.append(dice.choice(others) if len(others) >= least else bucket)


def films(count, seed):
    for i in range(count):
        dice = random.Random(seed + i)
        make = programs.wild if i % WILD_ONE_OF == 0 else programs.simulated
        film = make(dice)
        join_buckets(film, random.Random(seed + i))
        yield seed + i, film, dice


def main():
    build, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    made = list(films(count, seed))
    text = "".join(line + "\n" for _, film, dice in made for line in film.text(dice))
    done = subprocess.run([f"{build}/tests/crit-waits-play", build], input=text, text=True,
                          stdout=subprocess.PIPE)
    told = done.stdout.split("done\n")[:-1]
    wrong = cycles = linked = 0
    for (number, film, _), lines in zip(made, told):
        truth = BruteForce(film).run()
        cycles += truth.cycles
        linked += sum(edge["raw"] for edge in truth.edges.values())
        expected, got = sorted(truth.lines()), sorted(lines.splitlines())
        if expected != got:
            wrong += 1
            print(f"program {number}:", *(f"- {line}" for line in expected if line not in got),
                  *(f"+ {line}" for line in got if line not in expected), sep="\n")
    print(f"{len(told)} of {count} films played, {wrong} wrong; {linked} ns in wait states, "
          f"{cycles} cycles")
    return 0 if len(told) == count and not wrong and cycles and linked and not done.returncode else 1


sys.exit(main())
