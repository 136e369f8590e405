# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the start: what MPI_Init, a barrier and MPI_Finalize take longer."""
import itertools
import os
import signal
import subprocess

from collectors import is_confined
from measure import finished_recording, interleave, median, run, spread, wait_for

ROUNDS_LEAST = 15
COLD_S = {"openmpi": (0.03, 0.02), "mpich": (0.05, 0.02)}
WARM_S = (0.02, 0.01)
RANKS = 2


def wall_s(bench, flavour, ranks, env=None):
    """Of the launch, under the shim with env; what is recorded has ended before the next one."""
    program = [bench.program("tests", "apps", f"barrier_imbalance.{flavour}"), "-n", "1", "-m", "0"]
    launch = [bench.tool(f"mpirun.{flavour}"), "-np", str(ranks)]
    if env is None:
        return run([*launch, *program], cwd=bench.scratch)[1]
    preload = bench.program("lib", "libcrit_pmpi.so")
    option = {"openmpi": ["-x", f"LD_PRELOAD={preload}"],
              "mpich": ["-genv", "LD_PRELOAD", preload]}[flavour]
    folder = bench.folder()
    elapsed_s = run([*launch, *option, *program], cwd=folder,
                    env={"CRIT_DIR": os.path.join(folder, "run"), "CRIT_FINISH_S": "0", **env})[1]
    finished_recording(folder)
    return elapsed_s


def added_walls(bench, flavour, ranks, socket):
    """{cold, kept: added s of each round, alone: s}: with a collector of its own, and with one that is kept."""
    figures = interleave(max(bench.rounds, ROUNDS_LEAST), {
        "alone": lambda: wall_s(bench, flavour, ranks),
        "cold": lambda: wall_s(bench, flavour, ranks, {}),
        "kept": lambda: wall_s(bench, flavour, ranks, {"CRIT_SOCKET": socket})})
    return {name: values if name == "alone" else [a - b for a, b in zip(values, figures["alone"])]
            for name, values in figures.items()}


def lines_start(bench):
    """The bars are for launches that leave a CPU free; where ranks spin on all CPUs, who records waits for them."""
    socket, cpus = os.path.join(bench.folder(), "socket"), len(os.sched_getaffinity(0))
    with subprocess.Popen([bench.program("bin", "critd"), "--service", "--socket-path", socket],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as kept:
        try:
            wait_for(lambda: is_confined(kept.pid), "collector")
            for flavour, ranks in itertools.product(COLD_S, sorted({RANKS, max(1, min(RANKS, cpus - 1))})):
                figures = added_walls(bench, flavour, ranks, socket)
                for name, bars in (("cold", COLD_S[flavour]), ("kept", WARM_S)):
                    yield (f"start, {flavour}, {ranks} of {cpus} CPUs, collector {name}: added wall",
                           median(figures[name]), "s", *(bars if ranks < cpus else (None, None)),
                           f"{spread(figures[name])}; alone {median(figures['alone']):.3f} s")
        finally:
            kept.send_signal(signal.SIGTERM)


LINES = (lines_start,)
