# SPDX-License-Identifier: BSD-3-Clause
"""Collectors that stand ready, and the run time of their programs as the kernel counts it."""
import contextlib
import glob
import os
import signal
import subprocess

from measure import wait_for

STATISTICS = "/proc/sys/kernel/bpf_stats_enabled"


def programs_of(pid):
    """(ns, runs) of each program of a collector, as the kernel counts them."""
    found = {}
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
            if "run_cnt" in fields:
                found[int(fields["prog_id"])] = (int(fields["run_time_ns"]),
                                                 int(fields["run_cnt"]))
    return found


def is_confined(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return "Seccomp:\t2" in file.read()


@contextlib.contextmanager
def collectors(bench, count):
    """So many of them, attached, without a run: (process, socket) of each."""
    started, sockets = [], []
    try:
        for _ in range(count):
            sockets.append(os.path.join(bench.folder(), "socket"))
            started.append(subprocess.Popen([bench.program("bin", "critd"), "--service",
                                             "--socket-path", sockets[-1]],
                                            stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL))
        for critd in started:
            wait_for(lambda critd=critd: is_confined(critd.pid), "collector")
        yield [(critd.pid, socket) for critd, socket in zip(started, sockets)]
    finally:
        for critd in started:
            critd.send_signal(signal.SIGTERM)
            critd.wait()


@contextlib.contextmanager
def statistics():
    """The kernel counts what programs take, and pays for its clock meanwhile."""
    with open(STATISTICS, "r+", encoding="ascii") as file:
        before = file.read()
        file.seek(0)
        file.write("1")
        file.flush()
        try:
            yield
        finally:
            file.seek(0)
            file.write(before)
