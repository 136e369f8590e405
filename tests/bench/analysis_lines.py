# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the analysis: events per second of one core, and memory as the run grows."""
import glob
import json
import os

from measure import median, output_of, run, spread

# Seconds of a synthetic run of 8 ranks; the second is four times as long.
SIZES_S = (2, 8)


def synthetic(bench, seconds):
    """Recordings of a synthetic run; their paths."""
    folder = bench.folder()
    run([bench.program("bin", "crit-synth"), "-r", "8", "-e", "100000", "-s", str(seconds), folder])
    return sorted(glob.glob(os.path.join(folder, "**", "*.crit"), recursive=True))


def analyse(bench, paths):
    """What bench-analysis says of one run over the recordings."""
    return json.loads(output_of([bench.program("bin", "bench-analysis"), *paths]))


def line_analysis(bench):
    rates, peaks, events = [], [], 0
    for seconds in SIZES_S:
        paths = synthetic(bench, seconds)
        said = [analyse(bench, paths) for _ in range(bench.rounds)]
        rates = [s["events_per_cpu_s"] / 1e6 for s in said]
        peaks.append(median([s["peak_rss_kib"] for s in said]))
        events = said[0]["events"]
    yield ("analysis, million events per second", median(rates), "", 5, 20,
           f"{spread(rates)}; {events / 1e6:.1f} M events", True)
    yield ("analysis, memory of a run 4 times as long", peaks[1] / peaks[0], "x", 1.1, 1.02,
           f"{peaks[0] / 1024:.0f} MiB, then {peaks[1] / 1024:.0f} MiB")


LINES = (line_analysis,)
