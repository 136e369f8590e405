#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A linear system for MUMPS' simple tests: the 7-point Laplacian of a cube with a known solution.

usage: laplacian.py EDGE           prints matrix and right-hand side; unknown i is 1 + i % 7
       laplacian.py EDGE RESULT    prints the largest error in what the test said
"""
import sys

STEPS = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))


def truth(unknown):
    return 1.0 + unknown % 7


def row(edge, i, j, k):
    """(column, value) of one row, the diagonal first."""
    yield i + edge * (j + edge * k), 6.0
    for step in STEPS:
        x, y, z = i + step[0], j + step[1], k + step[2]
        if 0 <= min(x, y, z) and max(x, y, z) < edge:
            yield x + edge * (y + edge * z), -1.0


def write_system(edge, out):
    rows = [list(row(edge, i, j, k)) for k in range(edge) for j in range(edge) for i in range(edge)]
    out.write(f"{len(rows)}\n{sum(map(len, rows))}\n")
    for number, entries in enumerate(rows):
        for column, value in entries:
            out.write(f"{number + 1} {column + 1} {value}\n")
    for entries in rows:
        out.write(f"{sum(value * truth(column) for column, value in entries)}\n")


def largest_error(edge, path):
    with open(path, encoding="utf-8") as file:
        said = next(line for line in file if "Solution is" in line)
    solution = [float(word) for word in said.split("is", 1)[1].split()]
    if len(solution) != edge ** 3:
        raise ValueError(f"{path}: {len(solution)} unknowns, not {edge ** 3}")
    return max(abs(value - truth(number)) for number, value in enumerate(solution))


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    edge = int(sys.argv[1])
    if len(sys.argv) == 2:
        write_system(edge, sys.stdout)
    else:
        print(largest_error(edge, sys.argv[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
