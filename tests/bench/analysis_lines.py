# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the analysis and the OTF2 export: events per second of one core, and memory as the run grows."""
import glob
import json
import os
import re
import shutil

from measure import median, output_of, run, spread

# Seconds of a synthetic run of 8 ranks; the second is four times as long.
SIZES_S = (2, 8)
# Of 2 ranks: both fill the 4 MiB that libotf2 keeps per file.
EXPORT_SIZES_S = (4, 16)


def synthetic(bench, seconds, *options):
    """Recordings of a synthetic run; their paths."""
    folder = bench.folder()
    run([bench.program("bin", "crit-synth"), "-r", "8", "-e", "100000", "-s", str(seconds), *options, folder])
    return sorted(glob.glob(os.path.join(folder, "**", "*.crit"), recursive=True))


def analyse(bench, paths):
    """What bench-analysis says of one run over the recordings."""
    return json.loads(output_of([bench.program("bin", "bench-analysis"), *paths]))


def lines_of(bench, name, *options):
    """The two lines of one kind of run."""
    rates, peaks, events = [], [], 0
    for seconds in SIZES_S:
        paths = synthetic(bench, seconds, *options)
        said = [analyse(bench, paths) for _ in range(bench.rounds)]
        rates = [s["events_per_cpu_s"] / 1e6 for s in said]
        peaks.append(median([s["peak_rss_kib"] for s in said]))
        events = said[0]["events"]
    yield (f"{name}, million events per second", median(rates), "", 5, 20,
           f"{spread(rates)}; {events / 1e6:.1f} M events", True)
    yield (f"{name}, memory of a run 4 times as long", peaks[1] / peaks[0], "x", 1.1, 1.02,
           f"{peaks[0] / 1024:.0f} MiB, then {peaks[1] / 1024:.0f} MiB")


def line_analysis(bench):
    yield from lines_of(bench, "analysis")


def line_messages(bench):
    yield from lines_of(bench, "analysis with messages", "-S", "-m", "-e", "40000")


def line_messages_of_many(bench):
    """4,096 ranks on 64 nodes that exchange with their neighbours."""
    paths = synthetic(bench, 5, "-n", "64", "-r", "64", "-S", "-m", "-e", "100")
    said = [analyse(bench, paths) for _ in range(bench.rounds)]
    rates = [s["events_per_cpu_s"] / 1e6 for s in said]
    yield ("analysis with messages of 4,096 ranks, million events per second", median(rates), "", 5, None,
           f"{spread(rates)}; {said[0]['events'] / 1e6:.1f} M events", True)


def line_export(bench):
    """Events written of ranks that spin in MPI; the analysis that replays them is included."""
    crit = bench.program("bin", "crit")
    rates, peaks, events = [], [], 0
    for seconds in EXPORT_SIZES_S:
        paths, rates, peak = synthetic(bench, seconds, "-S", "-r", "2"), [], []
        for _ in range(bench.rounds):
            folder = bench.folder()
            cpu_s, _, peak_bytes = run([crit, "export", "otf2", "-o", folder, *paths])
            said = output_of([crit, "verify", folder])
            events = int(re.search(r"(\d+) events", said).group(1))
            rates.append(events / cpu_s / 1e6)
            peak.append(peak_bytes)
            shutil.rmtree(folder)  # some hundred MiB
        peaks.append(median(peak))
    yield ("OTF2 export, million events per second", median(rates), "", 3, None,
           f"{spread(rates)}; {events / 1e6:.1f} M events", True)
    yield ("OTF2 export, memory of a run 4 times as long", peaks[1] / peaks[0], "x", 1.1, 1.02,
           f"{peaks[0] / 2**20:.0f} MiB, then {peaks[1] / 2**20:.0f} MiB")


LINES = (line_analysis, line_messages, line_messages_of_many, line_export)
