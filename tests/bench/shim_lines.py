# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the MPI shim: what a call pays, and what a real program pays."""
import os

from measure import NotBuilt, finished_recording, interleave, median, ratios, run, spread

HEAT_STEPS = 3000


def lines_call(bench):
    bench.program("tests", "apps", "call_cost.openmpi")
    raise NotBuilt("how to read call_cost")


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
