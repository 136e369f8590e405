#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CMetric from the text of an ftrace instance, by the rule of GAPP section 2.1, sharing no code with crit.

usage: truth.py TRACE PROGRAM > truth.json

The members are the task that first executes PROGRAM and everything forked from it.  A member is active while
running or runnable, from its wakeup_new until it leaves its CPU for the last time.  It is runnable from its waking on,
in the context of who wakes it; its wakeup comes once a CPU puts it into its queue, later where that CPU is held up.  A
waking without a wakeup by the time the member leaves its CPU came while it went to sleep: it goes on being runnable.
The window goes from that exec to the end of the last member.
On every CPU the task switched out must be the one last switched in; where it is not, the chain is broken.  A member
whose switch-in alone is missing was active all the same, from its wakeup on.  A member whose switch-out or wakeup is
missing is in doubt: counted, and credited with nothing from its last certain stamp on."""
import json
import re
import sys

LINE = re.compile(r"^.{16,}?-\d+\s+\[(\d+)\]\s+\S+\s+(\d+)\.(\d{6}): (sched_\w+): (.*)$")
SWITCH = re.compile(r"prev_pid=(\d+) prev_prio=-?\d+ prev_state=(\S+) ==> .*next_pid=(\d+) next_prio=")
WAKE = re.compile(r"pid=(\d+) prio=-?\d+ target_cpu=")
FORK = re.compile(r"pid=(\d+) child_comm=.* child_pid=(\d+)$")
EXEC = re.compile(r"^filename=(.*) pid=(\d+) old_pid=(\d+)$")


class Activity:
    """Stretches in which a member certainly was running or runnable."""

    def __init__(self):
        self.since_us = {}
        self.pieces = []

    def confirm(self, tid, now_us):
        """Running or runnable at this stamp: what led here is certain, what follows is open."""
        self.stop(tid, now_us)
        self.since_us[tid] = now_us

    def start(self, tid, now_us):
        self.since_us.setdefault(tid, now_us)

    def stop(self, tid, now_us):
        since_us = self.since_us.pop(tid, None)
        if since_us is not None and since_us < now_us:
            self.pieces.append((since_us, now_us, tid))

    def doubt(self, tid):
        """What followed the last certain stamp is credited to nobody."""
        self.since_us.pop(tid, None)

    def integrate(self):
        """Returns (earned, active, busy): the integral of dt / n(t) by member, its active time, and all of it."""
        edges = sorted([(begin, 1, tid) for begin, _, tid in self.pieces] +
                       [(end, 0, tid) for _, end, tid in self.pieces])
        earned, active, entered = {}, {}, {}
        share_us, busy_us, last_us = 0.0, 0, 0
        for now_us, is_begin, tid in edges:
            if entered:
                share_us += (now_us - last_us) / len(entered)
                busy_us += now_us - last_us
            last_us = now_us
            if is_begin:
                entered[tid] = (share_us, now_us)
            else:
                begin = entered.pop(tid)
                earned[tid] = earned.get(tid, 0.0) + share_us - begin[0]
                active[tid] = active.get(tid, 0) + now_us - begin[1]
        return earned, active, busy_us


class Truth:
    """Follows members through the events; everything before the program's exec is only chain."""

    def __init__(self, program):
        self.program = program
        self.now_us = 0
        self.activity = Activity()
        self.members = set()
        self.live = set()
        self.switches = {}
        self.on_cpu = {}
        self.waking = set()
        self.breaks = 0
        self.member_breaks = 0
        self.doubtful = 0
        self.first_us = None
        self.last_us = None

    def on_switch(self, cpu, text):
        prev, state, nxt = SWITCH.search(text).groups()
        prev, nxt = int(prev), int(nxt)
        expected = self.on_cpu.get(cpu)
        if expected is not None and expected != prev:
            self.breaks += 1
            self.member_breaks += expected in self.live or prev in self.live
            if expected in self.live:
                self.doubtful += 1
                self.activity.doubt(expected)
        self.doubtful += prev in self.live and prev not in self.activity.since_us
        self.on_cpu[cpu] = nxt
        for tid in (prev, nxt):
            if tid in self.members:
                self.switches[tid] = self.switches.get(tid, 0) + 1
        is_gone = state[0] in "XZ"
        if prev in self.live and (state.startswith("R") or prev in self.waking and not is_gone):
            self.activity.confirm(prev, self.now_us)
        elif prev in self.live:
            self.activity.stop(prev, self.now_us)
            if is_gone:
                self.live.discard(prev)
                self.last_us = self.now_us
        self.waking.discard(nxt)
        if nxt in self.live:
            self.activity.confirm(nxt, self.now_us)

    def on_waking(self, text):
        tid = int(WAKE.search(text).group(1))
        if tid in self.live:
            self.waking.add(tid)
            self.activity.start(tid, self.now_us)

    def on_wakeup(self, text):
        tid = int(WAKE.search(text).group(1))
        self.waking.discard(tid)
        if tid in self.live:
            self.activity.start(tid, self.now_us)

    def on_fork(self, text):
        parent, child = (int(x) for x in FORK.search(text).groups())
        if parent in self.live:
            self.members.add(child)
            self.live.add(child)

    def on_exec(self, text):
        filename, tid, _ = EXEC.search(text).groups()
        if self.first_us is None and filename == self.program:
            self.first_us = self.now_us
            self.members.add(int(tid))
            self.live.add(int(tid))
            self.activity.start(int(tid), self.now_us)

    def feed(self, line):
        match = LINE.match(line)
        if not match:
            return
        cpu, seconds, micros, event, text = match.groups()
        self.now_us = int(seconds) * 1000000 + int(micros)
        if event == "sched_switch":
            self.on_switch(int(cpu), text)
        elif event == "sched_waking":
            self.on_waking(text)
        elif event in ("sched_wakeup", "sched_wakeup_new"):
            self.on_wakeup(text)
        elif event == "sched_process_fork":
            self.on_fork(text)
        elif event == "sched_process_exec":
            self.on_exec(text)

    def result(self):
        earned, active, busy_us = self.activity.integrate()
        return {
            "window_s": (self.last_us - self.first_us) / 1e6,
            "cmetric_sum_s": sum(earned.values()) / 1e6,
            "busy_s": busy_us / 1e6,
            "breaks": self.breaks,
            "member_breaks": self.member_breaks,
            "doubtful": self.doubtful,
            "threads": [{"tid": tid, "cmetric_s": earned.get(tid, 0.0) / 1e6,
                         "active_s": active.get(tid, 0) / 1e6,
                         "switches": self.switches.get(tid, 0)} for tid in sorted(self.members)],
        }


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    truth = Truth(sys.argv[2])
    with open(sys.argv[1], encoding="utf-8", errors="replace") as trace:
        for line in trace:
            truth.feed(line)
    if truth.first_us is None or truth.live:
        print(f"truth.py: {sys.argv[2]} did not start and end in this record", file=sys.stderr)
        return 1
    json.dump(truth.result(), sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
