#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds a report against what tests/apps/hybrid.c says it worked: hybrid_truth.py SAID REPORT order|cpu|all

SAID has a line of JSON per rank.  From the CPU time every thread spent in every part follows, in closed form, who was
active when, if each had a CPU of its own: parts begin when the one before has ended for all threads of the rank, and a
round ends when it has for all ranks.  order: which parts are larger; cpu: figures in CPU time; all: those in time as
well.  One line per figure, "ok|FAIL NAME FOUND TRUTH"; each may be off by 3 % of its truth, 0.1 % of the run and the
time for which the report calls the state of its thread unknown, or of the one thread of which most is."""
import collections
import json
import sys

SERIAL = {"serial"}  # only the primary thread is in it
ONE_AT_A_TIME = {"lock", "chain"}
HALF_OF_IT = {"critical"}  # first all at once, then one at a time
FAR = 0.03


def pieces(name, work):
    """(begin, end, thread) of a part in one round, and when it ends; work: seconds by thread."""
    if name in ONE_AT_A_TIME or name in HALF_OF_IT:
        free = [w / 2 for w in work] if name in HALF_OF_IT else [0.0] * len(work)
        rows, now = [(0.0, f, t) for t, f in enumerate(free)], max(free)
        for thread, (whole, begun) in enumerate(zip(work, free)):
            rows.append((now, now + whole - begun, thread))
            now += whole - begun
        return rows, now
    return [(0.0, w, t) for t, w in enumerate(work)], max(work)


class Truth:
    """Of all rounds: useful time by (part, rank, thread), and CMetric, time and waits by part."""

    def __init__(self, said):
        self.said = said
        self.rounds = said[0]["rounds"]
        self.useful = {}
        self.cmetric, self.omp_wait, self.ends = collections.Counter(), collections.Counter(), []
        rows = [row for rank in said for row in self.lay_out(rank)]
        edges = sorted({at for begin, end, _ in rows for at in (begin, end)})
        for begin, end in zip(edges, edges[1:]):
            active = [part for at, till, part in rows if at < end and till > begin]
            for part in active:
                self.cmetric[part] += (end - begin) / len(active) * self.rounds
        self.window = max(self.ends) * self.rounds

    def lay_out(self, rank):
        """The pieces of one round of a rank, by part."""
        now, rows = 0.0, []
        for part in rank["parts"]:
            name, worked = part["name"], part["worked_s"]
            for thread, seconds in enumerate(worked):
                self.useful[name, rank["rank"], thread] = seconds
            found, length = pieces(name, [seconds / self.rounds for seconds in worked])
            rows += [(now + begin, now + end, name) for begin, end, _ in found if end > begin]
            if name not in SERIAL:
                self.omp_wait[name] += length * len(worked) * self.rounds - sum(worked)
            now += length
        self.ends.append(now)
        return rows


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
    by_rank = collections.Counter()
    for (part, rank, thread), seconds in truth.useful.items():
        table.check(f"useful {part} rank {rank} thread {thread}", found.useful[part, rank, thread], seconds,
                    found.unknown[rank, thread])
        by_rank[rank] += seconds
    table.slack = 0
    for row in found.report["ranks"]:
        table.check(f"useful rank {row['rank']}", row["useful_s"], by_rank[row["rank"]])
    if truth.said[0]["threads"] == 1:  # else OpenMP's factors have their part of it
        balance = sum(by_rank.values()) / len(by_rank) / max(by_rank.values())
        table.check("load balance, CPU-true", found.report["efficiency"]["cpu"]["load_balance_ratio"], balance)


def check_waits(table, truth, found):
    """Waits for ranks and for threads, never mixed."""
    for part in {name for name, _, _ in truth.useful}:
        table.check(f"MPI time in {part}", found.sums[part]["mpi_s"], 0)
    table.check("OpenMP waits in exchange", found.sums["exchange"]["omp_wait_s"], 0)


def check_order(table, truth, found):
    """Each thread's share of a part is above all that are at most half of it."""
    for place, seconds in truth.useful.items():
        for other, less in truth.useful.items():
            if seconds and less <= seconds / 2:
                is_good = found.useful[other] < found.useful[place]
                table.faults += not is_good
                print("ok  " if is_good else "FAIL", *place, "above", *other,
                      round(found.useful[place], 4), round(found.useful[other], 4))


def check_time(table, truth, found):
    """Who was active when."""
    unknown = max(found.unknown.values())
    for part in truth.cmetric:
        table.check(f"CMetric {part}", found.sums[part]["cmetric_s"], truth.cmetric[part], unknown)
        table.check(f"OpenMP waits {part}", found.sums[part]["omp_wait_s"], truth.omp_wait[part], unknown)
    slowest = max(truth.ends)
    for rank, end in enumerate(truth.ends):
        if len(truth.ends) > 1:
            row = next(x for x in found.report["ranks"] if x["rank"] == rank)
            table.check(f"MPI waits rank {rank}", row["mpi_wait_s"], (slowest - end) * truth.rounds, unknown)
    if found.report["ranks"]:
        table.check("window", found.report["job"]["window_s"], truth.window, unknown)
        threads, ranks = truth.said[0]["threads"], len(truth.said)
        cpu = found.report["efficiency"]["cpu"]
        table.check("oversubscription", cpu["oversubscription_ratio"], 1)
        table.check("parallel efficiency", cpu["parallel_ratio"],
                    sum(truth.useful.values()) / (ranks * threads * truth.window))


CHECKS = {
    "order": (check_order, check_waits),
    "cpu": (check_cpu_time, check_waits),
    "all": (check_time, check_cpu_time, check_waits),
}


def main():
    if len(sys.argv) != 4 or sys.argv[3] not in CHECKS:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        said = sorted((json.loads(line) for line in file if line.startswith("{")), key=lambda x: x["rank"])
    with open(sys.argv[2], encoding="utf-8") as file:
        found = Report(json.load(file))
    truth = Truth(said)
    table = Table(truth.window)
    for check in CHECKS[sys.argv[3]]:
        check(table, truth, found)
    return 1 if table.faults else 0


if __name__ == "__main__":
    sys.exit(main())
