#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The phases of a run in which one rank works and all others wait in MPI_Bcast for it.

usage: solo_phases.py ARCHIVE RECORDING REPORT MILLISECONDS RANK…

Prints what each rank computed apart from the phases of the ranks named, as max / mean, then rank@second of each
phase that lasts so long.  Exit 0 when the ranks named are among them, in that order.
"""
import itertools
import json
import sys

import otf2

from recording import kernel_records

WAITING = "MPI_Bcast"
ENDS = (otf2.events.Enter, otf2.events.Leave)


def rank_of(location):
    return int(location.group.name.split()[-1])


def solo(waits):
    """The only location that does not wait."""
    others = [x for x, is_waiting in waits.items() if not is_waiting]
    return others[0] if len(others) == 1 else None


def phases(trace):
    """(rank, begin, end, since when it has called nothing) of every phase; events come in the order of time."""
    waits = {x: False for x in trace.definitions.locations}
    called = dict.fromkeys(waits, 0)
    worker, begin = None, 0
    for location, event in trace.events:
        if not isinstance(event, ENDS):
            continue
        before, called[location] = called[location], event.time
        if event.region.name != WAITING:
            continue
        waits[location] = isinstance(event, ENDS[0])
        now = solo(waits)
        if now is worker:
            continue
        if worker is not None:
            yield rank_of(worker), begin, event.time, before if location is worker else called[worker]
        worker, begin = now, event.time


def named(found, ranks):
    """The phases of these ranks, in their order; of several such choices the longest; none when some are missing."""
    candidates = [x for x in found if x[0] in ranks]
    choices = (x for x in itertools.combinations(candidates, len(ranks)) if [rank for rank, *_ in x] == ranks)
    return max(choices, key=lambda x: sum(end - begin for _, begin, end, _ in x), default=())


def running_ns(records, tid, begin, end):
    """What a thread ran from begin to end."""
    total, since = 0, None
    for time, before, after in records:
        if before == tid and since is not None:
            total += max(0, min(time, end) - max(since, begin))
            since = None
        if after == tid:
            since = time
    return total


def balance(report, recording, solos):
    """Max / mean over the ranks of what they computed with the others."""
    with open(recording, "rb") as file:
        switches = sorted((time, words[0], words[1])
                          for kind, _, _, _, time, words in kernel_records(file.read()) if kind == "SWITCH")
    pids = {x["rank"]: x["pid"] for x in report["ranks"]}
    useful = {x["rank"]: x["useful_s"] for x in report["ranks"]}
    for rank, _, end, called in solos:
        useful[rank] -= running_ns(switches, pids[rank], called, end) * 1e-9
    return max(useful.values()) * len(useful) / sum(useful.values())


def main():
    if len(sys.argv) < 6:
        print(__doc__, file=sys.stderr)
        return 2
    archive, recording, report = sys.argv[1:4]
    wanted = [int(x) for x in sys.argv[5:]]
    with otf2.reader.open(archive) as trace:
        hz = trace.timer_resolution
        found = [x for x in phases(trace) if x[2] - x[1] >= float(sys.argv[4]) * 1e-3 * hz]
    solos = named(found, wanted)
    with open(report, encoding="utf-8") as file:
        print(f"{balance(json.load(file), recording, solos):.3f}", end=" ")
    first = found[0][1] if found else 0
    print(*(f"{rank}@{(begin - first) / hz:.3f}" for rank, begin, _, _ in found))
    return 0 if solos else 1


if __name__ == "__main__":
    sys.exit(main())
