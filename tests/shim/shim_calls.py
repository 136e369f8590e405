#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints what the shim recorded: shim_calls.py RECORDING CALLS

CALLS is core/abi/mpi_calls.def.  Lines "RANK count NAME N", poll spans and counters included, then
"RANK lost N" and "RANK open N" (spans without an end), "RANK caller MODULE" for each module calls came from."""
import collections
import re
import struct
import sys

HEAD = struct.Struct("<IHHIIIIQQQQQ")
SLOT = struct.Struct("<QBBHIQQ")
SHIM, STREAM, STREAM_END, COUNTERS, RANK, MAPS = 3, 4, 5, 6, 8, 11
ENTER, LEAVE, POLL = 1, 2, 3


def chunks(data):
    """(kind, source, payload) of each whole chunk."""
    at = 0
    while at + HEAD.size <= len(data):
        magic, _, kind, source, length = HEAD.unpack_from(data, at)[:5]
        if magic != 0x43545243 or at + HEAD.size + length > len(data):
            return
        yield kind, source, data[at + HEAD.size:at + HEAD.size + length]
        at += HEAD.size + (length + 7) // 8 * 8


def counters(payload):
    """The calls counted in one chunk, by number."""
    counted = collections.Counter()
    for _, call, _, count in struct.iter_unpack("<QIIQ40x", payload):
        counted[call] += count
    return counted


class Stream:
    """What one thread did."""

    def __init__(self):
        self.pid = 0
        self.counts = collections.Counter()
        self.counters = collections.Counter()
        self.sites = set()
        self.depth = 0
        self.lost = 0

    def take_slots(self, payload):
        """Counts spans by call; a poll span stands for as many calls as it merged."""
        slots = list(SLOT.iter_unpack(payload))
        for number, (_, kind, _, call, merged, site, _) in enumerate(slots):
            if kind in (ENTER, POLL):
                self.sites.add(site)
            if kind == ENTER:
                self.counts[call] += 1
                self.depth += 1
            elif kind == LEAVE:
                self.depth -= 1
            elif kind == POLL:
                self.counts[call] += merged
                assert number + 1 == len(slots) or slots[number + 1][1] == 4
            assert self.depth in (0, 1), "a thread is in one outermost call at a time"


def modules_of(maps, sites):
    """Files that hold the sites, by the lines of /proc/PID/maps."""
    found = set()
    for site in sites:
        holders = [line.split()[-1] for line in maps
                   if (ends := line.split()[0].split("-"))
                   and int(ends[0], 16) <= site < int(ends[1], 16)]
        found.add(holders[0] if holders else "nowhere")
    return found


def main():
    """Reads, sums by rank, prints."""
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    with open(sys.argv[2], encoding="ascii") as file:
        names = {int(n): name
                 for n, name in re.findall(r"^CRIT_MPI_CALL\((\d+), (\w+)", file.read(), re.M)}
    streams, ranks, maps = collections.defaultdict(Stream), {}, collections.defaultdict(list)
    for kind, source, payload in chunks(data):
        if kind == STREAM:
            streams[source].pid = struct.unpack_from("<I", payload)[0]
        elif kind == SHIM:
            streams[source].take_slots(payload)
        elif kind == STREAM_END:
            streams[source].lost = struct.unpack_from("<Q", payload, 24)[0]
        elif kind == COUNTERS:  # final values: the last chunk holds
            streams[source].counters = counters(payload)
        elif kind == MAPS:
            maps[struct.unpack_from("<I", payload)[0]] += payload[16:].decode().splitlines()
        elif kind == RANK:
            pid, rank = struct.unpack_from("<II", payload)
            ranks[pid] = rank
    total, lost, opened = collections.Counter(), collections.Counter(), collections.Counter()
    callers = set()
    for stream in streams.values():
        rank = ranks.get(stream.pid, -1)
        for call, count in (stream.counts + stream.counters).items():
            total[rank, names[call]] += count
        lost[rank] += stream.lost
        opened[rank] += stream.depth
        callers |= {(rank, module) for module in modules_of(maps[stream.pid], stream.sites)}
    for (rank, name), count in sorted(total.items()):
        print(rank, "count", name, count)
    for rank in sorted(lost):
        print(rank, "lost", lost[rank])
        print(rank, "open", opened[rank])
    for rank, module in sorted(callers):
        print(rank, "caller", module)


if __name__ == "__main__":
    main()
