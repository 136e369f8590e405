# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the start: what MPI_Init, a barrier and MPI_Finalize take longer on two ranks."""
import os
import signal
import subprocess

from collectors import is_confined
from measure import finished_recording, interleave, median, run, spread, wait_for

ROUNDS_LEAST = 15
COLD_S = {"openmpi": (0.03, 0.02), "mpich": (0.05, 0.02)}
WARM_S = (0.02, 0.01)


def wall_s(bench, flavour, env=None):
    """Of the launch, under the shim with env; what is recorded has ended before the next one."""
    program = [bench.program("tests", "apps", f"barrier_imbalance.{flavour}"), "-n", "1", "-m", "0"]
    launch = [bench.tool(f"mpirun.{flavour}"), "-np", "2"]
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


def lines_start(bench):
    """Pairs of launches: without crit; with a collector of their own; with one that is kept."""
    socket = os.path.join(bench.folder(), "socket")
    with subprocess.Popen([bench.program("bin", "critd"), "--service", "--socket-path", socket],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as kept:
        try:
            wait_for(lambda: is_confined(kept.pid), "collector")
            for flavour, cold_s in COLD_S.items():
                figures = interleave(max(bench.rounds, ROUNDS_LEAST), {
                    "alone": lambda flavour=flavour: wall_s(bench, flavour),
                    "cold": lambda flavour=flavour: wall_s(bench, flavour, {}),
                    "kept": lambda flavour=flavour: wall_s(bench, flavour,
                                                           {"CRIT_SOCKET": socket})})
                for name, bars in (("cold", cold_s), ("kept", WARM_S)):
                    added = [a - b for a, b in zip(figures[name], figures["alone"])]
                    yield (f"start, {flavour}, collector {name}: added wall", median(added), "s",
                           *bars, f"{spread(added)}; alone {median(figures['alone']):.3f} s")
        finally:
            kept.send_signal(signal.SIGTERM)


LINES = (lines_start,)
