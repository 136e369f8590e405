#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Forecasts of random programs against the same programs run with the change.

usage: forecast_truth.py BUILD COUNT [SEED]

A program is a list of steps per thread: it computes, has no CPU, sends, receives one message or several at once, or
meets all or some; each call takes time, so that a thread does one thing at a time.  A simulator runs it; what happened
becomes a film, from which the forecast of 16 scenarios must be, to the nanosecond, what the simulator gives for the
program with its computations changed.  As a film with one cause per wait does not know of those that may come last,
such forecasts must fail in some.
"""
import collections
import random
import subprocess
import sys

from film_model import OBJECT

BUCKETS = 6  # the first one is nobody's, the last one that of waits
SCENARIOS = 16
IN_WAIT = BUCKETS - 1
GROUPS = 3


class Program:
    """Steps of threads; durations are multiples of 100 ns, so that percentages of them are whole."""

    def __init__(self, dice):
        self.threads = dice.randint(1, 8)
        self.steps = [[] for _ in range(self.threads)]
        self.groups = [sorted(dice.sample(range(self.threads), dice.randint(1, self.threads)))
                       for _ in range(GROUPS)]
        for _ in range(dice.randint(5, 60)):
            self.add(dice)

    def compute(self, dice, thread):
        if dice.random() < 0.2:
            self.steps[thread].append(("queue", dice.randint(1, 300)))
        self.steps[thread].append(("compute", dice.randint(1, BUCKETS - 2),
                                   100 * dice.choice([0, 1, dice.randint(1, 40)])))

    def add(self, dice):
        """What is sent is received later in all lists, so no program hangs."""
        kind = dice.choice(["compute"] * 4 + ["message"] * 4 + ["several"] * 2 + ["meet"] * 2)
        thread = dice.randrange(self.threads)
        transfer = dice.choice([1, 7, dice.randint(1, 500)])
        if kind == "compute":
            self.compute(dice, thread)
        elif kind == "meet":
            group = dice.randrange(GROUPS)
            for member in self.groups[group]:
                self.steps[member].append(("meet", group, dice.choice([1, 3, transfer])))
        else:
            senders = [dice.randrange(self.threads) for _ in range(1 if kind == "message" else 3)]
            senders = [sender for sender in senders if sender != thread]
            for sender in senders:
                self.steps[sender].append(("send", thread))
                if dice.random() < 0.5:
                    self.compute(dice, sender)
            if dice.random() < 0.5:
                self.compute(dice, thread)
            self.steps[thread].append(("receive", senders, transfer))


class Run:
    """A program with the times of a scenario: per cent of each bucket, and with transfer or without."""

    def __init__(self, program, percents, is_bare):
        self.program, self.percents, self.is_bare = program, percents, is_bare
        self.now = [0] * program.threads
        self.at = [0] * program.threads
        self.sent = collections.defaultdict(collections.deque)  # (from, to) -> times
        self.met = collections.Counter()  # group -> instances that are over
        self.there = [{} for _ in range(GROUPS)]  # thread -> time, of the present instance
        self.lanes = [[] for _ in range(program.threads)]  # (time, line)
        self.late = []  # (time, line)
        self.waits = 0

    def wait(self, thread, end, acts):
        number = self.waits
        self.waits += 1
        self.lanes[thread] += [(self.now[thread], f"wait {self.now[thread]} {thread} 1 {number}"),
                               (end, f"until {end} {thread} {IN_WAIT}"), (end, f"end {end} {thread} 1 {number}")]
        begin = self.now[thread]
        last = max(((time, node) for time, node in acts if node < OBJECT), default=None)
        for time, node in acts:
            word = "cause" if time > begin and (time, node) == last else "need"
            self.late.append((end, f"{word} {time} {node} {number}"))
        self.now[thread] = end

    def be(self, thread, bucket, passed):
        self.now[thread] += passed
        self.lanes[thread].append((self.now[thread], f"until {self.now[thread]} {thread} {bucket}"))

    def end_of(self, thread, acts, transfer):
        is_kept = not (self.is_bare and acts)
        return max([self.now[thread], *(time for time, _ in acts)]) + transfer * is_kept

    def meet(self, thread, group, transfer):
        members, there = self.program.groups[group], self.there[group]
        there[thread] = (self.now[thread], transfer)
        if len(there) < len(members):
            return
        node = OBJECT + 8 + group + GROUPS * self.met[group]
        self.met[group] += 1
        last, who = max((time, member) for member, (time, _) in there.items())
        for member, (time, taken) in there.items():
            self.late.append((last, f"arrival {time} {member} {node} {int(time == last)}"))
            end = self.end_of(member, [(last, node)], taken)
            self.wait(member, end, [(last, node)] + [(last, who)] * (who != member))
            self.at[member] += 1
        there.clear()

    def step(self, thread):
        """False: it cannot go on."""
        kind, what, *rest = self.program.steps[thread][self.at[thread]]
        if kind == "meet":
            if thread in self.there[what]:
                return False
            self.meet(thread, what, rest[0])
            return True
        if kind == "receive":
            needed = collections.Counter(what)
            if any(len(self.sent[sender, thread]) < n for sender, n in needed.items()):
                return False
            acts = [(self.sent[sender, thread].popleft(), sender) for sender in what]
            self.wait(thread, self.end_of(thread, acts, rest[0]), acts)
        elif kind == "send":
            self.sent[thread, what].append(self.now[thread])
            self.be(thread, IN_WAIT, 1)
        elif kind == "queue":
            begin, self.now[thread] = self.now[thread], self.now[thread] + what
            self.lanes[thread] += [(begin, f"queue {begin} {thread}"),
                                   (self.now[thread], f"run {self.now[thread]} {thread}")]
        elif rest[0]:
            self.be(thread, what, rest[0] * self.percents[what] // 100)
        self.at[thread] += 1
        return True

    def run(self):
        threads, steps = range(self.program.threads), self.program.steps
        while any([self.at[t] < len(steps[t]) and self.step(t) for t in threads]):
            pass
        assert all(self.at[t] == len(steps[t]) for t in threads)
        for thread in threads:
            self.be(thread, IN_WAIT, 0)
        return self

    def film(self, is_whole):
        """Its text; not whole: only what ended the waits."""
        end = max(self.now)
        lines = sorted(((time, i, line) for lane in self.lanes for i, (time, line) in enumerate(lane)),
                       key=lambda row: row[0])
        words = ("cause", "need", "arrival") if is_whole else ("cause",)
        late = sorted((time, line) for time, line in self.late if line.split()[0] in words)
        yield f"film 0 {end} {self.program.threads} 0"
        yield from ["part 4"] + ["part 0"] * (BUCKETS - 1)
        for time, _, line in lines:
            while late and late[0][0] < time:
                yield late.pop(0)[1]
            yield line
        yield from (line for _, line in late)
        yield from (f"until {end} {thread} 0" for thread in range(self.program.threads))


def scenarios(dice):
    yield [100] * BUCKETS, False
    yield [100] * BUCKETS, True
    for _ in range(SCENARIOS - 2):
        yield [100, *(dice.choice([0, 10, 50, 75, 90, 100, 100, 200]) for _ in range(BUCKETS - 2)), 100], False


def main():
    build, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    text, truths = [], []
    for i in range(count):
        dice = random.Random(seed + i)
        program = Program(dice)
        wanted = list(scenarios(dice))
        recorded = Run(program, *wanted[0]).run()
        truths.append([max(Run(program, *scenario).run().now) for scenario in wanted])
        for is_whole in (True, False):
            text += recorded.film(is_whole)
            for percents, is_bare in wanted:
                text.append(f"scenario {int(is_bare)}")
                text += (f"factor {percent} 100" for percent in percents)
            text.append("forecast 0")
    done = subprocess.run([f"{build}/tests/crit-waits-play", build], input="\n".join(text) + "\n", text=True,
                          stdout=subprocess.PIPE)
    told = [[int(line.split()[1]) for line in part.splitlines()] for part in done.stdout.split("done\n")[:-1]]
    wrong = blind = 0
    for i, truth in enumerate(truths):
        if told[2 * i:2 * i + 1] != [[truth[0], *truth]]:
            wrong += 1
            print(f"program {seed + i}: {truth}, foretold {told[2 * i:2 * i + 1]}")
        blind += told[2 * i + 1:2 * i + 2] != [[truth[0], *truth]]
    print(f"{count} programs, {SCENARIOS} scenarios: {wrong} wrong; with one cause per wait {blind}")
    return 0 if not wrong and blind and len(told) == 2 * count and not done.returncode else 1


sys.exit(main())
