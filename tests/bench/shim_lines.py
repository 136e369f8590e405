# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the MPI shim: what a call pays, and what a real program pays."""
import itertools
import os
import shutil

from kernel_lines import collector_start_s, member_record_ns
from measure import finished_recording, median, output_of, run, spread

CHUNKS = "300"  # of 500 calls, for the first percentile of each
HEAT_STEPS = 1000
HEAT_ROUNDS = 3  # it is its CPU time that the events are held against, and no difference of two runs
# What a run of call_cost does, how many calls that is, readings of the clock in each, bar and aim: ns added.
CALLS = {
    "trace": (("Comm_rank", 1, 2, 45, 25), ("Iprobe", 1, 2, 16, None), ("Allreduce", 1, 2, 45, 25),
              ("Irecv_Send_Wait", 3, 2, 45, 25), ("Put_fence", 2, 2, 45, 25), ("Put_lock", 4, 2, 45, 25),
              ("Partitioned", 5, 2, 45, 25)),
    "profile": (("Comm_rank", 1, 0, 15, 3), ("Send_init_free", 2, 0, 15, 3), ("Allreduce", 1, 2, 26, None),
                ("Iprobe", 1, 2, 16, None), ("Put_fence", 2, None, 26, None), ("Put_lock", 4, None, 26, None),
                ("Partitioned", 5, None, 26, None)),  # None: some of the calls have them
}
WHAT = {("trace", "Iprobe"): ", a failing poll", ("profile", "Iprobe"): ", a failing poll",
        ("profile", "Allreduce"): ", a folded wait"}

# What ring_cost tells of a thread, its unit and bar.
RING = (("ring of a thread, with its first call, CPU", "ms", 1),
        ("record at full rate, first pass over the ring", "ns", 15), ("record at full rate, later passes", "ns", 12),
        ("reading of the clock, one for each record", "ns", None),
        ("page faults of the first pass over the ring", "", None))


def shimmed_output(bench, flavour, command, level):
    """(lines a command prints under the shim, spans lost), one rank."""
    preload = bench.program("lib", "libcrit_pmpi.so")
    option = {"openmpi": ["-x", f"LD_PRELOAD={preload}"],
              "mpich": ["-genv", "LD_PRELOAD", preload]}[flavour]
    folder = bench.folder()
    said = output_of([f"mpirun.{flavour}", "-np", "1", *option, *command], cwd=folder,
                     env={"CRIT_DIR": os.path.join(folder, "run"), "CRIT_LEVEL": level})
    return said.splitlines(), finished_recording(folder).shim_lost


def call_costs(bench, flavour, level):
    """({call: [added ns, …]}, spans lost) of call_cost; measured once."""
    if (flavour, level) in bench.call_costs:
        return bench.call_costs[flavour, level]
    program = bench.program("tests", "apps", f"call_cost.{flavour}")
    added, lost = {}, 0
    for _ in range(bench.rounds):
        lines, lost_now = shimmed_output(bench, flavour, [program, CHUNKS], level)
        for line in lines:
            name, _, _, nanoseconds = line.split()
            added.setdefault(name, []).append(float(nanoseconds))
        lost += lost_now
    bench.call_costs[flavour, level] = added, lost
    return added, lost


def peer_costs(bench, flavour):
    """{call: added ns} of call_cost under EZTrace, which stands before PMPI as the shim does; or None."""
    program = bench.program("tests", "apps", f"call_cost.{flavour}")
    if not shutil.which("eztrace"):
        return None
    folder = bench.folder()
    said = output_of([f"mpirun.{flavour}", "-np", "1", "eztrace", "-t", flavour, "-o",
                      os.path.join(folder, "trace"), program, CHUNKS], cwd=folder)
    shutil.rmtree(folder)
    rows = [line.split() for line in said.splitlines()]
    known = {call for call, *_ in CALLS["trace"]}
    return {row[0]: float(row[3]) for row in rows if len(row) == 4 and row[0] in known}


def peer_of(peers, call, calls):
    """What EZTrace adds in this very run, as text."""
    if not peers or call not in peers:
        return "EZTrace: not measurable"
    added_ns = peers[call] / calls
    return f"EZTrace {added_ns:.0f} ns" if added_ns > 5 else "EZTrace does not wrap it"


def fortran_costs(bench, flavour, interface):
    """{call: [added ns, …]} of fortran_cost, runs without and with the shim in turns."""
    program = bench.program("tests", "apps", f"fortran_cost_{interface}.{flavour}")
    added = {}
    for _ in range(bench.rounds):
        bare = output_of([f"mpirun.{flavour}", "-np", "1", program, CHUNKS], cwd=bench.folder(),
                         env={})
        bare_ns = dict(line.split() for line in bare.splitlines())
        for line in shimmed_output(bench, flavour, [program, CHUNKS], "trace")[0]:
            name, nanoseconds = line.split()
            added.setdefault(name, []).append(float(nanoseconds) - float(bare_ns[name]))
    return added


def lines_call(bench):
    for flavour, level in itertools.product(("openmpi", "mpich"), ("trace", "profile")):
        added, lost = call_costs(bench, flavour, level)
        peers = peer_costs(bench, flavour) if level == "trace" else None
        for call, calls, readings, bar, aim in CALLS[level]:
            name = f"MPI call, {level}, {call}{WHAT.get((level, call), '')}, {flavour}"
            if call not in added:
                yield name, None, "", None, None, "not measurable: not in this library"
                continue
            each = [nanoseconds / calls for nanoseconds in added[call]]
            notes = [spread(each)]
            if readings:
                notes.append(bench.readings(readings))
            if level == "trace":
                notes.append(peer_of(peers, call, calls))
            yield name, median(each), "ns", bar, aim, "; ".join(notes)
        if level == "trace":
            yield f"MPI spans lost meanwhile, {flavour}", lost, "", 0, 0, ""


def lines_ring(bench):
    """What a thread pays for a ring of its own, and for each record it writes there at full rate."""
    for flavour in ("openmpi", "mpich"):
        program = bench.program("tests", "apps", f"ring_cost.{flavour}")
        figures, lost = [], 0
        for _ in range(bench.rounds):
            lines, lost_now = shimmed_output(bench, flavour, [program], "trace")
            if lines:
                figures.append([float(word) for word in lines[-1].split()])
            lost += lost_now
        if not figures:
            yield f"ring of a thread, {flavour}", None, "", None, None, "not measurable: MPI gives one thread"
            continue
        for (what, unit, bar), values in zip(RING, zip(*figures)):
            yield f"{what}, {flavour}", median(values), unit, bar, None, spread(values)
        yield f"MPI spans lost at that rate, {flavour}", lost, "", 0, 0, ""


def lines_fortran(bench):
    for flavour, interface in itertools.product(("openmpi", "mpich"), ("mpifh", "usempif08")):
        added = fortran_costs(bench, flavour, interface)
        for call in ("Comm_rank", "Iprobe", "Allreduce"):
            yield (f"{interface} call, trace, {call}, {flavour}", median(added[call]), "ns", 60, 25,
                   spread(added[call]))


def line_application(bench):
    """What the events of the heat solver on two ranks cost, over its own CPU time.

    A machine's noise is ten times what two runs differ by, so no two runs are compared: calls by what a call
    costs, records by what one costs a member, and the collector's own CPU time but for its start.
    """
    heat = bench.program("tests", "apps", "heat.openmpi")
    command = ["mpirun.openmpi", "-np", "2", heat, str(HEAT_STEPS)]
    preload = "LD_PRELOAD=" + bench.program("lib", "libcrit_pmpi.so")
    call_ns = median(call_costs(bench, "openmpi", "trace")[0]["Allreduce"])
    record_ns, start_s = member_record_ns(bench), collector_start_s(bench)
    values = []
    for _ in range(min(HEAT_ROUNDS, bench.rounds)):
        alone_s = run(command, cwd=bench.folder())[0]
        folder = bench.folder()
        run(command[:1] + ["-x", preload] + command[1:], cwd=folder,
            env={"CRIT_DIR": os.path.join(folder, "run"), "CRIT_OTF2": "0"})
        recording = finished_recording(folder)
        calls = sum(call["visits"] for call in recording.report()["mpi_calls"])
        added_s = (calls * call_ns + recording.kernel_records * record_ns) * 1e-9
        values.append(1 + (added_s + recording.critd_cpu_s - start_s) / alone_s)
    yield ("MPI application (heat) and critd", median(values), "x", 1.02, 1.005,
           f"{spread(values)}; {calls} calls at {call_ns:.0f} ns, "
           f"{recording.kernel_records} records at {record_ns:.0f} ns")


LINES = (lines_call, lines_ring, lines_fortran, line_application)
