#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds a report against what tests/apps/openmp/hybrid.c did: hybrid_truth.py SAID REPORT STAMPS cpu|all

SAID has a line of JSON per rank, with the CPU time every thread spent in every part.  STAMPS.RANK has the stretches in
which its threads were active, as the program stamped them; all figures in time follow from these.  A thread waits in a
part from when it came until all have done theirs, unless it is active; a rank waits in a round for the last one.
cpu: figures in CPU time; all: those in time as well.  One line per figure, "ok|FAIL NAME FOUND TRUTH"; each may be off
by 3 % of its truth, 0.1 % of the run and the time for which the report calls the state of its thread unknown, or of the
one thread of which most is."""
import collections
import json
import sys

FAR = 0.03

Stamp = collections.namedtuple("Stamp", "round part thread tid begin_s end_s")


def read_stamps(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            turn, part, thread, tid, begin_ns, end_ns = line.split()
            yield Stamp(int(turn), part, int(thread), int(tid), int(begin_ns) * 1e-9, int(end_ns) * 1e-9)


def waits(stamps):
    """Of the threads of one rank in one part of one round."""
    end_s = max(s.end_s for s in stamps)
    came_s = {}
    for s in stamps:
        came_s[s.thread] = min(s.begin_s, came_s.get(s.thread, s.begin_s))
    return sum(end_s - begin_s for begin_s in came_s.values()) - sum(s.end_s - s.begin_s for s in stamps)


def cmetric(stamps):
    """By part: the integral of dt / n over the time its threads are active."""
    shares, active, last_s = collections.Counter(), collections.Counter(), 0
    edges = sorted([(s.begin_s, 1, s.part) for s in stamps] + [(s.end_s, -1, s.part) for s in stamps])
    for now_s, step, part in edges:
        count = sum(active.values())
        for other in active if count else ():
            shares[other] += (now_s - last_s) * active[other] / count
        active[part] += step
        last_s = now_s
    return shares


class Truth:
    """Useful time by (part, rank, thread), and CMetric, time and waits by part and rank."""

    def __init__(self, said, prefix):
        self.said = said
        self.useful = {(part["name"], rank["rank"], thread): seconds for rank in said for part in rank["parts"]
                       for thread, seconds in enumerate(part["worked_s"])}
        stamps = [list(read_stamps(f"{prefix}.{rank['rank']}")) for rank in said]
        every = [s for of_rank in stamps for s in of_rank]
        self.cmetric = cmetric(every)
        self.omp_wait = collections.Counter()
        ends = collections.defaultdict(list)
        self.lives = []  # of all threads of a rank together; a team's may end with it
        for of_rank in stamps:
            born, died = {}, {}
            parts, last = collections.defaultdict(list), collections.Counter()
            for s in of_rank:
                parts[s.round, s.part].append(s)
                last[s.round] = max(last[s.round], s.end_s)
            for (_, part), its in parts.items():
                self.omp_wait[part] += waits(its)
                for s in its:
                    born[s.tid] = min(s.begin_s, born.get(s.tid, s.begin_s))
                    died[s.tid] = max(max(x.end_s for x in its), died.get(s.tid, 0))
            self.lives.append(sum(died.values()) - sum(born.values()))
            for turn, end_s in last.items():
                ends[turn].append(end_s)
        self.mpi_wait = [sum(max(at) - at[rank] for at in ends.values()) for rank in range(len(said))]
        self.window = max(s.end_s for s in every) - min(s.begin_s for s in every)
        self.active = [sum(s.end_s - s.begin_s for s in of_rank) for of_rank in stamps]

    def useful_of(self, rank):
        return sum(seconds for (_, other, _), seconds in self.useful.items() if other == rank)


class Report:
    """Its figures by part: sums over the phase and what lies in it."""

    def __init__(self, report):
        self.report = report
        self.useful, self.sums = collections.Counter(), collections.defaultdict(collections.Counter)
        self.unknown = collections.Counter()
        for thread in report["threads"]:
            self.unknown[thread["rank"] or 0, int(thread["tid"] != thread["pid"])] += thread["unknown_s"]
        for region in report["regions"]:
            first = region["path"].split(" > ")[0]
            part = first[len("phase "):] if first.startswith("phase ") else first
            for key in ("cmetric_s", "omp_wait_s", "mpi_s"):
                self.sums[part][key] += region[key]
            for thread in region["threads"]:
                is_worker = int(thread["tid"] != thread["pid"])
                self.useful[part, thread["rank"] or 0, is_worker] += thread["useful_s"]


class Table:
    """Compares and prints."""

    def __init__(self, window):
        self.faults, self.slack = 0, 0.001 * window

    def check(self, name, found, truth, unknown=0):
        is_good = abs(found - truth) <= FAR * abs(truth) + self.slack + unknown
        self.faults += not is_good
        print("ok  " if is_good else "FAIL", name, round(found, 4), round(truth, 4))


def check_cpu_time(table, truth, found):
    """What threads used, and what follows from it alone; holds on crowded CPUs as well."""
    for (part, rank, thread), seconds in truth.useful.items():
        table.check(f"useful {part} rank {rank} thread {thread}", found.useful[part, rank, thread], seconds,
                    found.unknown[rank, thread])
    table.slack = 0
    by_rank = [truth.useful_of(rank) for rank in range(len(truth.said))]
    for row in found.report["ranks"]:
        table.check(f"useful rank {row['rank']}", row["useful_s"], by_rank[row["rank"]])
    if truth.said[0]["threads"] == 1:  # else OpenMP's factors have their part of it
        balance = sum(by_rank) / len(by_rank) / max(by_rank)
        table.check("load balance, CPU-time", found.report["efficiency"]["cpu"]["load_balance_ratio"], balance)


def check_waits(table, truth, found):
    """Waits for ranks and for threads, never mixed."""
    for part in {name for name, _, _ in truth.useful}:
        table.check(f"MPI time in {part}", found.sums[part]["mpi_s"], 0)
    table.check("OpenMP waits in exchange", found.sums["exchange"]["omp_wait_s"], 0)


def check_time(table, truth, found):
    """Who was active when."""
    unknown = max(found.unknown.values())
    for part in {name for name, _, _ in truth.useful}:
        table.check(f"CMetric {part}", found.sums[part]["cmetric_s"], truth.cmetric[part], unknown)
        table.check(f"OpenMP waits {part}", found.sums[part]["omp_wait_s"], truth.omp_wait[part], unknown)
    for row in found.report["ranks"] if len(truth.said) > 1 else ():
        table.check(f"MPI waits rank {row['rank']}", row["mpi_wait_s"], truth.mpi_wait[row["rank"]], unknown)
    if found.report["ranks"]:
        table.check("window", found.report["job"]["window_s"], truth.window, unknown)
        ready, present, useful = [], [], 0  # as in docs/metric.md: (v + r) / E and v / E
        for rank, life_s in enumerate(truth.lives):
            ready.append(1 - truth.mpi_wait[rank] / truth.window)
            present.append(ready[-1] - (truth.active[rank] - truth.useful_of(rank)) / life_s)
            useful += truth.useful_of(rank)
        cpu = found.report["efficiency"]["cpu"]
        table.check("oversubscription", cpu["oversubscription_ratio"], max(present) / max(ready))
        table.check("parallel efficiency", cpu["parallel_ratio"], useful / sum(truth.lives))


CHECKS = {
    "cpu": (check_cpu_time, check_waits),
    "all": (check_time, check_cpu_time, check_waits),
}


def main():
    if len(sys.argv) != 5 or sys.argv[4] not in CHECKS:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        said = sorted((json.loads(line) for line in file if line.startswith("{")), key=lambda x: x["rank"])
    with open(sys.argv[2], encoding="utf-8") as file:
        found = Report(json.load(file))
    truth = Truth(said, sys.argv[3])
    table = Table(truth.window)
    for check in CHECKS[sys.argv[4]]:
        check(table, truth, found)
    return 1 if table.faults else 0


if __name__ == "__main__":
    sys.exit(main())
