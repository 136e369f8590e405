# SPDX-License-Identifier: BSD-3-Clause
"""CPU time of commands, rounds of interleaved variants, and what a recording says of itself."""
import glob
import json
import mmap
import os
import shutil
import statistics
import struct
import subprocess
import tempfile
import time
import typing

PAGE_BYTES = 4096
TOUCHED_PAGES = 4096


class NotBuilt(Exception):
    """A part that the line needs is missing."""


class Bench:
    """Where things are: the build, a scratch folder, the number of rounds."""

    def __init__(self, build, rounds):
        self.build = os.path.abspath(build)
        self.rounds = rounds
        self.call_costs = {}  # of (flavour, level), once measured
        self.pipes = None  # of the sched pipe, once measured: figures and recordings
        self.start_s = None  # the collector's CPU time for a run of nothing, once measured
        self.page_s = None  # what the first write to a page costs, once measured
        self.reading_ns = None  # what a reading of the clock costs, once measured
        self.scratch = tempfile.mkdtemp(prefix="crit-bench-")
        os.chmod(self.scratch, 0o755)

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def program(self, *path):
        """A program of the build, or NotBuilt."""
        program = os.path.join(self.build, *path)
        if not os.access(program, os.R_OK):
            raise NotBuilt(os.path.join(*path))
        return program

    def tool(self, name):
        """A program of the machine, or NotBuilt."""
        if not shutil.which(name):
            raise NotBuilt(name)
        return name

    def folder(self):
        """A new empty folder, for one recording."""
        return tempfile.mkdtemp(dir=self.scratch)

    def pages(self, faults):
        """What so many page faults cost on this machine, as text."""
        self.page_s = self.page_s or median([first_touch_s() for _ in range(3)])
        return f"{faults:,.0f} page faults, {faults * self.page_s:.2f} s of it"

    def measure_reading_ns(self):
        return float(output_of([self.program("bin", "bench-machine")]))

    def readings(self, count):
        """What so many readings of the clock take one after the other, as text: beside other work it may be less."""
        self.reading_ns = self.reading_ns or median([self.measure_reading_ns() for _ in range(3)])
        return f"{count} readings of the clock alone {count * self.reading_ns:.1f} ns"


class Usage(typing.NamedTuple):
    """Of a command with its children."""
    cpu_s: float
    wall_s: float
    peak_bytes: int
    faults: int  # for which no file was read


def run(command, env=None, cwd=None, allowed=(0,)):
    """Runs a command in silence."""
    environment = dict(os.environ, **(env or {}))
    with tempfile.TemporaryFile() as said:
        start = time.monotonic()
        child = subprocess.Popen(command, env=environment, cwd=cwd,
                                 stdin=subprocess.DEVNULL, stdout=said,
                                 stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        elapsed = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in allowed:
            said.seek(0)
            text = said.read().decode(errors="replace")[-2000:]
            raise RuntimeError(f"{' '.join(command)}: exit {child.returncode}: {text}")
    return Usage(usage.ru_utime + usage.ru_stime, elapsed, usage.ru_maxrss * 1024, usage.ru_minflt)


def output_of(command, env=None, cwd=None):
    """What a command prints."""
    return subprocess.run(command, env=dict(os.environ, **(env or {})), cwd=cwd, check=True,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


def touch_s(memory):
    """CPU time of a write to each page, s a page."""
    start_s = time.thread_time()
    for at in range(0, TOUCHED_PAGES * PAGE_BYTES, PAGE_BYTES):
        memory[at] = 1
    return (time.thread_time() - start_s) / TOUCHED_PAGES


def first_touch_s():
    """What the first write to a page of memory costs: the fault, and not the write."""
    with mmap.mmap(-1, TOUCHED_PAGES * PAGE_BYTES) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        return touch_s(memory) - touch_s(memory)


def interleave(rounds, variants):
    """Runs every variant once per round, in turn; returns {name: [figure, …]}."""
    figures = {name: [] for name in variants}
    for _ in range(rounds):
        for name, measure in variants.items():
            figures[name].append(measure())
    return figures


def ratios(figures, name, base="alone"):
    """Ratio of a variant to the base, round by round."""
    return [a / b for a, b in zip(figures[name], figures[base])]


def median(values):
    return statistics.median(values)


def spread(values):
    """Smallest to largest, as text."""
    return f"{min(values):.3g}..{max(values):.3g}"


class Recording:
    """One <host>.crit: its size and its FOOT chunk (core/abi/abi_recording.h)."""

    HEAD = struct.Struct("<IHHIIIIQQQQQ")
    KERNEL, FOOT = 2, 15
    SWITCH = 1

    def __init__(self, folder):
        paths = glob.glob(os.path.join(folder, "**", "*.crit"), recursive=True)
        if len(paths) != 1:
            raise RuntimeError(f"{folder}: {len(paths)} recordings, not one")
        self.path = paths[0]
        self.folder = os.path.dirname(self.path)
        self.size_bytes = os.path.getsize(self.path)
        foot = None
        for kind, payload in self.chunks():
            if kind == self.FOOT:
                foot = struct.unpack_from("<8Q", payload)
        if not foot:
            raise RuntimeError(f"{self.path}: no FOOT, the recording is not complete")
        (_, self.kernel_records, self.kernel_lost, self.shim_slots, self.shim_lost,
         self.write_errors, cpu_ns, _) = foot
        self.critd_cpu_s = cpu_ns * 1e-9

    def chunks(self):
        """(kind, payload) of every chunk."""
        with open(self.path, "rb") as file:
            while len(head := file.read(self.HEAD.size)) == self.HEAD.size:
                _, _, kind, _, length = self.HEAD.unpack(head)[:5]
                payload = file.read((length + 7) & ~7)
                yield kind, payload[:length]

    def kernel_kinds(self):
        """{kind: count} of the kernel records (core/abi/abi_kernel.h)."""
        counts = {}
        for kind, payload in self.chunks():
            at = 0
            while kind == self.KERNEL and at + 16 <= len(payload):
                record, size = struct.unpack_from("<HH", payload, at)
                counts[record] = counts.get(record, 0) + 1
                at += size
        return counts

    def report(self):
        """report.json, once the finisher has written it."""
        path = os.path.join(self.folder, "report.json")
        wait_for(lambda: os.path.exists(path), path)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def finished_recording(folder):
    """The one recording below a folder, once critd has ended it."""
    found = []

    def is_there():
        try:
            found.append(Recording(folder))
        except RuntimeError:
            return False
        return True

    wait_for(is_there, f"{folder}: end of the recording")
    return found[-1]


def wait_for(condition, what, seconds=20):
    """Waits until condition() is true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"{what}: not within {seconds} s")
        time.sleep(0.02)
