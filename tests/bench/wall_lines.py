# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the wall clock: what a job waits for at its end."""
import os
import shutil
import time

from measure import finished_recording, median, run, spread, wait_for
from start_lines import COLD_S

CHATTY = ("1", "64")  # of exchange_only: seconds, bytes of a message
LAUNCH = {"openmpi": ("-np", "2", "-x"), "mpich": ("-np", "2", "-genv")}


def mpirun(bench, flavour, program, arguments, is_shimmed):
    """A launch of two ranks that waits for the report as long as by default."""
    preload = bench.program("lib", "libcrit_pmpi.so")
    count, ranks, option = LAUNCH[flavour]
    variable = [f"LD_PRELOAD={preload}"] if flavour == "openmpi" else ["LD_PRELOAD", preload]
    return ["env", "-u", "CRIT_FINISH_S", f"mpirun.{flavour}", count, ranks,
            *([option, *variable] if is_shimmed else []),
            bench.program("tests", "apps", f"{program}.{flavour}"), *arguments]


def wall_s(bench, flavour, program, arguments, is_shimmed):
    """Wall seconds, and the folder of the run."""
    folder = bench.folder()
    command = mpirun(bench, flavour, program, arguments, is_shimmed)
    return run(command, cwd=folder, env={"CRIT_DIR": os.path.join(folder, "run")})[1], folder


def lines_end(bench):
    """Ranks that do nothing but MPI calls for a second: what rank 0 waits for the report, and when it is there."""
    for flavour in LAUNCH:
        shares, delays, millions = [], [], 0
        for _ in range(bench.rounds):
            alone_s = wall_s(bench, flavour, "exchange_only", CHATTY, False)[0]
            seconds, folder = wall_s(bench, flavour, "exchange_only", CHATTY, True)
            end = time.monotonic()
            recording = finished_recording(folder)
            wait_for(lambda path=os.path.join(recording.folder, "report.json"): os.path.exists(path), "report")
            millions = recording.shim_slots / 1e6
            delays.append((time.monotonic() - end) / millions)
            shares.append((seconds - alone_s) / (COLD_S[flavour][0] + 0.15 + 0.1 * millions))
            shutil.rmtree(folder, ignore_errors=True)
        yield (f"wall added by a chatty run, of what it may, {flavour}", median(shares), "x", 1, None,
               f"{spread(shares)}; {millions:.1f} M slots")
        yield (f"report after its end, per million slots, {flavour}", median(delays), "s", 1, None,
               spread(delays))


LINES = (lines_end,)
