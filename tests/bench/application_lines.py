# SPDX-License-Identifier: BSD-3-Clause
"""Programs of other people that call MPI without rest: alone, under crit, and under EZTrace.

No bars: MUMPS polls 3 million times a second, and NetPIPE does nothing but MPI calls.
"""
import os
import shutil
import subprocess
import sys

from measure import finished_recording, interleave, median, ratios, run, spread

HERE = os.path.dirname(os.path.abspath(__file__))
DSIMPLETEST = "/usr/lib/mumps/dsimpletest"
CUBE_EDGE = 32
ROUND_TRIPS = 50000


def under_crit(bench, launch, program):
    """CPU seconds of the ranks and critd; what was lost is an error."""
    folder = bench.folder()
    preload = "LD_PRELOAD=" + bench.program("lib", "libcrit_pmpi.so")
    cpu_s = run([*launch, "-x", preload, *program], cwd=folder,
                env={"CRIT_DIR": os.path.join(folder, "run"), "CRIT_OTF2": "0"})[0]
    recording = finished_recording(folder)
    if recording.shim_lost:
        raise RuntimeError(f"{recording.shim_lost} shim records lost")
    size_bytes = recording.size_bytes
    shutil.rmtree(folder)
    return cpu_s + recording.critd_cpu_s, size_bytes


def under_eztrace(bench, launch, program):
    folder = bench.folder()
    cpu_s = run([*launch, "eztrace", "-t", "openmpi", "-o", os.path.join(folder, "trace"),
                 *program], cwd=folder)[0]
    size_bytes = sum(os.path.getsize(os.path.join(path, name))
                     for path, _, names in os.walk(folder) for name in names)
    shutil.rmtree(folder)
    return cpu_s, size_bytes


def rows(bench, what, program):
    launch = ["mpirun.openmpi", "-np", "2"]
    sizes = {}

    def noting(name, measure):
        def measured():
            cpu_s, sizes[name] = measure(bench, launch, program)
            return cpu_s
        return measured

    variants = {"alone": lambda: run([*launch, *program], cwd=bench.scratch)[0],
                "crit": noting("crit", under_crit)}
    if shutil.which("eztrace"):
        variants["EZTrace"] = noting("EZTrace", under_eztrace)
    figures = interleave(bench.rounds, variants)
    for name in list(variants)[1:]:
        values = ratios(figures, name)
        yield (f"{what}, {name}", median(values), "x", None, None,
               f"{spread(values)}; {sizes[name] / 1e6:.1f} MB")


def lines_mumps(bench):
    program = bench.tool(DSIMPLETEST)
    system = os.path.join(bench.scratch, "system")
    maker = os.path.join(HERE, "..", "accept", "applications", "laplacian.py")
    with open(system, "w", encoding="ascii") as file:
        subprocess.run([sys.executable, maker, str(CUBE_EDGE)], stdout=file, check=True)
    yield from rows(bench, "MUMPS (Fortran, polls) and critd",
                    ["sh", "-c", f"exec {program} <{system}"])


def lines_netpipe(bench):
    program = bench.tool("NPopenmpi")
    yield from rows(bench, "NetPIPE (64 bytes) and critd",
                    [program, "-l", "64", "-u", "64", "-n", str(ROUND_TRIPS), "-o", "/dev/null"])


LINES = (lines_mumps, lines_netpipe)
