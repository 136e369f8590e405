#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Laws of samples and their paths.

usage: sample_laws.py cut RECORDING KIND... > COPY     a recording without its chunks of these kinds
       sample_laws.py without REPORT OF-THE-COPY       no sample is captured, and nothing else has changed but that
                                                       chunks are missing
       sample_laws.py sums REPORT                      lines and what was not sampled have what threads have
       sample_laws.py marks NUMBER PATH...             files and anonymous memory files (/proc/PID/fd/N) that have the
                                                       mark which tests/apps/threads/marked puts on its stack"""
import gzip
import json
import math
import os
import sys

import recording

MARK_BYTES = 32
PATHS = ("paths", "path_ends", "paths_unlisted")
GAPS = ("is_complete", "is_whole", "missing", "missing_chunks", "recording_bytes")  # they tell of chunks cut out


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def cut(path, kinds):
    at = 0
    with open(path, "rb") as file:
        data = file.read()
    for kind, payload in recording.chunks(data):
        whole = recording.HEAD.size + (len(payload) + 7) // 8 * 8
        if kind not in kinds:
            sys.stdout.buffer.write(data[at:at + whole])
        at += whole


def without(value, keys):
    if isinstance(value, list):
        return [without(item, keys) for item in value]
    if isinstance(value, dict):
        return {key: without(item, keys) for key, item in value.items() if key not in keys}
    return value


def is_same(left, right, key=""):
    """Errors are sums of single precision over rows, of which paths make more: the last digits differ."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(is_same(left[k], right[k], k) for k in left)
    return left == right or bool(key == "error_s" and left and right and math.isclose(left, right, rel_tol=1e-6))


def check_without(whole, copy):
    """Without any path there is no table of their ends."""
    left, right = (without(report, PATHS + GAPS) for report in (whole, copy))
    changed = [key for key in left | right if not is_same(left.get(key), right.get(key))]
    before = whole["path_ends"]
    captured = sum(row["samples"] for row in before if row["end"] != "not_captured")
    ends = {row["end"]: (row["samples"], row["cmetric_s"]) for row in copy.get("path_ends", [])}
    moved = ends.pop("not_captured", (0, 0))
    off_s = moved[1] - sum(row["cmetric_s"] for row in before) if moved[0] else 0
    is_right = not any(map(any, ends.values())) and abs(off_s) < 1e-9 and copy["losses"]["missing_chunks"]
    return (captured and is_right and not changed,
            f"changed: {changed}; {captured} samples had paths, now not captured: {moved[0]}, off by {off_s:.1e} s")


def check_sums(report):
    all_s = sum(thread["cmetric_s"] for thread in report["threads"])
    off_s = sum(row["cmetric_s"] for row in report["hot"]) - all_s
    return abs(off_s) < 1e-9 * len(report["hot"]), f"{all_s:.9f} s, off by {off_s:.1e}"


def marks(number, paths):
    mark = bytes((number + 7 * i * i) & 255 for i in range(MARK_BYTES))
    for path in paths:
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            continue
        if path.endswith(".gz"):
            data = gzip.decompress(data)
        if mark in data:
            print(path, os.path.realpath(path))


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    what = sys.argv[1]
    if what == "cut":
        cut(sys.argv[2], set(map(int, sys.argv[3:])))
        return 0
    if what == "marks":
        marks(int(sys.argv[2]), sys.argv[3:])
        return 0
    is_right, said = check_sums(load(sys.argv[2])) if what == "sums" else check_without(*map(load, sys.argv[2:]))
    print(said)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
