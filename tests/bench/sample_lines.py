# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of samples: what ticks, copies of stacks, unwinding and the recording of them take."""
import contextlib
import glob
import os
import shutil
import signal
import subprocess
import time

from bystander_lines import collectors, statistics
from measure import NotBuilt, finished_recording, median, spread, wait_for

PERF_EVENT = 7  # BPF_PROG_TYPE_PERF_EVENT
SAMPLE, SAMPLE_BYTES = 8, 48
CHUNKS = (18, 22, 23)  # SAMPLES, PATHS, PATH_FILES
STRANGER_HZ = 997
STRANGER_S = 1
RUN_S = 30
THREADS = 2
CPU_BAR, CPU_AIM = 1, 0.2  # per cent of a program's CPU time, at the defaults


def clock_program(pid):
    """(ns, runs) of a collector's program of the sampling clocks."""
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
            if int(fields.get("prog_type", 0)) == PERF_EVENT:
                return int(fields["run_time_ns"]), int(fields["run_cnt"])
    raise NotBuilt("a program of the sampling clocks")


def start(bench, socket, command, **settings):
    """A run with the collector of that socket; returns (process, folder)."""
    folder = bench.folder()
    environment = dict(os.environ, CRIT_SOCKET=socket, CRIT_DIR=os.path.join(folder, "run"), **settings)
    return subprocess.Popen([bench.program("bin", "crit"), "run", "--", *command], env=environment, cwd=folder,
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL), folder


def stranger_ns(bench, pid, socket):
    """Run time for a tick that finds no member: the run sleeps, others use the CPUs."""
    other, folder = start(bench, socket, ["sleep", "600"], CRIT_SAMPLE_HZ=str(STRANGER_HZ))
    try:
        wait_for(lambda: any(os.path.getsize(p) for p in glob.glob(f"{folder}/run/*.crit")), "recording")
        before = clock_program(pid)
        burners = [subprocess.Popen(["timeout", str(STRANGER_S), "sh", "-c", "while :; do :; done"])
                   for _ in range(os.cpu_count())]
        for burner in burners:
            burner.wait()
        after = clock_program(pid)
        return (after[0] - before[0]) / (after[1] - before[1])
    finally:
        other.send_signal(signal.SIGTERM)
        other.wait()


def processes(text):
    """pid -> (name, parent, CPU seconds with its children that ended), of those with this in their command line."""
    found = {}
    for path in glob.glob("/proc/[0-9]*"):
        with contextlib.suppress(OSError):
            with open(f"{path}/cmdline", "rb") as file:
                if text not in file.read().replace(b"\0", b" ").decode(errors="replace"):
                    continue
            with open(f"{path}/stat", encoding="utf-8") as file:
                head, _, tail = file.read().rpartition(")")
            fields = tail.split()
            found[int(os.path.basename(path))] = (head.partition("(")[2], int(fields[1]),
                                                  sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK"))
    return found


def unwinding_s(directory):
    """CPU seconds, so far, of the process that makes call paths for a run and of those it asks."""
    found = processes(f"crit finish --directory {directory}")

    def is_maker(pid):
        while pid in found:
            if found[pid][0] == "crit-paths":
                return True
            pid = found[pid][1]
        return False

    return sum(row[2] for pid, row in found.items() if is_maker(pid))


def crowd(bench):
    return [bench.program("tests", "apps", "sampled"), "crowd", str(1000 * RUN_S // THREADS), str(THREADS)]


def member_run(bench, pid, socket, command):
    """Of a run with members on the CPUs: shares of its CPU time in %, ns for a tick, KB/s."""
    before, begin_s, unwinding = clock_program(pid), time.monotonic(), 0
    child, folder = start(bench, socket, command, CRIT_FINISH_S="0")
    while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        unwinding = max(unwinding, unwinding_s(f"{folder}/run"))
        time.sleep(0.05)
    elapsed_s = time.monotonic() - begin_s
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode, cpu_s = status, sum(usage[:2])
    after, recording = clock_program(pid), finished_recording(folder)
    stored = sum(len(payload) for kind, payload in recording.chunks() if kind in CHUNKS)
    stored += SAMPLE_BYTES * recording.kernel_kinds().get(SAMPLE, 0)
    return {"status": os.waitstatus_to_exitcode(status),
            "ticks": 100 * (after[0] - before[0]) * 1e-9 / cpu_s,
            "tick": (after[0] - before[0]) / (after[1] - before[1]),
            "elapsed": elapsed_s,
            "unwinding": 100 * unwinding / cpu_s,
            "stored": stored / 1000 / elapsed_s}


def lines_samples(bench):
    if os.geteuid() != 0:
        raise NotBuilt("root, to start collectors and to read the kernel's counters")
    with collectors(bench, 1) as [(pid, socket)], statistics():
        stranger = [stranger_ns(bench, pid, socket) for _ in range(bench.rounds)]
        members = [member_run(bench, pid, socket, crowd(bench)) for _ in range(min(bench.rounds, 3))]
    figures = {name: [row[name] for row in members] for name in members[0]}
    yield "tick that finds no member, BPF", median(stranger), "ns", 600, 300, spread(stranger)
    yield ("tick of a member with its stack, BPF", median(figures["tick"]), "ns", 8000, 4000,
           spread(figures["tick"]))
    yield ("ticks x cost, of the CPU time", median(figures["ticks"]), "%", 0.5, 0.1,
           spread(figures["ticks"]))
    yield ("unwinding, of the CPU time", median(figures["unwinding"]), "%", 0.5, 0.1,
           f"{spread(figures['unwinding'])}; files read included")
    yield "samples and paths recorded, a second", median(figures["stored"]), "KB", 100, 20, spread(figures["stored"])


def gromacs(inputs, two):
    """Makes its input before the first run."""
    return (f"if [ ! -s slab.tpr ]; then cp {inputs}/water.top .; gmx -quiet solvate -cs spc216.gro -box 4 3 3 "
            f"-o b.gro -p water.top; gmx -quiet editconf -f b.gro -box 12 3 3 -noc -o slab.gro; gmx -quiet grompp "
            f"-f {inputs}/water.mdp -c slab.gro -p water.top -o slab.tpr; fi; OMP_NUM_THREADS=1 {two} gmx_mpi -quiet "
            f"mdrun -ntomp 1 -pin off -nb cpu -s slab.tpr -dd 2 1 1 -dlb no")


def mariadb(folder):
    """Server and clients, 30 s of commits; one run of it."""
    socket, server = f"{folder}/socket", "--no-defaults --user=root"
    load = (f"sysbench oltp_update_index --db-driver=mysql --mysql-socket={socket} --mysql-user=root --tables=2 "
            f"--table-size=20000 --threads=4 --time={RUN_S}")
    return (f"mariadb-install-db {server} --datadir={folder}/data --skip-test-db; mariadbd {server} "
            f"--datadir={folder}/data --socket={socket} --skip-networking & until mariadb-admin -S {socket} ping; do "
            f"sleep 0.2; done; mariadb -S {socket} -e 'create database sbtest'; {load} prepare; {load} run; "
            f"mariadb-admin -S {socket} shutdown; wait")


def programs(bench):
    """Programs of other people, as a shell runs them: (name, command), again until the time is up or it fails."""
    inputs = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "accept", "applications"))
    two = "mpirun.openmpi --allow-run-as-root -np 2"
    folder = bench.folder()
    commands = {
        "lmp": f"{two} lmp -in {inputs}/two_cutoffs.in -log none -var factor 1.0",
        "/usr/lib/mumps/dsimpletest": f"{inputs}/laplacian.py 40 >{folder}/system; "
                                      f"{two} sh -c '/usr/lib/mumps/dsimpletest <{folder}/system'",
        "gmx_mpi": gromacs(inputs, two),
        "mariadbd": mariadb(folder),
        "pbzip2": f"head -c 50000000 /dev/urandom | base64 >{folder}/text; pbzip2 -p2 -c -k {folder}/text >/dev/null",
    }
    for name, command in commands.items():
        if shutil.which(name):
            loop = f"end=$(($(date +%s) + {RUN_S})); while [ $(date +%s) -lt $end ]; do {command} || exit; done"
            yield os.path.basename(name), ["sh", "-c", loop]


def lines_programs(bench):
    if os.geteuid() != 0:
        raise NotBuilt("root, to start collectors and to read the kernel's counters")
    with collectors(bench, 1) as [(pid, socket)], statistics():
        for name, command in programs(bench):
            row = member_run(bench, pid, socket, command)
            if row["status"]:
                yield (f"samples of {name}, of its CPU time", None, "%", None, None,
                       f"not measurable: it ends with {row['status']} here")
                continue
            yield (f"samples of {name}, of its CPU time", row["ticks"] + row["unwinding"], "%", CPU_BAR, CPU_AIM,
                   f"ticks {row['ticks']:.2f}, unwinding {row['unwinding']:.2f}; {row['stored']:.0f} KB/s; "
                   f"{row['elapsed']:.0f} s")


LINES = (lines_samples, lines_programs)
