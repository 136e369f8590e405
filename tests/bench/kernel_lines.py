# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the kernel half and critd: what tasks pay, what critd pays, what is lost."""
import glob
import os
import signal
import subprocess

from collectors import collectors, programs_of, statistics
from measure import (NotBuilt, Recording, finished_recording, interleave, median, ratios, run,
                     spread, wait_for)

PIPE_LOOPS = 500000
NO_SAMPLES = {"CRIT_SAMPLE": "0"}
START_RUNS = 9
NOBODY = 65534
PERF_SCHED_RATIO = 2.4  # what perf sched record costs, and it needs privileges


def pipe(cpu, loops=PIPE_LOOPS):
    """Two processes of one CPU that wake each other: two switches per loop."""
    return ["taskset", "-c", str(cpu), "perf", "bench", "sched", "pipe", "-l", str(loops)]


def under_crit(bench, command, env=None):
    """Runs a command as members of a run; returns (CPU s of it, its Recording)."""
    folder = bench.folder()
    crit = bench.program("bin", "crit")
    bench.program("bin", "critd")
    cpu_s, elapsed_s, *_ = run([crit, "run", "--", *command],
                              env={"CRIT_DIR": os.path.join(folder, "run"), **(env or {})},
                              cwd=folder, allowed=(0, 3))
    recording = finished_recording(folder)
    if not recording.kernel_records:
        raise RuntimeError(f"{recording.path}: no kernel records; see crit doctor")
    recording.elapsed_s = elapsed_s
    return cpu_s, recording


def without_privileges(bench, command, env=None):
    """As under_crit, by an ordinary user: perf events stand in for the kernel half."""
    folder = bench.folder()
    os.chown(folder, NOBODY, NOBODY)
    user = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
    home = {name: folder for name in ("HOME", "TMPDIR", "XDG_RUNTIME_DIR")}
    cpu_s, elapsed_s, *_ = run([*user, bench.program("bin", "crit"), "run", "--", *command],
                              env={"CRIT_DIR": os.path.join(folder, "run"), **home, **(env or {})},
                              cwd=folder, allowed=(0, 3))
    recording = finished_recording(folder)
    if not recording.kernel_records:
        raise RuntimeError(f"{recording.path}: no kernel records; see crit doctor")
    recording.elapsed_s = elapsed_s
    return cpu_s, recording


def beside_crit(bench, command):
    """CPU s of a command that belongs to no run, while somebody else's run is recorded."""
    folder = bench.folder()
    environment = dict(os.environ, CRIT_DIR=os.path.join(folder, "run"))
    other = subprocess.Popen([bench.program("bin", "crit"), "run", "--", "sleep", "600"],
                             env=environment, cwd=folder,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: any(os.path.getsize(p) for p in glob.glob(f"{folder}/run/*.crit")),
                 "recording of the other run")
        return run(command)[0]
    finally:
        other.send_signal(signal.SIGTERM)
        other.wait()


def under_perf(bench, command):
    """CPU s of a command with perf sched record, the recorder included."""
    data = os.path.join(bench.folder(), "perf.data")
    cpu_s = run(["perf", "sched", "record", "-o", data, "--", *command])[0]
    os.unlink(data)
    return cpu_s


def beside_bpftrace(command):
    """CPU s of a command while bpftrace counts switches, bpftrace itself apart."""
    script = 'tracepoint:sched:sched_switch { @ = count(); } BEGIN { printf("ready\\n"); }'
    counter = subprocess.Popen(["bpftrace", "-e", script], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        while (line := counter.stdout.readline()) and "ready" not in line:
            pass
        if not line:
            raise RuntimeError("bpftrace ended before it was ready")
        return run(command)[0]
    finally:
        counter.send_signal(signal.SIGINT)
        counter.communicate()


def sched_pipe(bench):
    """(figures, recordings) of rounds of the pipe: alone, beside a run, as a member, and under the peers."""
    recordings = []

    def member():
        cpu_s, recording = under_crit(bench, pipe(0))
        recordings.append(recording)
        return cpu_s + recording.critd_cpu_s

    if bench.pipes:
        return bench.pipes
    bench.program("bin", "crit")
    bench.tool("perf")
    bench.tool("bpftrace")
    bench.pipes = interleave(bench.rounds, {
        "alone": lambda: run(pipe(0))[0],
        "unrelated": lambda: beside_crit(bench, pipe(0)),
        "member": member,
        "perf": lambda: under_perf(bench, pipe(0)),
        "bpftrace": lambda: beside_bpftrace(pipe(0)),
    }), recordings
    return bench.pipes


def member_record_ns(bench):
    """What a record costs the member it is of, critd apart; of the pipe's rounds."""
    figures, recordings = sched_pipe(bench)
    return median([(member - record.critd_cpu_s - alone) * 1e9 / record.kernel_records
                   for member, record, alone in zip(figures["member"], recordings, figures["alone"])])


def program_record_ns(bench):
    """Run time of the programs per record of the pipe's, the kernel's price of counting it included."""
    with collectors(bench, 1) as [(pid, socket)], statistics():
        before = sum(ns for ns, _ in programs_of(pid).values())
        _, recording = under_crit(bench, pipe(0, PIPE_LOOPS // 4), {"CRIT_SOCKET": socket})
        after = sum(ns for ns, _ in programs_of(pid).values())
    return (after - before) / recording.kernel_records


def collector_start_s(bench):
    """CPU s of critd for a run of nothing."""
    if bench.start_s is None:
        bench.start_s = median([under_crit(bench, ["true"])[1].critd_cpu_s for _ in range(bench.rounds)])
    return bench.start_s


def lines_record(name, bar, start_s, sampled, bare):
    """
    What a kernel record costs critd: of recordings without samples, which come by the second and not by the
    record; beside it that of recordings with samples; and what both lost.
    """
    values, beside = ([(r.critd_cpu_s - start_s) * 1e9 / r.kernel_records for r in recordings]
                      for recordings in (bare, sampled))
    yield (name, median(values), "ns", bar, 20,
           f"{spread(values)}; {bare[0].kernel_records} records, its start apart; with samples and their "
           f"stacks {median(beside):.0f} ns, {spread(beside)}")
    yield (f"records lost: {name}", sum(r.kernel_lost for r in sampled + bare), "", 0, 0, "")


def lines_pipe(bench):
    figures, recordings = sched_pipe(bench)
    peers = (f"perf sched record {median(ratios(figures, 'perf')):.2f}x, "
             f"bpftrace count {median(ratios(figures, 'bpftrace')):.2f}x")
    values = ratios(figures, "unrelated")
    yield "unrelated task, sched pipe", median(values), "x", 1.10, 1.03, f"{spread(values)}; {peers}"
    # Of two runs the CPU times differ by more than the bar where others use the caches as well.
    in_kernel = [program_record_ns(bench) for _ in range(bench.rounds)]
    values = [1 + (median(in_kernel) * 1e-9 * r.kernel_records + r.critd_cpu_s) / alone
              for r, alone in zip(recordings, figures["alone"])]
    cpu = ratios(figures, "member")
    yield ("programs, critd and sched pipe of a member", median(values), "x", 1.2, 1.15,
           f"{spread(values)}; CPU of runs in turn {median(cpu):.2f}x, {spread(cpu)}; {peers}")
    yield ("programs of a member, per record", median(in_kernel), "ns", None, None, spread(in_kernel))
    bare = [under_crit(bench, pipe(0), NO_SAMPLES)[1] for _ in range(bench.rounds)]
    yield from lines_record("critd CPU per kernel record", 45, collector_start_s(bench), recordings, bare)


def lines_unprivileged(bench):
    """The pipe as a member of a run of an ordinary user."""
    recordings = []

    def member():
        cpu_s, recording = without_privileges(bench, pipe(0))
        recordings.append(recording)
        return cpu_s + recording.critd_cpu_s

    bench.program("bin", "critd")
    bench.tool("perf")
    bench.tool("setpriv")
    if os.geteuid() != 0:
        raise NotBuilt("root, to become an ordinary user")
    figures = interleave(bench.rounds, {"alone": lambda: run(pipe(0))[0], "member": member})
    values = ratios(figures, "member")
    yield ("member task and critd, without privileges", median(values), "x",
           PERF_SCHED_RATIO, 1.5, spread(values))
    start_s = median([without_privileges(bench, ["true"])[1].critd_cpu_s
                      for _ in range(bench.rounds)])
    bare = [without_privileges(bench, pipe(0), NO_SAMPLES)[1] for _ in range(bench.rounds)]
    yield from lines_record("critd CPU per record, without privileges", 60, start_s, recordings, bare)


def line_start(bench):
    """CPU of `crit run -- true` with its critd, over that of `true`."""
    costs = []
    for _ in range(START_RUNS):
        alone = run(["true"])[0]
        cpu_s, recording = under_crit(bench, ["true"])
        costs.append(cpu_s + recording.critd_cpu_s - alone)
    yield "start to first record", median(costs), "s", 0.3, 0.1, spread(costs)


def line_losses(bench):
    """Two pipes, one per CPU, at full speed."""
    script = " & ".join(" ".join(pipe(cpu)) for cpu in (0, 1)) + " & wait"
    bench.tool("perf")
    _, recording = under_crit(bench, ["sh", "-c", script])
    rate = recording.kernel_records / recording.elapsed_s
    yield ("records lost, 2 CPUs at full rate", recording.kernel_lost, "", 0, 0,
           f"{recording.kernel_records} records at {rate / 1000:.0f} k/s")


def line_size(bench):
    """Bytes of recording per switch at level profile."""
    _, recording = under_crit(bench, pipe(0, PIPE_LOOPS // 4), {"CRIT_LEVEL": "profile"})
    switches = recording.kernel_kinds().get(Recording.SWITCH, 0)
    yield ("recording at level profile, per switch", recording.size_bytes / switches, "B",
           64, None, f"{switches} switches")


def line_report(bench):
    """CPU of `crit report` per million records, start included."""
    recording = sched_pipe(bench)[1][-1]
    crit = bench.program("bin", "crit")
    millions = (recording.kernel_records + recording.shim_slots) / 1e6
    costs = []
    for _ in range(bench.rounds):
        # Exit 3 says that the kernel kept a switch to itself: the report is there all the same.
        costs.append(run([crit, "report", recording.folder], allowed=(0, 3))[0] / millions)
    yield ("report per million records", median(costs), "s", 1, None,
           f"{spread(costs)}; {millions:.1f} M records")


LINES = (lines_pipe, lines_unprivileged, line_start, line_losses, line_size, line_report)
