# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of OpenMP: what a construct of one thread pays, and what threads that meet all the time pay."""
import os

from measure import finished_recording, interleave, median, output_of, ratios, run, spread

BARRIERS = 500000
PAIRS = 4  # of runs per round: two CPUs share a line in 150 ns or in 700, as the host places them
BARS = {"barrier": 40, "critical": 40, "single": 40, "parallel": 120}  # ns added by a construct
READINGS = {"barrier": 2, "critical": 3, "single": 2, "parallel": 2}  # of the clock, at least
RUNTIMES = {"llvm": "libomp", "gnu": "libgomp"}


def shimmed(bench):
    """(environment of a run under the shim, its folder)."""
    folder = bench.folder()
    return {"LD_PRELOAD": bench.program("lib", "libcrit_ompt.so"),
            "CRIT_DIR": os.path.join(folder, "run")}, folder


def costs(program, environment):
    """{construct: ns}."""
    lines = output_of([program], env=environment).splitlines()
    return {name: float(nanoseconds) for name, nanoseconds in map(str.split, lines)}


def lines_construct(bench):
    """Runs with and without the shim in turns; a runtime's own price of having a tool is in it."""
    for compiler, runtime in RUNTIMES.items():
        program = bench.program("tests", "apps", f"omp_cost-{compiler}")
        added, lost = {}, 0
        for _ in range(bench.rounds):
            bare = costs(program, {})
            environment, folder = shimmed(bench)
            with_it = costs(program, environment)
            lost += finished_recording(folder).shim_lost
            for name in BARS:
                added.setdefault(name, []).append(with_it[name] - bare[name])
        for name, values in added.items():
            has_none = name == "single" and runtime == "libgomp"  # it does not tell of them
            note = "" if has_none else f"; {bench.readings(READINGS[name])}"
            yield (f"OpenMP construct of one thread, {name}, {runtime}", median(values), "ns", BARS[name],
                   None, spread(values) + note)
        yield f"OpenMP spans lost meanwhile, {runtime}", lost, "", 0, 0, ""


def line_barriers(bench):
    """CPU time of the program alone, a thread per CPU: critd's is in what it takes from the threads' CPUs."""
    places = {"OMP_PLACES": "cores", "OMP_PROC_BIND": "spread"}
    command = [bench.program("tests", "apps", "omp_cost-llvm"), "barriers", str(BARRIERS)]

    def under_crit():
        environment, folder = shimmed(bench)
        cpu_s = run(command, env={**places, **environment})[0]
        finished_recording(folder)
        return cpu_s

    figures = interleave(PAIRS * bench.rounds,
                         {"alone": lambda: run(command, env=places)[0], "shimmed": under_crit})
    values = ratios(figures, "shimmed")
    yield "OpenMP barrier loop of two threads, CPU", median(values), "x", 1.25, None, spread(values)


LINES = (lines_construct, line_barriers)
