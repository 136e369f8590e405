# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the MPI shim: what a call pays, and what a real program pays."""
import itertools
import os

from measure import finished_recording, interleave, median, output_of, ratios, run, spread

HEAT_STEPS = 3000


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
        for call, calls in (("Comm_rank", 1), ("Iprobe", 1), ("Allreduce", 1),
                            ("Irecv_Send_Wait", 3)):
            each = [nanoseconds / calls for nanoseconds in added[call]]
            yield (f"MPI call, trace, {call}, {flavour}", median(each), "ns", 60, 25,
                   f"{spread(each)}; mpiP 95 ns to 9 us, TALP 180 to 380 ns")
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
    """The heat solver on two ranks, alone and under the shim and its collector."""
    heat = bench.program("tests", "apps", "heat.openmpi")
    command = ["mpirun.openmpi", "-np", "2", heat, str(HEAT_STEPS)]
    preload = "LD_PRELOAD=" + bench.program("lib", "libcrit_pmpi.so")

    def shimmed():
        folder = bench.folder()
        cpu_s = run(command[:1] + ["-x", preload] + command[1:], cwd=folder,
                    env={"CRIT_DIR": os.path.join(folder, "run")})[0]
        return cpu_s + finished_recording(folder).critd_cpu_s

    figures = interleave(bench.rounds, {"alone": lambda: run(command)[0], "shimmed": shimmed})
    values = ratios(figures, "shimmed")
    yield ("MPI application (heat) and critd", median(values), "x", 1.02, 1.005, spread(values))


LINES = (lines_call, lines_fortran, line_application)
