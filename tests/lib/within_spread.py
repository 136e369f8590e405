#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether a text says what others say: the same words, and numbers between the least and the greatest of theirs.

usage: within_spread.py TEXT OTHER…     prints the first line that differs, and the number of numbers compared
"""
import re
import sys

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")


def value(text):
    return float(re.sub("[dD]", "e", text))


def check_line(line, others):
    """Numbers compared; ValueError when the line is out of the spread."""
    words = NUMBER.sub("#", line).split()
    if any(NUMBER.sub("#", other).split() != words for other in others):
        raise ValueError("other words")
    columns = list(zip(*(map(value, NUMBER.findall(other)) for other in others)))
    for number, column in zip(map(value, NUMBER.findall(line)), columns):
        if not min(column) <= number <= max(column):
            raise ValueError(f"{number} is not in [{min(column)}, {max(column)}]")
    return len(columns)


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    texts = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read().splitlines())
    if len({len(text) for text in texts}) != 1:
        print("lines:", *map(len, texts))
        return 1
    numbers = 0
    for line, *others in zip(*texts):
        try:
            numbers += check_line(line, others)
        except ValueError as error:
            print(f"'{line.strip()}': {error}")
            return 1
    print(f"{numbers} numbers")
    return 0 if numbers else 1


if __name__ == "__main__":
    sys.exit(main())
