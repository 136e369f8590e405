#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Clocks in a recording against what is known of them.

usage: clock_truth.py skewed FILE OFFSET_NS PPM  comparisons of a node skewed by CRIT_TEST_CLOCK with another
       clock_truth.py stamps FILE                shim and kernel, of threads that sleep between two calls (naps)
       clock_truth.py unclocked FILE OUTPUT      a copy without comparisons

skewed: prints the largest error and the largest bound in us; exit 1 where an error is beyond its bound, or nothing was
compared.  stamps: prints a short time, of ten the shortest but one, from the last call to the switch out, and from the
switch in to the next call, in us; a clock that is off makes one of them negative.  Some switches the kernel hides."""
import bisect
import struct
import sys

import recording

SHIM, STREAM, CLOCK = 3, 4, 16
ENTER, LEAVE = 1, 2


def skewed(data, offset_ns, ppm):
    errors, bounds, is_within = [], [], True
    for kind, payload in recording.chunks(data):
        if kind != CLOCK:
            continue
        time_ns, told_ns, bound_ns = struct.unpack_from("<QqQ", payload)
        host_ns = (time_ns - offset_ns) * 1000000 // (1000000 + ppm)
        error_ns = abs(told_ns - (host_ns - time_ns))
        errors.append(error_ns)
        bounds.append(bound_ns)
        is_within &= error_ns <= bound_ns + 1  # of rounding
    if not errors:
        print("nothing was compared")
        return 1
    print(max(errors) / 1000, max(bounds) / 1000, len(errors))
    return 0 if is_within else 1


def calls(data):
    """tid -> stamps of calls, entered and left, in order."""
    tids, found, at = {}, {}, 0
    while at + recording.HEAD.size <= len(data):
        fields = recording.HEAD.unpack_from(data, at)
        kind, source, length = fields[2], fields[3], fields[4]
        payload = data[at + recording.HEAD.size:at + recording.HEAD.size + length]
        at += recording.HEAD.size + (length + 7) // 8 * 8
        if kind == STREAM:
            tids[source] = struct.unpack_from("<II", payload)[1]
        for slot in range(0, length - 31, 32) if kind == SHIM else ():
            time_ns, what = struct.unpack_from("<QB", payload, slot)
            if what in (ENTER, LEAVE):
                found.setdefault(tids.get(source), {ENTER: [], LEAVE: []})[what].append(time_ns)
    return found


def nearest(sorted_ns, time_ns):
    at = bisect.bisect_left(sorted_ns, time_ns)
    return min(sorted_ns[max(at - 1, 0):at + 1], key=lambda x: abs(x - time_ns), default=None)


def stamps(data):
    out, back = {}, {}
    for kind, _, _, _, time_ns, words in recording.kernel_records(data):
        if kind == "SWITCH":
            out.setdefault(words[0], []).append(time_ns)
            back.setdefault(words[1], []).append(time_ns)
    least = [[], []]
    for tid, spans in calls(data).items():
        outs, backs = sorted(out.get(tid, [])), sorted(back.get(tid, []))
        for left, entered in zip(spans[LEAVE], spans[ENTER][1:]):
            if entered - left < 1500000 or not outs or not backs:
                continue  # no nap
            least[0].append(nearest(outs, left) - left)
            least[1].append(entered - nearest(backs, entered))
    if not least[0]:
        print("no naps")
        return 1
    print(*(sorted(x)[len(x) // 10] / 1000 for x in least), len(least[0]))
    return 0


def unclocked(data, path):
    with open(path, "wb") as file:
        at = 0
        while at + recording.HEAD.size <= len(data):
            fields = recording.HEAD.unpack_from(data, at)
            end = at + recording.HEAD.size + (fields[4] + 7) // 8 * 8
            if fields[2] != CLOCK:
                file.write(data[at:end])
            at = end
    return 0


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[2], "rb") as file:
        data = file.read()
    if sys.argv[1] == "skewed":
        return skewed(data, int(sys.argv[3]), int(sys.argv[4]))
    if sys.argv[1] == "stamps":
        return stamps(data)
    return unclocked(data, sys.argv[3])


if __name__ == "__main__":
    sys.exit(main())
