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
# Options of crit-synth for about a million events, or two.
SHAPES = {
    "1,024 ranks of one node": ("-r", "1024", "-e", "400", "-s", "3"),
    "messages of 1,024 ranks": ("-n", "16", "-r", "64", "-S", "-m", "-e", "400", "-s", "5"),
    "messages of 4,096 ranks": ("-n", "64", "-r", "64", "-S", "-m", "-e", "100", "-s", "5"),
}
SHORT_THREADS = 40000


def made(bench, *options):
    """Recordings of crit-synth with these options; their paths."""
    folder = bench.folder()
    run([bench.program("bin", "crit-synth"), *options, folder])
    return sorted(glob.glob(os.path.join(folder, "**", "*.crit"), recursive=True))


def synthetic(bench, seconds, *options):
    """Recordings of a synthetic run of 8 ranks; their paths."""
    return made(bench, "-r", "8", "-e", "100000", "-s", str(seconds), *options)


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


def lines_shapes(bench):
    """Events per second of one core where ranks, messages or places in the program are many."""
    for name, options in SHAPES.items():
        paths = made(bench, *options)
        said = [analyse(bench, paths) for _ in range(bench.rounds)]
        rates = [s["events_per_cpu_s"] / 1e6 for s in said]
        yield (f"analysis, {name}, million events per second", median(rates), "", 5, None,
               f"{spread(rates)}; {said[0]['events'] / 1e6:.1f} M events in "
               f"{median([s['cpu_s'] for s in said]):.2f} s, {bench.pages(said[0]['page_faults'])}", True)
        shutil.rmtree(os.path.dirname(paths[0]), ignore_errors=True)


def line_ranks_of_one_node(bench):
    """16,384 ranks: what each costs beyond its events, and whose state no cache holds."""
    for seconds in (1, 4):
        paths = synthetic(bench, seconds, "-r", "16384", "-e", "100")
        said = [analyse(bench, paths) for _ in range(bench.rounds)]
        rates = [s["events_per_cpu_s"] / 1e6 for s in said]
        rank_kib = median([s["peak_rss_kib"] for s in said]) / 16384
        yield (f"analysis of 16,384 ranks on a node, {seconds} s, million events per second",
               median(rates), "", 5, None,
               f"{spread(rates)}; {median([s['cpu_s'] for s in said]):.2f} s, "
               f"{bench.pages(said[0]['page_faults'])}; {rank_kib:.1f} KiB a rank", True)


def line_places(bench):
    """Barriers from 20,000 places in each of 4 ranks, or in 5,000 phases: what that costs beyond one.

    The places are in no file, so no two ranks have one in common: the report has 80,000.
    """
    crit = bench.program("bin", "crit")
    for option, count, name in (("-k", 20000, "call sites in each of 4 ranks"), ("-p", 5000, "phases")):
        few, many = (synthetic(bench, 4, "-r", "4", option, str(n)) for n in (1, count))
        beyond = [analyse(bench, many)["cpu_s"] - analyse(bench, few)["cpu_s"] for _ in range(bench.rounds)]
        yield (f"analysis of {count:,} {name} beyond that of one", median(beyond), "s", 0.3, None, spread(beyond))
        pairs = [[run([crit, "report", "--json", *paths]) for paths in (many, few)] for _ in range(bench.rounds)]
        beyond = [more.cpu_s - less.cpu_s for more, less in pairs]
        yield (f"crit report --json of {count:,} {name} beyond that of one", median(beyond), "s", 0.3, None,
               f"{spread(beyond)}; {bench.pages(pairs[0][0].faults - pairs[0][1].faults)}")


def line_report(bench):
    """Twice the ranks and nodes, each with 6 neighbours; report.json grows with the ranks."""
    crit, ratios = bench.program("bin", "crit"), []
    less, more = (synthetic(bench, 1, "-n", nodes, "-r", "64", "-x", "6", "-e", "100") for nodes in ("32", "64"))
    for _ in range(bench.rounds):
        cpu_s = [run([crit, "report", "--json", *paths])[0] for paths in (less, more)]
        ratios.append(cpu_s[1] / cpu_s[0])
    yield ("CPU of crit report, 4,096 ranks beside 2,048", median(ratios), "x", None, None, spread(ratios))


def bytes_in(folder):
    return sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names)


def cpu_s_of(action, *arguments):
    """CPU s that an action takes this process."""
    before = os.times()
    action(*arguments)
    after = os.times()
    return after.user - before.user + after.system - before.system


def line_export(bench):
    """Events written of ranks that spin in MPI; the analysis that replays them is included."""
    crit = bench.program("bin", "crit")
    rates, peaks, events = [], [], 0
    for seconds in EXPORT_SIZES_S:
        paths, rates, peak = synthetic(bench, seconds, "-S", "-r", "2"), [], []
        for _ in range(bench.rounds):
            folder = bench.folder()
            usage = run([crit, "export", "otf2", "-o", folder, *paths])
            said = output_of([crit, "verify", folder])
            events = int(re.search(r"(\d+) events", said).group(1))
            rates.append(events / usage.cpu_s / 1e6)
            peak.append(usage.peak_bytes)
            shutil.rmtree(folder)  # some hundred MiB
        peaks.append(median(peak))
    yield ("OTF2 export, million events per second", median(rates), "", 6, None,
           f"{spread(rates)}; {events / 1e6:.1f} M events, {bench.pages(usage.faults)}", True)
    yield ("OTF2 export, memory of a run 4 times as long", peaks[1] / peaks[0], "x", 1.1, 1.02,
           f"{peaks[0] / 2**20:.0f} MiB, then {peaks[1] / 2**20:.0f} MiB")


def write_bare_files(folder, size_bytes):
    """As many files, each with a second name, as the archive of SHORT_THREADS threads has."""
    content = bytes(size_bytes)
    for number in range(SHORT_THREADS):
        path = os.path.join(folder, str(number))
        with open(path, "xb", buffering=0) as file:
            file.write(content)
        os.link(path, path + ".def")


def line_threads(bench):
    """
    The archive of a rank that starts one short thread after the other.  All rounds first: ext4 steps over
    each inode freed within the last minutes, so that the files of one round would slow down those of the next.
    """
    crit = bench.program("bin", "crit")
    paths, costs = made(bench, "-b", str(SHORT_THREADS)), []
    folders = [bench.folder() for _ in range(bench.rounds)]
    for folder in folders:
        costs.append(run([crit, "export", "otf2", "-o", folder, *paths])[0])
    size_bytes = bytes_in(folders[0])
    bare_s = cpu_s_of(write_bare_files, bench.folder(), size_bytes // SHORT_THREADS)
    for folder in folders:
        shutil.rmtree(folder)
    yield (f"OTF2 export of {SHORT_THREADS} short threads", median(costs), "s", 2, None,
           f"{spread(costs)}; as many bare files {bare_s:.2f} s")
    yield "archive per short thread", size_bytes / SHORT_THREADS, "B", 1024, None, ""


def line_unwind(bench):
    """Call paths of the synthesis of a run, from copies of its stack."""
    command = [bench.program("bin", "crit-synth"), "-r", "8", "-e", "100000", "-s", "8"]
    said = [json.loads(output_of([bench.program("bin", "bench-unwind"), *command, bench.folder()]).splitlines()[-1])
            for _ in range(bench.rounds)]
    frames = [s["ns_per_frame"] for s in said]
    rules = [s["us_per_rule"] for s in said]
    yield ("unwinding, CPU per frame", median(frames), "ns", 30, 20,
           f"{spread(frames)}; {said[0]['copies']} copies of {said[0]['depth']} frames")
    yield ("unwinding, CPU per rule read, files opened", median(rules), "us", 300, None,
           f"{spread(rules)}; {said[0]['rules']} rules")


LINES = (line_analysis, line_messages, lines_shapes, line_ranks_of_one_node, line_places, line_report, line_export,
         line_threads, line_unwind)
