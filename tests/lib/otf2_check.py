#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What an OTF2 archive says, read by python3-otf2, against report.json of the same run.

usage: otf2_check.py ARCHIVE REPORT [count]

Checks time order, balance, groups = ranks, calls and OpenMP constructs = visits, CMetric, all-wait attributes = rows,
messages sent = messages received, collectives alike on all members.  With a third word it prints that figure: events,
enters, messages, early (received before they were sent), collectives, sites, metrics (events), cmetric, waiting (sums
of what threads have of them at last, ns), locations, complete, all_forks, all_locks, forks, teams, locks, programs (and
their arguments), setup (MPI_Init and MPI_Finalize outside the window), barriers (of OpenMP, by location), states
(threads that are seen blocked), samples, contexts.  Exit 0, or 1 with one line per fault.
"""
import collections
import json
import re
import sys

import _otf2
import otf2

STRANGER = "MPI ranks not recorded"
SENDS = ("MpiSend", "MpiIsend")
RECEIVES = ("MpiRecv", "MpiIrecv")
POLLS = re.compile("MPI_((Win_)?test|I?m?probe|Request_get_status|Parrived)", re.IGNORECASE)
BARRIERS = (otf2.RegionRole.BARRIER, otf2.RegionRole.IMPLICIT_BARRIER)
SETUP = {"MPI_Init": "first", "MPI_Init_thread": "first", "MPI_Finalize": "last"}
COLLECTIVES = ("MpiCollectiveEnd", "NonBlockingCollectiveComplete")
UNNAMED_BLOCKS = {"page fault", "not recorded"}  # regions without the name of a system call


def rank_of(group):
    """(world, rank) of a location group: "MPI Rank 3", or "MPI Rank 1.3" where there are several worlds."""
    if group.name == STRANGER:
        return -1, -1
    world, _, rank = group.name.split()[-1].rpartition(".")
    return int(world or 0), int(rank)


def place_of(region):
    """(construct, file, line) of an OpenMP region, without a file where its line is not known."""
    name = region.name.split(" @")[0]
    line = region.begin_line_number
    return (name, region.source_file, line) if line else (name, None, None)



class Location:
    """What is known of one location so far."""

    def __init__(self):
        self.last = None
        self.stack = []
        self.chain = []
        self.first = self.last_root = None
        self.teams = []
        self.forks = 0
        self.held = set()
        self.task = None
        self.barriers = 0
        self.state_begin = None
        self.states = collections.Counter()
        self.sums = collections.Counter()
        self.metrics = collections.Counter()


class Archive:
    """Reads all events once."""

    def __init__(self, path):
        self.faults = []
        self.counts = collections.Counter()
        self.event_count = 0
        self.visits = collections.Counter()
        self.placed = collections.Counter()
        self.polled = collections.Counter()
        self.messages = collections.defaultdict(lambda: [0, 0, 0, 0])
        self.collectives = collections.Counter()
        self.collective_bytes = collections.defaultdict(lambda: [0, 0])
        self.early = 0
        self.sites = set()
        self.programs = set()
        self.locks = set()
        self.tasks = collections.Counter()
        with otf2.reader.open(path) as trace:
            self.definitions = trace.definitions
            self.locations = {x: Location() for x in trace.definitions.locations}
            # the high-level reader does not show properties
            self.is_complete = _otf2.Reader_GetBoolProperty(
                trace._handle, "OTF2::MPI_COMMUNICATION_COMPLETE")
            self.has_all_forks = _otf2.Reader_GetBoolProperty(
                trace._handle, "OTF2::THREAD_FORK_JOIN_EVENT_COMPLETE")
            self.has_all_locks = _otf2.Reader_GetBoolProperty(
                trace._handle, "OTF2::THREAD_LOCK_EVENT_COMPLETE")
            self.read(trace)

    def fault(self, text):
        self.faults.append(text)

    def read(self, trace):
        last = None
        for location, event in trace.events:
            kind = type(event).__name__
            state = self.locations[location]
            self.counts[kind] += 1
            self.event_count += 1
            if state.last is not None and event.time < state.last:
                self.fault(f"{location}: time goes back to {event.time}")
            if last is not None and event.time < last:
                self.fault(f"the archive: time goes back to {event.time}")
            last = state.last = event.time
            self.take(location, state, kind, event)
        for location, state in self.locations.items():
            if state.stack:
                self.fault(f"{location}: {len(state.stack)} regions are not left")
            if state.teams or state.forks:
                self.fault(f"{location}: {len(state.teams)} teams do not end")
        if self.has_all_forks and any(self.tasks.values()):
            self.fault(f"{sum(1 for x in self.tasks.values() if x)} tasks are not complete, or twice")

    def take_context(self, state, kind, event):
        """The context of each event continues that of the one before, as unwind distances say."""
        context = event.calling_context
        distance = 1 if kind == "CallingContextLeave" else event.unwind_distance
        chain = []
        while context is not None:
            chain.append(context)
            context = context.parent
        is_below = [x.region for x in chain[::-1]][:len(state.stack)] == state.stack
        if any(x not in state.chain for x in chain[distance - 1:]) or not is_below:
            self.fault(f"{kind} at {event.time}: its context does not continue the one before")
        state.chain = chain[1:] if kind == "CallingContextLeave" else chain

    def take(self, location, state, kind, event):
        if kind.startswith("CallingContext"):
            self.take_context(state, kind, event)
            kind = kind[len("CallingContext"):]
            self.counts[kind] += 1
        region = None
        if kind in ("Enter", "Leave"):
            region = event.calling_context.region if hasattr(event, "calling_context") else event.region
        if kind == "Enter":
            if len(state.stack) == 1:  # in the program itself
                state.first = state.first or region.name
                state.last_root = region.name
            state.stack.append(region)
            state.state_begin = event.time
            self.visits[region.name.split(" @")[0]] += 1
            if region.paradigm == otf2.Paradigm.OPENMP:
                self.placed[place_of(region)] += 1
                state.barriers += region.region_role in BARRIERS
        elif kind == "Leave":
            if not state.stack or state.stack.pop() is not region:
                self.fault(f"{location}: {region.name} is left and was not entered")
            if region.region_role == otf2.RegionRole.ARTIFICIAL:
                state.states[region.name] += event.time - state.state_begin
            for attribute, value in (event.attributes or {}).items():
                self.take_attribute(state, attribute.name, value, region)
        elif kind == "Metric":
            for member, value in zip(event.metric.members, event.values):
                if value < state.metrics[member.name]:
                    self.fault(f"{location}: {member.name} goes back to {value}")
                state.metrics[member.name] = value
        elif kind == "ProgramBegin":
            self.programs.add(" ".join([event.program_name, *event.program_arguments]))
        elif kind in SENDS or kind in RECEIVES:
            self.take_message(location, kind, event)
        elif kind.startswith("Thread"):
            self.take_thread(location, state, kind, event)
        elif kind in COLLECTIVES:
            self.collectives[event.communicator, location.group] += 1
            row = self.collective_bytes[event.communicator.name]
            row[0] += event.size_sent
            row[1] += event.size_received

    def take_thread(self, location, state, kind, event):
        if kind in ("ThreadFork", "ThreadJoin"):
            state.forks += 1 if kind == "ThreadFork" else -1
            if state.forks < 0:
                self.fault(f"{location}: threads are joined and were not forked")
        elif kind == "ThreadTeamBegin":
            state.teams.append(event.thread_team)
            if location not in event.thread_team.group.members:
                self.fault(f"{location}: is no member of {event.thread_team.name}")
        elif kind == "ThreadTeamEnd":
            if not state.teams or state.teams.pop() is not event.thread_team:
                self.fault(f"{location}: {event.thread_team.name} ends and was not begun")
        elif kind in ("ThreadAcquireLock", "ThreadReleaseLock"):
            key = event.lock_id, event.acquisition_order
            is_taken = kind == "ThreadAcquireLock"
            if key in self.locks if is_taken else key not in state.held:
                self.fault(f"{location}: lock and order {key} out of turn")
            self.locks.add(key)
            state.held ^= {key}

        elif kind.startswith("ThreadTask"):
            self.take_task(location, state, kind, event)

    def take_task(self, location, state, kind, event):
        key = event.thread_team, event.creating_thread, event.generation_number
        if kind == "ThreadTaskSwitch":
            state.task = key
            return
        if kind == "ThreadTaskComplete" and key != state.task:
            self.fault(f"{location}: task {key} is complete and was not switched to")
        self.tasks[key] += 1 if kind == "ThreadTaskCreate" else -1

    def take_attribute(self, state, name, value, region):
        if not value:
            self.fault(f"{region.name}: {name} is there and is 0")
        elif name == "call_site":
            self.sites.add(value)
        elif name == "polled_calls":
            self.polled[region.name] += value
        else:
            state.sums[name] += value

    def take_message(self, location, kind, event):
        is_send = kind in SENDS
        rank = rank_of(location.group)
        peer = event.receiver if is_send else event.sender
        comm = event.communicator
        if comm.name == "MPI_COMM_SELF":
            other = rank
        else:
            members = comm.group.members
            if peer >= len(members):
                self.fault(f"{location}: rank {peer} is not in {comm.name}")
                return
            other = rank_of(members[peer].group)
        key = (comm, rank, other, event.msg_tag) if is_send else (comm, other, rank, event.msg_tag)
        row = self.messages[key]
        row[0 if is_send else 2] += 1
        row[1 if is_send else 3] += event.msg_length
        self.early += row[2] > row[0] and not is_send

    def outside(self, name, report):
        """How often a call that begins or ends a rank's part was entered outside it, where no table counts it."""
        return self.visits[name] - sum(x["visits"] for x in report["mpi_calls"] if x["name"] == name)

    def sum_of(self, name):
        return sum(state.sums[name] for state in self.locations.values())


def check_groups(archive, report):
    """The group of all MPI locations names one location of every rank, in order."""
    wanted = sorted((x["world"], x["rank"]) for x in report["ranks"])
    groups = [x for x in archive.definitions.groups
              if x.group_type == otf2.GroupType.COMM_LOCATIONS and x.paradigm == otf2.Paradigm.MPI]
    if not wanted:
        return
    if len(groups) != 1:
        archive.fault(f"{len(groups)} groups of all MPI locations")
        return
    ranks = [rank_of(x.group) for x in groups[0].members if x.group.name != STRANGER]
    if ranks != wanted:
        archive.fault(f"the MPI locations are those of ranks {ranks}, the report has {wanted}")


def check_report(archive, report):
    """Calls and earnings are those of the report."""
    for call in report["mpi_calls"]:
        told = archive.visits[call["name"]]
        if call["name"] in SETUP:
            continue
        if told != call["visits"]:
            archive.fault(f"{call['name']}: {told} entered, {call['visits']} visits reported")
        # what a program asks between its polls (MPI_Pack_size) is counted with them, and has no span
        if POLLS.match(call["name"]) and archive.polled[call["name"]] != call.get("polled_calls", 0):
            archive.fault(f"{call['name']}: {archive.polled[call['name']]} polled calls")
    calls = {x["name"] for x in report["mpi_calls"]}
    for name in archive.visits:
        if name.startswith("MPI_") and name not in calls and name not in SETUP:
            archive.fault(f"{name} is not in the report")
    for name, where in SETUP.items():
        told = [x.first if where == "first" else x.last_root for x in archive.locations.values()]
        if not 0 <= archive.outside(name, report) <= told.count(name):
            archive.fault(f"{name}: {archive.visits[name]} entered, {told.count(name)} as the {where} call")
    app = [x for x in report["threads"] if x["role"] == "app"]
    for name, key in (("cmetric_ns", "cmetric_s"), ("all_waiting_ns", "all_waiting_s")):
        told, want = archive.sum_of(name) * 1e-9, sum(x[key] for x in app)
        if abs(told - want) > 1e-6 + 1e-6 * want:
            archive.fault(f"{name}: {told:.9f} s in all, {want:.9f} s reported")


def check_states(archive, report):
    """Where kernel states are drawn, each thread is in them as long as the ends of its regions say."""
    if report["ranks"]:
        return
    for location, state in archive.locations.items():
        told = sum(ns for name, ns in state.states.items() if name.startswith("blocked"))
        want = state.sums["blocked_ns"]
        if told != want:
            archive.fault(f"{location}: {told} ns in regions of blocking, {want} ns blocked")
        if state.states["runnable"] < state.sums["runnable_ns"]:
            archive.fault(f"{location}: {state.states} in regions, runnable {state.sums['runnable_ns']} ns")
    for call in {row["call"] for row in report.get("wait_paths", [])} - UNNAMED_BLOCKS:
        want = sum(row["blocked_s"] for row in report["wait_paths"] if row["call"] == call)
        told = sum(state.states[f"blocked in {call}"] for state in archive.locations.values())
        if abs(told * 1e-9 - want) > 2e-9 * len(report["wait_paths"]):
            archive.fault(f"blocked in {call}: {told} ns, {want:.9f} s reported")


def check_constructs(archive, report):
    """Every construct of OpenMP is entered as often as the report says, each place by itself."""
    want = collections.Counter()
    for row in report["omp_construct_call_sites"]:
        if row["name"] == "phase":
            continue
        has_line = row["file"] and row["line"]
        want[row["name"], *((row["file"], row["line"]) if has_line else (None, None))] += row["visits"]
    for place in sorted(want.keys() | archive.placed.keys(), key=str):
        if archive.placed[place] != want[place]:
            archive.fault(f"{place}: {archive.placed[place]} entered, {want[place]} visits reported")


def check_reported_messages(archive, report):
    """From rank to rank, and by communicator, the archive has what the report has."""
    told = collections.defaultdict(lambda: [0, 0, 0, 0])
    for (_, sender, receiver, _), row in archive.messages.items():
        told[sender, receiver] = [a + b for a, b in zip(told[sender, receiver], row)]
    for pair in report["messages"]["pairs"]:
        key = (pair["from_world"], pair["from_rank"]), (pair["to_world"], pair["to_rank"])
        want = [pair[x] for x in ("sent_messages", "sent_bytes", "received_messages",
                                  "received_bytes")]
        if told.pop(key, [0, 0, 0, 0]) != want:
            archive.fault(f"{key}: not the messages and bytes of the report, {want}")
    if told:
        archive.fault(f"messages between {list(told)} are not in the report")
    counts, sizes = collections.Counter(), collections.defaultdict(lambda: [0, 0])
    for row in report["messages"]["collectives"]:
        counts[row["communicator_name"]] += row["visits"]
        sizes[row["communicator_name"]][0] += row["sent_bytes"]
        sizes[row["communicator_name"]][1] += row["received_bytes"]
    seen = collections.Counter()
    for (comm, _), count in archive.collectives.items():
        seen[comm.name] += count
    if seen != counts:
        archive.fault(f"collectives by communicator {dict(seen)}, reported {dict(counts)}")
    elif dict(sizes) != dict(archive.collective_bytes):
        archive.fault(f"bytes of collectives {dict(archive.collective_bytes)}, reported {dict(sizes)}")


def check_messages(archive, report):
    """Only what claims to be complete must match."""
    if not archive.is_complete:
        return
    check_reported_messages(archive, report)
    for key, (sends, sent, receives, received) in archive.messages.items():
        if (sends, sent) != (receives, received):
            archive.fault(f"{key}: {sends} sent ({sent} bytes), {receives} received ({received})")
    by_comm = collections.defaultdict(dict)
    for (comm, group), count in archive.collectives.items():
        by_comm[comm][group] = count
    for comm, counts in by_comm.items():
        if comm.name == "MPI_COMM_SELF":
            continue
        members = [x.group for x in comm.group.members]
        if len({counts.get(x, 0) for x in members}) != 1:
            archive.fault(f"{comm.name}: members take part in {counts} collectives")


def figure(archive, report, what):
    """One number for a script."""
    return {
        "setup": " ".join(f"{x} {archive.outside(x, report)}" for x in SETUP if archive.visits[x]),
        "events": archive.event_count,
        "enters": archive.counts["Enter"],
        "messages": sum(archive.counts[x] for x in SENDS),
        "early": archive.early,
        "collectives": sum(archive.counts[x] for x in COLLECTIVES),
        "metrics": archive.counts["Metric"],
        "cmetric": sum(x.metrics["CMetric"] for x in archive.locations.values()),
        "waiting": sum(x.metrics["waiting"] for x in archive.locations.values()),
        "locations": len(archive.locations),
        "sites": len(archive.sites),
        "programs": ", ".join(sorted(archive.programs)),
        "complete": archive.is_complete,
        "all_forks": archive.has_all_forks,
        "all_locks": archive.has_all_locks,
        "forks": archive.counts["ThreadFork"],
        "teams": archive.counts["ThreadTeamBegin"],
        "tasks": archive.counts["ThreadTaskComplete"],
        "locks": archive.counts["ThreadAcquireLock"],
        "samples": archive.counts["Sample"],
        "contexts": len(archive.definitions.calling_contexts),
        "states": sum(1 for x in archive.locations.values() if x.states["blocked"]),
        "barriers": sorted(x.barriers for x in archive.locations.values()),
    }[what]


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    archive = Archive(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    check_groups(archive, report)
    check_report(archive, report)
    check_states(archive, report)
    check_constructs(archive, report)
    check_messages(archive, report)
    for text in archive.faults[:20]:
        print(f"otf2_check: {text}", file=sys.stderr)
    if len(sys.argv) == 4:
        print(figure(archive, report, sys.argv[3]))
    return 1 if archive.faults else 0


if __name__ == "__main__":
    sys.exit(main())
