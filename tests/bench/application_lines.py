# SPDX-License-Identifier: BSD-3-Clause
"""Programs of other people: what they take under crit and under EZTrace, and what their reports take with waits.

No bars where a program calls MPI without rest (MUMPS polls 3 million times a second, NetPIPE does nothing else), nor
for the report of 8 ranks of which nothing but waits is recorded.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

from measure import finished_recording, interleave, median, output_of, ratios, run, spread

HERE = os.path.dirname(os.path.abspath(__file__))
DSIMPLETEST = "/usr/lib/mumps/dsimpletest"
CUBE_EDGE = 32
ROUND_TRIPS = 50000
REPORT_MOST = 2  # times as much with waits
SYNTHETIC = {"8 ranks of crit-synth": (None, "-r", "8", "-m", "-e", "30000", "-s", "2"),
             "1,024 ranks of crit-synth": (REPORT_MOST, "-n", "16", "-r", "64", "-m", "-e", "1000", "-s", "1")}


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


def recorded(bench, ranks, *command):
    """The recording of a program under Open MPI."""
    folder = os.path.join(bench.folder(), "run")
    env = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "CRIT_OTF2": "0"}
    run([bench.program("bin", "crit"), "run", "-o", folder, "--", "mpirun.openmpi", "--oversubscribe",
         "-np", str(ranks), *command], env=env)
    return glob.glob(os.path.join(folder, "*.crit"))


def report_rows(bench, what, paths, most):
    """The report of recordings beside the one where the file of the waits would lie in memory, so it has none."""
    crit, out = bench.program("bin", "crit"), bench.folder()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        copies = [shutil.copy(path, memory) for path in paths]
        env = {"TMPDIR": memory}
        said = " ".join(output_of([crit, "report", *copies], env=env).split())
        if "no disk for the file of the waits" not in said:
            raise RuntimeError("the report without waits has some")
        figures = interleave(bench.rounds, {
            "without": lambda: run([crit, "report", "-o", out, *copies], env=env)[0],
            "with": lambda: run([crit, "report", "-o", out, *paths])[0]})
    values = ratios(figures, "with", "without")
    megabytes = sum(os.path.getsize(path) for path in paths) / 1e6
    yield (f"report with waits beside one without, {what}", median(values), "x", most, None,
           f"{spread(values)}; {megabytes:.0f} MB")


def lines_reports(bench):
    for what, (most, *options) in SYNTHETIC.items():
        folder = bench.folder()
        run([bench.program("bin", "crit-synth"), *options, folder])
        yield from report_rows(bench, what, sorted(glob.glob(os.path.join(folder, "*.crit"))), most)
    halo = [bench.program("tests", "apps", "halo.openmpi"), "20000", *4 * ["0.1"]]
    yield from report_rows(bench, "a stencil of 2 ranks", recorded(bench, 2, *halo), REPORT_MOST)
    atoms = os.path.join(HERE, "..", "accept", "applications", "two_cutoffs.in")
    for ranks in (2, 8):
        paths = recorded(bench, ranks, bench.tool("lmp"), "-in", atoms, "-log", "none")
        yield from report_rows(bench, f"LAMMPS of {ranks} ranks", paths, REPORT_MOST)


def line_places(bench):
    """What the report takes longer of a program that calls from 20,000 places, each with a name of its file."""
    crit, program = bench.program("bin", "crit"), bench.program("tests", "apps", "many_places.openmpi")
    few, many = (recorded(bench, 2, program, places, "12") for places in ("1", "20000"))
    sites = json.loads(output_of([crit, "report", "--json", *many]))["mpi_call_sites"]
    named = sum(site["function"] in ("meet_in_many", "main") for site in sites)
    if named < 20000:
        raise RuntimeError(f"{named} of {len(sites)} places have their names")
    pairs = [[run([crit, "report", "--json", *paths]) for paths in (many, few)] for _ in range(bench.rounds)]
    beyond = [more.cpu_s - less.cpu_s for more, less in pairs]
    yield ("crit report --json of a program with 20,000 call sites beyond that with one", median(beyond), "s", 0.3,
           None, f"{spread(beyond)}; {bench.pages(pairs[0][0].faults - pairs[0][1].faults)}")


LINES = (lines_mumps, lines_netpipe, lines_reports, line_places)
