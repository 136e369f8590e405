#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Forecasts of random programs against the same programs run with the change.

usage: forecast_truth.py BUILD COUNT [SEED]

A program is a list of steps per thread: it computes, has no CPU, sends, receives one message or several at once,
sleeps until another one wakes it, or meets all or some; each call takes time, so that a thread does one thing at a
time, and it may have no CPU when what it needs is done, and before.  A simulator runs it; what happened becomes a film,
from which the forecast of 16 scenarios must be, to the nanosecond, what the simulator gives for the program with its
computations changed, and with a part of the time without a CPU.  As a film with one cause per wait does not know of
those that may come last, such forecasts must fail in some.
"""
import collections
import random
import subprocess
import sys

from film_model import OBJECT, written

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

    def transfer(self, dice):
        """How long a call lasts when all it needs is done, and how long it has no CPU before; one of both at least."""
        return dice.choice([1, 7, dice.randint(1, 500)]), dice.choice([0, 0, dice.randint(1, 300)])

    def compute(self, dice, thread):
        if dice.random() < 0.2:
            self.steps[thread].append(("queue", dice.randint(1, 300)))
        self.steps[thread].append(("compute", dice.randint(1, BUCKETS - 2),
                                   100 * dice.choice([0, 1, dice.randint(1, 40)])))

    def add(self, dice):
        """What is sent is received later in all lists, so no program hangs."""
        kind = dice.choice(["compute"] * 4 + ["message"] * 4 + ["several"] * 2 + ["meet"] * 2 + ["wake"] * 2)
        thread = dice.randrange(self.threads)
        transfer = self.transfer(dice)
        if kind == "compute":
            self.compute(dice, thread)
        elif kind == "meet":
            group = dice.randrange(GROUPS)
            for member in self.groups[group]:
                self.steps[member].append(("meet", group, dice.choice([self.transfer(dice), transfer])))
        elif kind == "wake":
            waker = dice.randrange(self.threads)
            if waker != thread:
                self.steps[waker].append(("wake", thread))
                self.steps[thread].append(("sleep", waker))
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
    """A program with the times of a scenario: per cent of each bucket, without transfer, per cent of each thread's time
    without a CPU.  Who was awake when it was woken does not sleep in other runs either: nothing was seen of that."""

    def __init__(self, program, percents, is_bare, queued, recorded=None):
        self.program, self.percents, self.is_bare, self.queued = program, percents, is_bare, queued
        self.now = [0] * program.threads
        self.at = [0] * program.threads
        self.sent = collections.defaultdict(collections.deque)  # (from, to) -> times
        self.met = collections.Counter()  # group -> instances that are over
        self.there = [{} for _ in range(GROUPS)]  # thread -> time, of the present instance
        self.lanes = [[] for _ in range(program.threads)]  # (time, line)
        self.late = []  # (time, line)
        self.waits = 0
        self.recorded = recorded
        self.awake = set()  # (thread, step)
        self.woken = collections.defaultdict(list)  # (waker, thread) -> times
        self.slept = collections.Counter()  # of these, how many the thread has slept for

    def lack_cpu(self, thread, since, until):
        self.lanes[thread] += [(since, f"queue {since} {thread}"), (until, f"run {until} {thread}")]

    def wait(self, thread, end, acts, queues=()):
        """queues: when it has no CPU."""
        number = self.waits
        self.waits += 1
        begin = self.now[thread]
        self.lanes[thread].append((begin, f"wait {begin} {thread} 1 {number}"))
        for since, until in queues:
            self.lack_cpu(thread, since, until)
        self.lanes[thread] += [(end, f"until {end} {thread} {IN_WAIT}"), (end, f"end {end} {thread} 1 {number}")]
        last = max(((time, node) for time, node in acts if node < OBJECT), default=None)
        for time, node in acts:
            word = "cause" if time > begin and (time, node) == last else "need"
            self.late.append((end, f"{word} {time} {node} {number}"))
        self.now[thread] = end

    def wait_for(self, thread, acts, transfer):
        """It has no CPU at its begin, nor from before the last act on until it has one for what is left."""
        running, queueing = (0, 0) if self.is_bare and acts else transfer
        queueing = queueing * (self.queued[thread] if acts else 100) // 100
        begin = self.now[thread]
        last = max([begin, *(time for time, _ in acts)])
        is_long = last - begin > 3
        queues = [(begin, begin + 1)] * is_long + [(last - is_long, last + queueing)] * (queueing > 0)
        self.wait(thread, last + queueing + running, acts, queues)

    def be(self, thread, bucket, passed):
        self.now[thread] += passed
        self.lanes[thread].append((self.now[thread], f"until {self.now[thread]} {thread} {bucket}"))

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
            self.wait_for(member, [(last, node)] + [(last, who)] * (who != member), taken)
            self.at[member] += 1
        there.clear()

    def sleep(self, thread, waker):
        """False: it is not woken yet."""
        step, wakes, at = (thread, self.at[thread]), self.woken[waker, thread], self.slept[waker, thread]
        is_awake = self.recorded and step in self.recorded.awake
        if not is_awake and len(wakes) <= at:
            return False
        self.slept[waker, thread] += 1
        time = self.now[thread] if is_awake else wakes[at]
        if time <= self.now[thread]:
            self.awake.add(step)
        else:
            self.lanes[thread] += [(self.now[thread], f"sleep {self.now[thread]} {thread}"),
                                   (time, f"wake {time} {thread}")]
            self.late.append((time, f"woken {time} {waker} 1 {thread}"))
            self.now[thread] = time
        return True

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
            self.wait_for(thread, acts, rest[0])
        elif kind == "sleep":
            if not self.sleep(thread, what):
                return False
        elif kind in ("send", "wake"):
            (self.sent if kind == "send" else self.woken)[thread, what].append(self.now[thread])
            self.be(thread, IN_WAIT, 1)
        elif kind == "queue":
            begin, self.now[thread] = self.now[thread], self.now[thread] + what * self.queued[thread] // 100
            self.lack_cpu(thread, begin, self.now[thread])
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
        words = ("cause", "woken", "need", "arrival") if is_whole else ("cause", "woken")
        late = [(time, line) for time, line in self.late if line.split()[0] in words]
        return written(max(self.now), self.program.threads, BUCKETS, self.lanes, late)


def scenarios(dice, threads):
    yield [100] * BUCKETS, False, [100] * threads
    yield [100] * BUCKETS, True, [100] * threads
    for i in range(SCENARIOS - 2):
        percents = (dice.choice([0, 10, 50, 75, 90, 100, 100, 200]) for _ in range(BUCKETS - 2))
        queued = [dice.choice([0, 30, 75, 100]) if i < 4 else 100 for _ in range(threads)]
        yield [100, *percents, 100], False, queued


def play(build, lines):
    """Plays films; for each forecast the numbers of its lines, that of the recorded end first."""
    done = subprocess.run([f"{build}/tests/crit-waits-play", build], input="\n".join(lines) + "\n", text=True,
                          stdout=subprocess.PIPE)
    parts = [] if done.returncode else done.stdout.split("done\n")[:-1]
    return [[tuple(map(int, line.split()[1:])) for line in part.splitlines()] for part in parts]


def main():
    build, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    text, truths = [], []
    for i in range(count):
        dice = random.Random(seed + i)
        program = Program(dice)
        wanted = list(scenarios(dice, program.threads))
        recorded = Run(program, *wanted[0]).run()
        truths.append([max(Run(program, *scenario, recorded).run().now) for scenario in wanted])
        for is_whole in (True, False):
            text += recorded.film(is_whole)
            for percents, is_bare, queued in wanted:
                text.append(f"scenario {int(is_bare)}")
                text += (f"factor {percent} 100" for percent in percents)
                text += (f"queued {percent} 100" for percent in queued)
            text.append("forecast 0")
    told = [[numbers[0] for numbers in lines] for lines in play(build, text)]
    wrong = blind = 0
    for i, truth in enumerate(truths):
        if told[2 * i:2 * i + 1] != [[truth[0], *truth]]:
            wrong += 1
            print(f"program {seed + i}: {truth}, foretold {told[2 * i:2 * i + 1]}")
        blind += told[2 * i + 1:2 * i + 2] != [[truth[0], *truth]]
    print(f"{count} programs, {SCENARIOS} scenarios: {wrong} wrong; with one cause per wait {blind}")
    return 0 if not wrong and blind and len(told) == 2 * count else 1


if __name__ == "__main__":
    sys.exit(main())
