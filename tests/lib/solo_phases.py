#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The phases of an OTF2 archive in which one rank works and all others wait in MPI_Bcast for it.

usage: solo_phases.py ARCHIVE MILLISECONDS RANK…

Prints rank@second of each phase that lasts so long.  Exit 0 when the ranks named are among them, in that order.
"""
import sys

import otf2

WAITING = "MPI_Bcast"
ENDS = (otf2.events.Enter, otf2.events.Leave)


def rank_of(location):
    return int(location.group.name.split()[-1])


def solo(waits):
    """The only location that does not wait."""
    others = [x for x, is_waiting in waits.items() if not is_waiting]
    return others[0] if len(others) == 1 else None


def phases(trace):
    """(location, begin, end) of every phase; events come in the order of time."""
    waits = {x: False for x in trace.definitions.locations}
    worker, since = None, 0
    for location, event in trace.events:
        if not isinstance(event, ENDS) or event.region.name != WAITING:
            continue
        waits[location] = isinstance(event, ENDS[0])
        now = solo(waits)
        if now is worker:
            continue
        if worker is not None:
            yield worker, since, event.time
        worker, since = now, event.time


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    least_s = float(sys.argv[2]) * 1e-3
    with otf2.reader.open(sys.argv[1]) as trace:
        hz = trace.timer_resolution
        found = [(rank_of(x), begin, end - begin) for x, begin, end in phases(trace)
                 if end - begin >= least_s * hz]
    first = found[0][1] if found else 0
    print(*(f"{rank}@{(begin - first) / hz:.3f}" for rank, begin, _ in found))
    ranks = iter(rank for rank, _, _ in found)
    return 0 if all(int(wanted) in ranks for wanted in sys.argv[3:]) else 1


if __name__ == "__main__":
    sys.exit(main())
