#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints what was recorded of OpenMP: omp_spans.py RECORDING CONSTRUCTS [events]

CONSTRUCTS is core/abi/constructs.def.  Lines "count NAME N" (spans, folded ones too), "release NAME N", "region NAME in
PARENTS: N" (spans that open it), "regions N", "instances N" and "members N" (of parallel regions), "threads N",
"workers N", "lost N", "open NAME N" (spans without an end), "unbalanced N" (ends that fit nothing), "undefined N"
(spans in a region nobody described).  With events: every slot instead."""
import collections
import re
import struct
import sys

from shim_calls import COUNTERS, SHIM, SLOT, STREAM, STREAM_END, chunks, counters

ENTER, LEAVE, POLL, CONTINUED, REGION, WORKER, RELEASE, LEVEL = 1, 2, 3, 4, 7, 8, 9, 10
PRIMARY = 1 << 63
PARALLEL, TASK, PHASE, FIRST = 768, 782, 900, 768


class Regions:
    """Of one process: what each number means."""

    def __init__(self, names):
        self.names, self.rows = names, {}

    def take(self, slots):
        """A REGION slot and the CONTINUED ones behind it."""
        site, _, count, call, number, parent, name_bytes = struct.unpack("<QBBHIII8x", slots[0])
        text = b"".join(part[:8] + part[10:] for part in slots[1:])[:name_bytes].decode()
        assert count == len(slots)
        self.rows[number] = (text or self.names[call], parent, site)

    def path(self, number):
        """"task in parallel"."""
        parts = []
        while number in self.rows:
            parts.append(self.rows[number][0])
            number = self.rows[number][1]
        return " in ".join(parts) if number == 0 else " in ".join(parts + ["?"])


class Thread:
    """What one thread did."""

    def __init__(self):
        self.pid, self.stack, self.events = 0, [], []
        self.folded = collections.Counter()
        self.is_worker, self.lost, self.unbalanced = False, 0, 0


def read(path, names):
    """(threads, regions by pid) of a recording."""
    threads, regions, tails = collections.defaultdict(Thread), {}, {}
    with open(path, "rb") as file:
        data = file.read()
    for kind, source, payload in chunks(data):
        if kind == STREAM:
            threads[source].pid = struct.unpack_from("<I", payload)[0]
        elif kind == STREAM_END:
            threads[source].lost = struct.unpack_from("<Q", payload, 24)[0]
        elif kind == COUNTERS:  # final values: the last chunk holds
            threads[source].folded = counters(payload)
        elif kind == SHIM:
            thread = threads[source]
            known = regions.setdefault(thread.pid, Regions(names))
            payload = tails.pop(source, b"") + payload
            raw = [payload[at:at + 32] for at in range(0, len(payload) - len(payload) % 32, 32)]
            take(thread, known, raw)
    return threads, regions


def take(thread, regions, raw):
    """Slots of one chunk; a record and what continues it lie in one."""
    at = 0
    while at < len(raw):
        slot = SLOT.unpack(raw[at])
        if slot[1] == REGION:
            regions.take(raw[at:at + slot[2]])
            at += slot[2]
            continue
        thread.events.append(slot)
        at += 1


def replay(thread, totals, opened):
    """Follows the stack of spans."""
    for _, kind, _, call, region, _, arg in thread.events:
        if kind == ENTER:
            thread.stack.append(call)
            totals["count", call] += 1
            opened(call, region, arg)
        elif kind == LEAVE:
            if thread.stack and thread.stack[-1] == call:
                thread.stack.pop()
            else:
                thread.unbalanced += 1
        elif kind == RELEASE:
            totals["release", call] += 1
        elif kind == WORKER:
            thread.is_worker = True
    for call, count in thread.folded.items():
        totals["count", call] += count
    for call in thread.stack:
        totals["open", call] += 1


def summarise(threads, regions, names):
    """The lines of the answer."""
    totals, visits, instances = collections.Counter(), collections.Counter(), collections.Counter()
    undefined, used = 0, set()
    for thread in threads.values():
        known = regions.get(thread.pid, Regions(names))

        def opened(call, region, arg):
            nonlocal undefined
            used.update([(thread.pid, region)] if region else [])
            undefined += region != 0 and region not in known.rows
            if call == PARALLEL:
                instances[thread.pid, arg & ((1 << 48) - 1)] += 1
            if call in (PARALLEL, TASK, PHASE) and (call != PARALLEL or arg & PRIMARY):
                visits[known.path(region)] += 1

        replay(thread, totals, opened)
    for (what, call), count in sorted(totals.items()):
        yield f"{what} {names.get(call, call)} {count}"
    for path, count in sorted(visits.items()):
        yield f"region {path}: {count}"
    yield f"regions {len(used)}"
    yield f"instances {len(instances)}"
    yield f"members {sum(instances.values())}"
    yield f"threads {len(threads)}"
    yield f"workers {sum(t.is_worker for t in threads.values())}"
    yield f"lost {sum(t.lost for t in threads.values())}"
    yield f"unbalanced {sum(t.unbalanced for t in threads.values())}"
    yield f"undefined {undefined}"


def show_events(threads, names):
    """Every slot, thread by thread."""
    for source, thread in sorted(threads.items()):
        depth = 0
        for time_ns, kind, _, call, region, site, arg in thread.events:
            depth -= kind == LEAVE
            print(f"{source:3} {time_ns} {'  ' * depth}{kind} {names.get(call, call)} @{region} "
                  f"{site:#x} {arg:#x}")
            depth += kind == ENTER


def main():
    """Reads, replays, prints."""
    with open(sys.argv[2], encoding="utf-8") as file:
        names = {int(number): name.lower() for number, name in
                 re.findall(r"^CRIT_CONSTRUCT\((\d+), (\w+)", file.read(), re.M)}
    threads, regions = read(sys.argv[1], names)
    if sys.argv[3:] == ["events"]:
        show_events(threads, names)
    else:
        print(*summarise(threads, regions, names), sep="\n")


if __name__ == "__main__":
    main()
