#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Samples of a recording, beside what the program tests/apps/threads/sampled tells of its functions.

usage: samples.py RECORDING TOLD shares     samples by function, weighed, within 4 standard errors of its parts
       samples.py RECORDING TOLD time       the time that all samples stand for is the functions' CPU time
       samples.py RECORDING - kept          one tick in so many was kept, on the average
       samples.py RECORDING - waits         one in 16 kept of those that wait in MPI or OpenMP, and of these alone
       samples.py RECORDING - strangers     all samples are of members of this run
       samples.py RECORDING - count         samples, and threads they are of"""
import struct
import sys

import recording

IN_KERNEL = 1 << 3
KEPT_ALWAYS = 65536
WAITS = (5, 6, 8)  # classes mpi_poll, mpi_wait, omp_wait of a tag


class Sample:
    def __init__(self, cpu, flags, time_ns, words):
        self.cpu, self.flags, self.time_ns, self.tid = cpu, flags, time_ns, words[0]
        body = struct.pack("<8I", *words)
        _, self.request, self.tag, self.ip, self.period_ns, keep, self.active = struct.unpack("<IIQQIHH", body)
        self.keep = keep or KEPT_ALWAYS


def samples_of(data):
    return [Sample(cpu, flags, time_ns, words)
            for kind, cpu, flags, _, time_ns, words in recording.kernel_records(data) if kind == "SAMPLE"]


def places_of(text):
    """(name, begin, end, CPU time, threads side by side) of each function that was used."""
    rows = [line.split() for line in text.splitlines()]
    rows = [(r[0], int(r[1], 16), int(r[2], 16), int(r[3]), int(r[4])) for r in rows]
    return [row for row in rows if row[3]]


def find(places, sample):
    return next((p for p in places if p[1] <= sample.ip < p[2]), None)


def check_shares(samples, places):
    """Weight of a sample: what its tick stands for, by the threads that are there at a time."""
    found = [(place[0], s.period_ns * KEPT_ALWAYS / s.keep / place[4])
             for s in samples if (place := find(places, s))]
    total = sum(weight for _, weight in found)
    truth_total = sum(p[3] / p[4] for p in places)
    is_right = len(found) > 0.9 * len(samples)
    said = [f"{len(found)} of {len(samples)} samples in functions"]
    for name, _, _, cpu_ns, side_by_side in places:
        truth = cpu_ns / side_by_side / truth_total
        share = sum(w for n, w in found if n == name) / total
        error = sum((w * ((n == name) - share)) ** 2 for n, w in found) ** 0.5 / total
        is_right &= abs(share - truth) <= 4 * error and error < 0.02
        said.append(f"{name} {100 * share:.1f} +- {100 * error:.1f} %, truly {100 * truth:.1f}")
    return is_right, "; ".join(said)


def check_time(samples, places):
    """Ticks that come late, on a machine whose host is busy, stand for a little more than they say: 10 %."""
    weights = [s.period_ns * KEPT_ALWAYS / s.keep for s in samples]
    seconds, error = sum(weights) / 1e9, sum(w * w for w in weights) ** 0.5 / 1e9
    truth = sum(p[3] for p in places) / 1e9
    return (abs(seconds - truth) <= 4 * error + truth / 10,
            f"{seconds:.2f} +- {error:.2f} s by {len(samples)} samples, truly {truth:.2f}")


def check_waits(samples):
    waits = [s for s in samples if s.tag >> 6 & 15 in WAITS]
    others = [s for s in samples if s.tag >> 6 & 15 not in WAITS]
    is_right = waits and others and all(s.keep == KEPT_ALWAYS // 16 for s in waits)
    return (is_right and all(s.keep > KEPT_ALWAYS // 16 for s in others),
            f"{len(waits)} samples in waits, {len(others)} others")


def check_strangers(samples, data):
    members = {tid for kind, _, _, _, _, words in recording.kernel_records(data) if kind != "SAMPLE"
               for tid in recording.tids_of(kind, words)}
    strangers = {s.tid for s in samples} - members
    return not strangers, f"{len(samples)} samples, {len(strangers)} strangers"


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    samples = samples_of(data)
    what, is_right = sys.argv[3], True
    if what == "count":
        said = f"{len(samples)} {len({s.tid for s in samples})}"
    elif not samples:
        is_right, said = False, "no samples"
    elif what in ("shares", "time"):
        with open(sys.argv[2], encoding="utf-8") as file:
            is_right, said = {"shares": check_shares, "time": check_time}[what](samples, places_of(file.read()))
    elif what == "waits":
        is_right, said = check_waits(samples)
    elif what == "strangers":
        is_right, said = check_strangers(samples, data)
    else:
        said = f"{sum(KEPT_ALWAYS / s.keep for s in samples) / len(samples):.2f}"
    print(said)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
