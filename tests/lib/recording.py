#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lists what a recording says, from its layout alone: recording.py FILE [notes|kernel|members|pids|ranks|maps].

notes: the collector's notes.  kernel: one line per kernel record.  members: the tids they are about.  pids: every tid
and pid named after an EXPELLED exec of it, with the records that name them (none is right).  ranks: how many have come
out of MPI_Init.  maps: of each text of memory maps the process, whether critd read it by itself, when, and the programs
and libraries in it."""
import struct
import sys

HEAD = struct.Struct("<IHHIIIIQQQQQ")
KERNEL_HEAD = struct.Struct("<HHHBBQ")
KINDS = {1: "SWITCH", 2: "WAKE", 3: "WAKE_NEW", 4: "FORK", 5: "EXEC", 6: "EXIT", 7: "ENROL",
         8: "SAMPLE", 10: "WAKING", 13: "RAN", 14: "OUTSIDE", 15: "YIELDS", 16: "CAPTURE", 17: "MIGRATE"}
EXPELLED = 1 << 5


def chunks(data):
    at = 0
    while at + HEAD.size <= len(data):
        fields = HEAD.unpack_from(data, at)
        magic, kind, length = fields[0], fields[2], fields[4]
        if magic != 0x43545243 or at + HEAD.size + length > len(data):
            return
        yield kind, data[at + HEAD.size:at + HEAD.size + length]
        at += HEAD.size + (length + 7) // 8 * 8


def kernel_records(data):
    for kind, payload in chunks(data):
        at = 0
        while kind == 2 and at + KERNEL_HEAD.size <= len(payload):
            what, size, cpu, flags, state, time_ns = KERNEL_HEAD.unpack_from(payload, at)
            if size < KERNEL_HEAD.size:
                break
            words = struct.unpack_from(f"<{(size - 16) // 4}I", payload, at + 16)
            yield KINDS.get(what, str(what)), cpu, flags, state, time_ns, words
            at += size


def tids_of(kind, words):
    """The members a record is about; strangers that have a CPU, as an expelled task is one, are named only so."""
    if kind == "OUTSIDE":
        return set()
    if kind == "SWITCH":
        return {words[0], words[1]}
    if kind == "FORK":
        return {words[0], words[2]}
    return {words[0]}


def after_expulsion(data):
    """Records that name a task after its privileges changed, and maps read of it."""
    expelled, faults = {}, []
    for kind, _, flags, _, time_ns, words in sorted(kernel_records(data), key=lambda r: r[4]):
        if kind == "EXEC" and flags & EXPELLED:
            expelled[words[0]] = time_ns
            continue
        for tid in tids_of(kind, words) & set(expelled):
            faults.append(f"{kind} of {tid} after its expulsion")
    for kind, payload in chunks(data):
        if kind == 11:
            pid, _, time_ns = struct.unpack_from("<IIQ", payload)
            if pid in expelled and time_ns > expelled[pid]:
                faults.append(f"maps of {pid} after its expulsion")
    return expelled, faults


def maps(data):
    for kind, payload in chunks(data):
        if kind != 11:
            continue
        pid, without_shim, time_ns = struct.unpack_from("<IIQ", payload)
        lines = [line.split(maxsplit=5) for line in payload[16:].decode(errors="replace").splitlines()]
        files = {line[5].rsplit("/")[-1] for line in lines if len(line) == 6 and "x" in line[1] and "/" in line[5]}
        yield pid, without_shim, time_ns, sorted(files)


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    what = sys.argv[2] if len(sys.argv) > 2 else "notes"
    if what == "kernel":
        for kind, cpu, flags, state, time_ns, words in kernel_records(data):
            print(time_ns, cpu, kind, f"flags={flags:#x} state={state:#x}", *words)
    elif what == "members":
        records = kernel_records(data)
        print(*sorted({tid for kind, *_, words in records for tid in tids_of(kind, words)}), sep="\n")
    elif what == "pids":
        expelled, faults = after_expulsion(data)
        print(f"{len(expelled)} expelled")
        print("\n".join(faults))
        return 1 if faults else 0
    elif what == "maps":
        for pid, without_shim, time_ns, files in maps(data):
            print(pid, without_shim, time_ns, *files)
    elif what == "ranks":
        print(sum(kind == 8 for kind, _ in chunks(data)))
    else:
        for kind, payload in chunks(data):
            if kind == 13:
                code, value, time_ns = struct.unpack_from("<IiQ", payload)
                print(code, value, time_ns, payload[16:].split(b"\0")[0].decode(errors="replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
