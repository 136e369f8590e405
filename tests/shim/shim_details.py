#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the details a shim recorded with what the program details says of its own calls:
shim_details.py trace|profile|threads RECORDING CALLS EXPECTED...

CALLS is core/abi/mpi_calls.def, EXPECTED the files the ranks 0, 1, … wrote.  Prints the first differences
of each rank, and what is wrong with the names of communicators; nothing when all is right.  At level
profile only communicators and collectives of recorded spans are there, and bytes of counted calls."""
import collections
import itertools
import re
import struct
import sys

from shim_calls import COUNTERS, RANK, SHIM, SLOT, STREAM, chunks

DETAIL = struct.Struct("<QBBHIiiQ")
COMM = struct.Struct("<QBBHIIiII")
LEAVE, POLL, CONTINUED, IS_DETAIL, IS_COMM = 2, 3, 4, 5, 6
FREED, INTER, SECOND = 1, 2, 4
NULL_PEER = -2
KINDS = [None, "SEND", "RECV", "ISEND", "IRECV", "SEND_INIT", "RECV_INIT", "START", "DONE", "CANCELLED",
         "FREED", "COLL", "ICOLL", "COLL_INIT", "RECEIVED", "PUT", "GET", "ATOMIC", "READ", "WRITE",
         "FAILED", "COMM_NAME", "COMM_NAME_MORE"]
SORTS = {"ISEND": "send", "SEND_INIT": "send", "IRECV": "recv", "RECV_INIT": "recv", "ICOLL": "coll",
         "COLL_INIT": "coll", "PUT": "rma", "GET": "rma", "ATOMIC": "rma", "READ": "io", "WRITE": "io"}


class Names(dict):
    """Call names by number; classes by name."""

    def __init__(self, rows):
        super().__init__((int(number), name) for number, name, _ in rows)
        self.classes = {name: kind for _, name, kind in rows}


class Rank:
    """What one rank's stream says, as lines like those of the program."""

    def __init__(self, names):
        self.names = names
        self.lines = []
        self.waiting = []  # details of the span that has not ended
        self.requests = collections.defaultdict(collections.deque)  # handle -> [name, sort, persists]
        self.started = 0
        self.comms = {}  # number -> (hash, nth, flags, size)
        self.lost = 0
        self.pid = 0
        self.messages = []  # (communicator's number, tag)
        self.bytes = {}  # call -> bytes, of counted calls

    def start(self, kind, peer, handle):
        """The name of a request that appears."""
        name = f"r{self.started}"
        self.started += 1
        sort = "null" if peer == NULL_PEER else SORTS[kind]
        self.requests[handle].append((name, sort, kind.endswith("INIT")))
        return name

    def end(self, kind, fields):
        """The line of a request that ends; the oldest of a handle."""
        size, _, _, _, _, peer, tag, handle = fields
        if not self.requests[handle]:
            return f"{kind} of nothing"
        name, sort, persists = self.requests[handle][0]
        if kind == "FREED" or (not persists and kind != "START"):
            self.requests[handle].popleft()
        if kind == "FREED" and sort == "send" and not persists:
            kind = "DONE"  # where it starts, if it is complete at once
        if kind != "DONE":
            return f"{kind} {name}"
        return f"DONE 0 {peer} {tag} {size} {name}" if sort == "recv" else f"DONE {sort} {name}"

    def take_detail(self, fields):
        size, _, _, kind, comm, peer, tag, request = fields
        kind = KINDS[kind]
        if kind in ("SEND", "RECV"):
            self.messages.append((comm, tag))
        if kind in ("START", "DONE", "CANCELLED", "FREED"):
            line = self.end(kind, fields)
        elif kind == "RECEIVED":
            line = f"RECEIVED {size}"
        elif kind == "FAILED":
            line = kind
        elif kind == "COLL":
            line = f"COLL {comm} {peer} {tag} {size} +{request}"
        elif kind in SORTS and request:
            line = f"{kind} {comm} {peer} {tag} {size} {self.start(kind, peer, request)}"
        else:
            line = f"{kind} {comm} {peer} {tag} {size} -"
        self.waiting.append((True, line))

    def take_comm(self, fields):
        key, _, _, flags, number, nth, parent, rank, size = fields
        if flags & FREED:
            self.waiting.append((False, f"comm {number} freed"))
            return
        self.comms[number] = key, nth, flags, size
        self.waiting.append((False, f"comm {number} {flags & ~SECOND} {rank} {size} {parent}"))

    def take_slots(self, payload):
        for at in range(0, len(payload), SLOT.size):
            _, kind, _, call, _, _, arg = SLOT.unpack_from(payload, at)
            if kind == IS_DETAIL:
                self.take_detail(DETAIL.unpack_from(payload, at))
            elif kind == IS_COMM:
                self.take_comm(COMM.unpack_from(payload, at))
            elif kind in (LEAVE, POLL):
                name = self.names[call]
                self.lines += [f"{name} {line}" if named else line for named, line in self.waiting]
                self.waiting = []
                self.lost += arg if kind == LEAVE else 0


    def take_counters(self, payload):
        """Final values: the last chunk holds."""
        self.bytes = collections.Counter()
        for at in range(0, len(payload), 64):
            _, call, _, _, _, _, size = struct.unpack_from("<QIIQQQQ", payload, at)
            self.bytes[self.names[call]] += size


def read_recording(path, names):
    """[Rank] by thread, and pid -> rank."""
    with open(path, "rb") as file:
        data = file.read()
    streams, ranks = collections.defaultdict(lambda: Rank(names)), {}
    for kind, source, payload in chunks(data):
        if kind == STREAM:
            streams[source].pid = struct.unpack_from("<I", payload)[0]
        elif kind == SHIM:
            streams[source].take_slots(payload)
        elif kind == COUNTERS:
            streams[source].take_counters(payload)
        elif kind == RANK:
            pid, rank = struct.unpack_from("<II", payload)
            ranks[pid] = rank
    return list(streams.values()), ranks


def check_threads(streams, tags):
    """All ends of a message name one communicator, and other messages another one."""
    comms, names = collections.defaultdict(dict), collections.defaultdict(list)
    for stream in streams:
        comms[stream.pid].update(stream.comms)
    for stream in streams:
        for comm, tag in stream.messages:
            names[tag].append(comms[stream.pid].get(comm, (0, comm))[:2])
    for tag, of_tag in names.items():
        if len(of_tag) != 6 or len(set(of_tag)) != 1:
            yield f"messages of tag {tag} are on {of_tag}"
    if len(names) != tags or len({of_tag[0] for of_tag in names.values()}) != tags:
        yield f"{len(names)} tags of {tags}, not each on a communicator of its own"


def check_names(keys, found):
    """keys: (rank, number) -> key.  One name for each communicator, another for each other one."""
    names, sides = collections.defaultdict(set), collections.defaultdict(set)
    for (rank, number), key in keys.items():
        comm = found[rank].comms.get(number)
        if comm:
            names[key].add(comm[:2])
            if comm[2] & INTER:
                sides[key].add((comm[3], bool(comm[2] & SECOND)))
    for key, of_key in names.items():
        if len(of_key) > 1:
            yield f"{key} has several names: {of_key}"
    for one, other in itertools.combinations(names, 2):
        if names[one] & names[other]:
            yield f"{one} and {other} have one name"
    for key, of_key in sides.items():
        if len(of_key) != 2 or len({second for _, second in of_key}) != 2:
            yield f"{key}: sides {of_key}"


def compare_all(expected, stream):
    """Level trace: line by line."""
    lost = sum(int(line[5:]) for line in expected if line.startswith("lost "))
    # where they start, if they are complete at once
    done = re.compile(r"(\w+) DONE ((?:send|coll|rma|io|null) r\d+)$")
    lines = [line for line in expected if not re.match(r"lost ", line) and not done.match(line)]
    recorded = [line for line in stream.lines if not done.match(line)]
    ends = [collections.Counter(match[2] for match in map(done.match, some) if match)
            for some in (expected, stream.lines)]
    if ends[0] != ends[1]:
        yield f"ends differ: {(ends[0] - ends[1]) + (ends[1] - ends[0])}"
    differ = [(a, b) for a, b in itertools.zip_longest(lines, recorded) if a != b]
    yield from (f"expected {a!r}, recorded {b!r}" for a, b in differ[:3])
    if stream.lost != lost or not lines:
        yield f"{stream.lost} details lost, expected {lost}, of {len(lines)}"


def compare_some(expected, stream):
    """Level profile: what is recorded, in its order; all communicators; bytes of counted calls."""
    rest = iter(expected)
    yield from (f"not expected: {line}" for line in stream.lines if line not in rest)
    missing = [line for line in expected if line.startswith("comm") and line not in stream.lines]
    yield from (f"missing: {line}" for line in missing)
    others = [line for line in stream.lines if not re.match(r"comm|\w+ COLL ", line)]
    yield from (f"not for this level: {line}" for line in others)
    size = collections.Counter()
    for line in expected:
        words = line.split()
        if words[1] == "RECEIVED":
            size[words[0]] += int(words[2])
        elif len(words) == 7 and words[1] != "DONE":
            size[words[0]] += int(words[5])
    for call, counted in stream.bytes.items():
        if counted != size[call] and stream.names.classes[call] == "MPI":
            yield f"{call}: {counted} bytes, expected {size[call]}"
    if not stream.bytes["Isend"]:
        yield "no bytes of Isend"


def main():
    level, recording, calls = sys.argv[1:4]
    with open(calls, encoding="ascii") as file:
        names = Names(re.findall(r"^CRIT_MPI_CALL\((\d+), (\w+), (\w+)", file.read(), re.M))
    streams, ranks = read_recording(recording, names)
    if level == "threads":
        with open(sys.argv[4], encoding="ascii") as file:
            tags = int(re.search(r"^tags (\d+)$", file.read(), re.M)[1])
        faults = list(check_threads(streams, tags))
        print("\n".join(faults[:5]))
        return 1 if faults else 0
    found = {ranks[stream.pid]: stream for stream in streams}
    keys, faults = {}, []
    for rank, path in enumerate(sys.argv[4:]):
        with open(path, encoding="ascii") as file:
            expected = file.read().splitlines()
        for number, line in enumerate(expected):
            made = re.match(r"comm (\d+) (\w+) (\d+ \d+ \d+ \d+)$", line)
            if made:
                keys[rank, int(made[1])] = made[2]
                expected[number] = f"comm {made[1]} {made[3]}"
        compare = compare_all if level == "trace" else compare_some
        faults += [f"rank {rank}: {fault}" for fault in compare(expected, found[rank])]
    faults += check_names(keys, found)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
