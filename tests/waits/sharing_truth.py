#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ends of random programs on other CPUs, against a simulation of the same programs in fractions.

usage: sharing_truth.py BUILD COUNT [SEED]

A program is a list of steps per thread: it works, sleeps for a time or until another one wakes it, creates a thread,
sends, waits for messages or for a group.
Waiters spin, or sleep.  Its film is that of a run in which threads were now and then without a CPU; what must come out
is when it ends where the threads of each node share its CPUs, with the work of each bucket scaled, to the nanosecond.
Two mutants must fail: waiters that spin and take no CPU, and a share that counts those who work alone.
"""
import collections
import random
import subprocess
import sys
from fractions import Fraction

from film_model import OBJECT, written

SPIN, SLEEP = 5, 6  # buckets of waits
BUCKETS = 7  # the first one is nobody's
PLAYS = 6
GROUPS = 2


class Program:
    """Work is a multiple of 100 ns, so that percentages of it are whole; what is sent is received later in lists."""

    def __init__(self, dice):
        self.threads = dice.randint(1, 6)
        self.nodes = dice.randint(1, 2)
        self.steps = [[] for _ in range(self.threads)]
        self.creator = {}  # of the threads that are there later
        self.groups = [sorted(dice.sample(range(self.threads), dice.randint(1, self.threads)))
                       for _ in range(GROUPS)]
        for child in range(1, self.threads):
            if dice.random() < 0.2:
                self.creator[child] = dice.randrange(child)
                self.work(dice, self.creator[child])
                self.steps[self.creator[child]].append(("create", child))
        for _ in range(dice.randint(5, 50)):
            self.add(dice)

    def work(self, dice, thread):
        self.steps[thread].append(("work", dice.randint(1, SPIN - 1), 100 * dice.choice([1, dice.randint(1, 40)])))

    def add(self, dice):
        kind = dice.choice(["work"] * 4 + ["sleep"] + ["wake"] * 2 + ["message"] * 4 + ["several"] * 2 + ["meet"] * 2)
        thread = dice.randrange(self.threads)
        if kind == "work":
            self.work(dice, thread)
        elif kind == "sleep":
            self.steps[thread].append(("sleep", dice.randint(1, 2000)))
        elif kind == "wake":
            waker = dice.randrange(self.threads)
            if waker != thread:
                self.work(dice, waker)
                self.steps[waker].append(("wake", thread))
                self.steps[thread].append(("block", waker))
        elif kind == "meet":
            group = dice.randrange(GROUPS)
            for member in self.groups[group]:
                self.steps[member].append(("meet", group, dice.randint(1, 300), dice.choice([SPIN, SLEEP])))
        else:
            senders = [dice.randrange(self.threads) for _ in range(1 if kind == "message" else 3)]
            senders = [sender for sender in senders if sender != thread]
            for sender in senders:
                self.steps[sender].append(("send", thread))
                self.work(dice, sender)
            self.steps[thread].append(("receive", senders, dice.randint(1, 300), dice.choice([SPIN, SLEEP])))


class Run:
    """Threads of a node share its CPUs; cpus None: each has one at once, and a film is made of it.  Who was awake when
    it was woken in the recorded run does not block in others either."""

    def __init__(self, program, percents, cpus, spins, counts_waiters=True, dice=None, recorded=None):
        self.program, self.percents, self.cpus, self.dice = program, percents, cpus, dice
        self.spins, self.counts_waiters = spins, counts_waiters
        threads = range(program.threads)
        self.now = Fraction(0)
        self.at = [0] * program.threads
        self.left = {}  # thread -> work
        self.until = {}  # thread -> time, of those that sleep or whose wait goes on
        self.waiting = {}  # thread -> (begin, bucket, transfer)
        self.unborn = set(program.creator)
        self.recorded = recorded
        self.awake = set()  # (thread, step)
        self.blocked = {}  # thread -> its wakeup: (waker, thread, number)
        self.woken = set()  # likewise
        self.counts = collections.Counter()  # of wakeups and blocks, by (kind, waker, thread)
        self.sent = collections.defaultdict(collections.deque)
        self.there = [{} for _ in range(GROUPS)]
        self.met = collections.Counter()
        self.ends = [Fraction(0) for _ in threads]
        self.lanes = [[] for _ in threads]  # (time, line)
        self.late = []  # (time, line)
        self.wait_count = 0
        for thread in self.unborn:
            self.lanes[thread].append((0, f"until 0 {thread} 0"))

    def say(self, thread, word, *rest):
        self.lanes[thread].append((self.now, " ".join(str(part) for part in (word, self.now, thread, *rest))))

    def rate(self, node):
        mine = [t for t in range(self.program.threads) if t % self.program.nodes == node]
        wanted = sum(t in self.left for t in mine)
        if self.counts_waiters:
            wanted += sum(t in self.waiting and self.waiting[t][1] == SPIN and self.spins for t in mine)
        return min(Fraction(1), Fraction(self.cpus, wanted)) if self.cpus and wanted else Fraction(1)

    def begin_wait(self, thread, bucket, transfer):
        self.waiting[thread] = (self.now, bucket, transfer, self.wait_count)
        self.say(thread, "wait", 1, self.wait_count)
        if bucket == SLEEP:
            self.say(thread, "sleep")
        self.wait_count += 1

    def open_wait(self, thread, acts):
        begin, _, transfer, number = self.waiting[thread]
        self.until[thread] = self.now + transfer
        last = max((act for act in acts if act[1] < OBJECT), default=None)
        for act in acts:
            word = "cause" if act[0] > begin and act == last else "need"
            self.late.append((self.until[thread], f"{word} {act[0]} {act[1]} {number}"))

    def end_wait(self, thread):
        _, bucket, _, number = self.waiting.pop(thread)
        if bucket == SLEEP:
            self.say(thread, "wake")
        self.say(thread, "until", bucket)
        self.say(thread, "end", 1, number)

    def pass_step(self, thread):
        self.at[thread] += 1
        self.ends[thread] = self.now

    def look(self, thread):
        """What it waits for may be there."""
        kind, what, *_ = self.program.steps[thread][self.at[thread]]
        if kind == "receive":
            needed = collections.Counter(what)
            if all(len(self.sent[sender, thread]) >= n for sender, n in needed.items()):
                self.open_wait(thread, [(self.sent[sender, thread].popleft(), sender) for sender in what])
                return True
        elif len(self.there[what]) == len(self.program.groups[what]):
            node = OBJECT + 8 + what + GROUPS * self.met[what]
            self.met[what] += 1
            last, who = max((time, member) for member, time in self.there[what].items())
            for member, time in self.there[what].items():
                self.late.append((last, f"arrival {time} {member} {node} {int(time == last)}"))
            for member in self.there[what]:
                self.open_wait(member, [(last, node)] + [(last, who)] * (who != member))
            self.there[what].clear()
            return True
        return False

    def block(self, thread, waker):
        wakeup = (waker, thread, self.counts["block", waker, thread])
        self.counts["block", waker, thread] += 1
        step = (thread, self.at[thread])
        if step in self.recorded.awake if self.recorded else wakeup in self.woken:
            self.awake.add(step)
            self.pass_step(thread)
            return
        self.blocked[thread] = wakeup
        self.say(thread, "until", 1)
        self.say(thread, "sleep")

    def unblock(self, thread):
        """It may be woken."""
        if self.blocked[thread] not in self.woken:
            return False
        self.late.append((self.now, f"woken {self.now} {self.blocked.pop(thread)[0]} 1 {thread}"))
        self.say(thread, "wake")
        self.say(thread, "until", 1)
        self.pass_step(thread)
        return True

    def step(self, thread):
        kind, what, *rest = self.program.steps[thread][self.at[thread]]
        if kind == "work":
            passed = Fraction(rest[0] * self.percents[what], 100)
            if passed:
                self.left[thread] = passed
            else:
                self.pass_step(thread)
        elif kind == "sleep":
            self.until[thread] = self.now + what
            self.say(thread, "until", 1)
            self.say(thread, "sleep")
        elif kind == "create":
            self.unborn.remove(what)
            self.say(what, "until", 0)
            self.late.append((self.now, f"birth {self.now} {thread} {what}"))
            self.pass_step(thread)
        elif kind == "send":
            self.sent[thread, what].append(self.now)
            self.pass_step(thread)
        elif kind == "wake":
            self.woken.add((thread, what, self.counts["wake", thread, what]))
            self.counts["wake", thread, what] += 1
            self.pass_step(thread)
        elif kind == "block":
            self.block(thread, what)
        else:
            self.begin_wait(thread, rest[1], rest[0])
            if kind == "meet":
                self.there[what][thread] = self.now

    def settle(self):
        """All that takes no time."""
        changed = True
        while changed:
            changed = False
            for thread in range(self.program.threads):
                if thread in self.waiting and thread not in self.until:
                    changed |= self.look(thread)
                elif thread in self.blocked:
                    changed |= self.unblock(thread)
                elif (thread not in self.left and thread not in self.until and thread not in self.unborn
                      and self.at[thread] < len(self.program.steps[thread])):
                    self.step(thread)
                    changed = True

    def finish(self, thread):
        kind, what, *_ = self.program.steps[thread][self.at[thread]]
        if kind == "work":
            if self.dice and self.dice.random() < 0.3:  # it had no CPU for a while
                self.say(thread, "until", what)
                self.say(thread, "queue")
                self.until[thread] = self.now + self.dice.randint(1, 300)
                return
            self.say(thread, "until", what)
        elif kind == "sleep":
            self.say(thread, "wake")
            self.say(thread, "until", 1)
        else:
            self.end_wait(thread)
        self.pass_step(thread)

    def advance(self):
        """False: all is over."""
        rates = [self.rate(node) for node in range(self.program.nodes)]
        ends = {t: self.now + left / rates[t % self.program.nodes] for t, left in self.left.items()}
        if not ends and not self.until:
            return False
        then = min([*ends.values(), *self.until.values()])
        for thread in list(self.left):
            self.left[thread] -= (then - self.now) * rates[thread % self.program.nodes]
        self.now = then
        for thread in [t for t, left in self.left.items() if not left]:
            del self.left[thread]
            self.finish(thread)
        for thread in [t for t, time in self.until.items() if time == then and t not in self.left]:
            if then != self.until.get(thread):
                continue
            del self.until[thread]
            if self.program.steps[thread][self.at[thread]][0] == "work":
                self.say(thread, "run")
                self.say(thread, "until", self.program.steps[thread][self.at[thread]][1])
                self.pass_step(thread)
            else:
                self.finish(thread)
        return True

    def run(self):
        self.settle()
        while self.advance():
            self.settle()
        assert all(at == len(steps) for at, steps in zip(self.at, self.program.steps))
        return self

    def end(self):
        return max(self.ends)

    def film(self):
        return written(max(self.now, self.end()), self.program.threads, BUCKETS, self.lanes, self.late)


def main():
    build, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    text, truths, mutants = [], [], []
    for i in range(count):
        dice = random.Random(seed + i)
        program = Program(dice)
        recorded = Run(program, [100] * BUCKETS, None, True, dice=dice).run()
        text += recorded.film()
        for k in range(PLAYS):
            percents = [100, *(dice.choice([0, 25, 50, 100, 100, 200]) for _ in range(SPIN - 1)), 100, 100]
            cpus, spins = dice.randint(1, 3), dice.random() < 0.7
            truths.append(Run(program, percents, cpus, spins, recorded=recorded).run().end())
            mutants.append((Run(program, percents, cpus, False, recorded=recorded).run().end(),
                            Run(program, percents, cpus, spins, False, recorded=recorded).run().end()))
            text.append("scenario 0")
            text += (f"factor {percent} 100" for percent in percents)
            text.append(f"share 0 {program.nodes} {cpus} {int(not spins)} {int(k + 1 == PLAYS)}")
    done = subprocess.run([f"{build}/tests/crit-waits-play", build], input="\n".join(text) + "\n", text=True,
                          stdout=subprocess.PIPE)
    told = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("end ")]
    wrong = [i for i, (truth, end) in enumerate(zip(truths, told)) if abs(truth - end) > 1]
    for i in wrong[:5]:
        print(f"program {seed + i // PLAYS}, play {i % PLAYS}: {float(truths[i])}, foretold {told[i]}")
    blind = [sum(abs(truth - mutant[k]) > 1 for truth, mutant in zip(truths, mutants)) for k in range(2)]
    print(f"{len(truths)} plays of {count} programs: {len(wrong)} wrong; mutants {blind[0]} and {blind[1]}")
    return 0 if not wrong and all(blind) and len(told) == len(truths) and not done.returncode else 1


sys.exit(main())
