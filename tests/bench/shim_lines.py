# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the MPI shim: what a call pays, and what a real program pays."""
import itertools
import os
import shutil

from kernel_lines import member_record_ns
from measure import finished_recording, median, output_of, run, spread

HEAT_STEPS = 3000
CALLS = (("Comm_rank", 1), ("Iprobe", 1), ("Allreduce", 1), ("Irecv_Send_Wait", 3))  # and how many each is


def shimmed_output(bench, flavour, program, level):
    """(lines a program prints under the shim, spans lost), one rank."""
    preload = bench.program("lib", "libcrit_pmpi.so")
    option = {"openmpi": ["-x", f"LD_PRELOAD={preload}"],
              "mpich": ["-genv", "LD_PRELOAD", preload]}[flavour]
    folder = bench.folder()
    said = output_of([f"mpirun.{flavour}", "-np", "1", *option, program], cwd=folder,
                     env={"CRIT_DIR": os.path.join(folder, "run"), "CRIT_LEVEL": level})
    return said.splitlines(), finished_recording(folder).shim_lost


def call_costs(bench, flavour, level):
    """({call: [added ns, …]}, spans lost) of call_cost."""
    program = bench.program("tests", "apps", f"call_cost.{flavour}")
    added, lost = {}, 0
    for _ in range(bench.rounds):
        lines, lost_now = shimmed_output(bench, flavour, program, level)
        for line in lines:
            name, _, _, nanoseconds = line.split()
            added.setdefault(name, []).append(float(nanoseconds))
        lost += lost_now
    return added, lost


def peer_costs(bench, flavour):
    """{call: added ns} of call_cost under EZTrace, which stands before PMPI as the shim does; or None."""
    program = bench.program("tests", "apps", f"call_cost.{flavour}")
    if not shutil.which("eztrace"):
        return None
    folder = bench.folder()
    said = output_of([f"mpirun.{flavour}", "-np", "1", "eztrace", "-t", flavour, "-o",
                      os.path.join(folder, "trace"), program], cwd=folder)
    shutil.rmtree(folder)
    rows = [line.split() for line in said.splitlines()]
    return {row[0]: float(row[3]) for row in rows if len(row) == 4 and row[0] in dict(CALLS)}


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
        bare = output_of([f"mpirun.{flavour}", "-np", "1", program], cwd=bench.folder(), env={})
        bare_ns = dict(line.split() for line in bare.splitlines())
        for line in shimmed_output(bench, flavour, program, "trace")[0]:
            name, nanoseconds = line.split()
            added.setdefault(name, []).append(float(nanoseconds) - float(bare_ns[name]))
    return added


def lines_call(bench):
    for flavour in ("openmpi", "mpich"):
        added, lost = call_costs(bench, flavour, "trace")
        peers = peer_costs(bench, flavour)
        for call, calls in CALLS:
            each = [nanoseconds / calls for nanoseconds in added[call]]
            yield (f"MPI call, trace, {call}, {flavour}", median(each), "ns", 60, 25,
                   f"{spread(each)}; {peer_of(peers, call, calls)}")
        yield f"MPI spans lost meanwhile, {flavour}", lost, "", 0, 0, ""
        added, _ = call_costs(bench, flavour, "profile")
        for call, calls in (("Comm_rank", 1), ("Send_init_free", 2)):
            each = [nanoseconds / calls for nanoseconds in added[call]]
            yield (f"MPI call, profile, {call}, {flavour}", median(each), "ns", 10, 3,
                   spread(each))


def lines_fortran(bench):
    for flavour, interface in itertools.product(("openmpi", "mpich"), ("mpifh", "usempif08")):
        added = fortran_costs(bench, flavour, interface)
        for call in ("Comm_rank", "Iprobe", "Allreduce"):
            yield (f"{interface} call, trace, {call}, {flavour}", median(added[call]), "ns", 60, 25,
                   spread(added[call]))


def line_application(bench):
    """What the events of the heat solver on two ranks cost, over its own CPU time.

    A machine's noise is ten times what two runs differ by, so no two runs are compared: calls by what a call
    costs, records by what one costs a member, and the collector's own CPU time.
    """
    heat = bench.program("tests", "apps", "heat.openmpi")
    command = ["mpirun.openmpi", "-np", "2", heat, str(HEAT_STEPS)]
    preload = "LD_PRELOAD=" + bench.program("lib", "libcrit_pmpi.so")
    call_ns = median(call_costs(bench, "openmpi", "trace")[0]["Allreduce"])
    record_ns = member_record_ns(bench)
    values = []
    for _ in range(bench.rounds):
        alone_s = run(command)[0]
        folder = bench.folder()
        run(command[:1] + ["-x", preload] + command[1:], cwd=folder,
            env={"CRIT_DIR": os.path.join(folder, "run"), "CRIT_OTF2": "0"})
        recording = finished_recording(folder)
        calls = sum(call["visits"] for call in recording.report()["mpi_calls"])
        added_s = (calls * call_ns + recording.kernel_records * record_ns) * 1e-9
        values.append(1 + (added_s + recording.critd_cpu_s) / alone_s)
    yield ("MPI application (heat) and critd", median(values), "x", 1.02, 1.005,
           f"{spread(values)}; {calls} calls at {call_ns:.0f} ns, "
           f"{recording.kernel_records} records at {record_ns:.0f} ns")


LINES = (lines_call, lines_fortran, line_application)
