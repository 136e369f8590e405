# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the MPI shim: what a call pays, and what a real program pays."""
import os

from measure import finished_recording, interleave, median, output_of, ratios, run, spread

HEAT_STEPS = 3000


def call_costs(bench, flavour, level):
    """({call: [added ns, …]}, spans lost) of call_cost under the shim, one rank."""
    program = bench.program("tests", "apps", f"call_cost.{flavour}")
    preload = bench.program("lib", "libcrit_pmpi.so")
    option = {"openmpi": ["-x", f"LD_PRELOAD={preload}"],
              "mpich": ["-genv", "LD_PRELOAD", preload]}[flavour]
    added, lost = {}, 0
    for _ in range(bench.rounds):
        folder = bench.folder()
        said = output_of([f"mpirun.{flavour}", "-np", "1", *option, program], cwd=folder,
                         env={"CRIT_DIR": os.path.join(folder, "run"), "CRIT_LEVEL": level})
        for line in said.splitlines():
            name, _, _, nanoseconds = line.split()
            added.setdefault(name, []).append(float(nanoseconds))
        lost += finished_recording(folder).shim_lost
    return added, lost


def lines_call(bench):
    for flavour in ("openmpi", "mpich"):
        added, lost = call_costs(bench, flavour, "trace")
        for call in ("Comm_rank", "Iprobe"):
            yield (f"MPI call, trace, {call}, {flavour}", median(added[call]), "ns", 60, 25,
                   f"{spread(added[call])}; mpiP 95 ns to 9 us, TALP 180 to 380 ns")
        yield f"MPI spans lost meanwhile, {flavour}", lost, "", 0, 0, ""
        added, _ = call_costs(bench, flavour, "profile")
        yield (f"MPI call, profile, Comm_rank, {flavour}", median(added["Comm_rank"]), "ns", 10, 3,
               spread(added["Comm_rank"]))


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


LINES = (lines_call, line_application)
