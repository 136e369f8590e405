#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Delays of random programs against a look at every nanosecond.

usage: delay_truth.py BUILD COUNT [SEED]

A program is a list of steps per thread: it does some code, has no CPU, waits for something else, sleeps for another
one, whose doings are its own meanwhile, has a message for which another one waits, forks, or meets the others of a
group, whose members come in any order and leave when all are there.  What happened becomes a film, whose delays must be
those of a comparison of all members' nanoseconds since each was there before, no more than was waited for it there,
added up per late thread and call before what is below 0 is dropped, and of all codes of a thread no more than it did
longer in all; of each code meetings or one partner of messages count, what tells most.  Dropping first must give
something else in some programs.  What all late ones computed longer, in all codes together and as far as it was waited
for, must be the same, too.
"""
import collections
import fractions
import random
import subprocess
import sys

from film_model import OBJECT, written

CODES, GROUPS, SITES = 4, 3, 2
NONE = 0xFFFFFFFF
NO_CPU = "no CPU"
SEND, FORK = 1, 2  # calls after a stretch, besides those that meet
RECEIVE, OTHER_WAIT = 3, 0xFFFF  # calls of waits


def share_of(longer, waited):
    """What was not waited for is none of the late one's."""
    return fractions.Fraction(waited) / longer if longer > waited else 1


class Run:
    """Steps are taken as they are drawn, each thread from where it is."""

    def __init__(self, dice, fork_call):
        self.dice, self.fork_call = dice, fork_call
        self.threads = dice.randint(1, 8)
        self.now = [0] * self.threads
        self.did = [[] for _ in range(self.threads)]  # by nanosecond: a code, NO_CPU, None
        self.lanes = [[] for _ in range(self.threads)]
        self.late, self.waits, self.objects = [], 0, 0
        self.buckets = {(NONE, 0, 0, NONE, 0): 0}  # (thread, call after, its site, code, is in it) -> number
        self.met = collections.defaultdict(int)  # (thread, group) -> time
        self.excess = collections.defaultdict(fractions.Fraction)  # (thread, partner or None, site, code)
        self.talked = collections.defaultdict(dict)  # two threads -> when each did for the last time
        self.messages = 0
        self.liking = dice.choice([1, 2, 4])
        self.dropped = collections.defaultdict(fractions.Fraction)  # (thread, code): each meeting by itself
        self.meetings = 0
        self.late_sum = fractions.Fraction(0)
        self.limits = collections.defaultdict(fractions.Fraction)  # (thread, partner or None): of all codes
        self.sleeps = [[] for _ in range(self.threads)]  # (from, until, waker)
        self.groups = [sorted(dice.sample(range(self.threads), dice.randint(1, self.threads))) for _ in range(GROUPS)]
        for _ in range(dice.randint(5, 60)):
            self.step()

    def stretch(self, thread, call, site):
        """Some code, in parts of which the thread has no CPU; call: what comes after it."""
        code = self.dice.randrange(CODES)
        length = self.dice.choice([0, 1, self.dice.randint(1, 60)])
        if not length:
            return
        begin, end = self.now[thread], self.now[thread] + length
        did = [code] * length
        if self.dice.random() < 0.3:
            first = self.dice.randrange(length)
            last = self.dice.randint(first + 1, length)
            did[first:last] = [NO_CPU] * (last - first)
            self.lanes[thread] += [(begin + first, f"queue {begin + first} {thread}"),
                                   (begin + last, f"run {begin + last} {thread}")]
        self.did[thread] += did
        self.end_bucket(thread, end, (thread, call, site, code, 0))

    def end_bucket(self, thread, end, key):
        bucket = self.buckets.setdefault(key, len(self.buckets))
        self.lanes[thread].append((end, f"until {end} {thread} {bucket}"))
        self.now[thread] = end

    def wait(self, thread, end, cause, call=OTHER_WAIT):
        """cause: (time, thread), or None."""
        begin, number = self.now[thread], self.waits
        if end == begin:
            return
        self.waits += 1
        self.lanes[thread].append((begin, f"wait {begin} {thread} 1 {number}"))
        self.did[thread] += [None] * (end - begin)
        self.end_bucket(thread, end, (thread, call, 0, NONE, 1))
        self.lanes[thread].append((end, f"end {end} {thread} 1 {number}"))
        if cause and begin < cause[0]:
            self.late.append((end, f"cause {cause[0]} {cause[1]} {number}"))

    def step(self):
        dice = self.dice
        thread = dice.randrange(self.threads)
        kind = dice.choice(["code"] * 4 + ["wait", "fork"] + ["sleep"] * 2 + ["meet", "message"] * self.liking)
        if kind == "code":
            self.stretch(thread, SEND, 0)
        elif kind == "wait":
            self.wait(thread, self.now[thread] + dice.randint(0, 30), None)
        elif kind == "sleep":
            self.sleep(thread)
        elif kind == "message":
            self.message(thread)
        elif kind == "fork":
            self.stretch(thread, FORK, 0)
            if self.lanes[thread] and self.is_fork(self.lanes[thread][-1][1]):
                self.met[thread, 0] = self.now[thread]
                self.wait(thread, self.now[thread] + 1, None)
        else:
            self.meet(dice.randrange(GROUPS))

    def sleep(self, thread):
        """Until another one wakes it, which is awake then."""
        begin, waker = self.now[thread], self.dice.randrange(self.threads)
        if self.now[waker] <= begin:
            return
        until = self.dice.randint(begin + 1, self.now[waker])
        if any(since < until <= end for since, end, _ in self.sleeps[waker]):
            return
        self.did[thread] += self.did[waker][begin:until]
        self.sleeps[thread].append((begin, until, waker))
        self.lanes[thread] += [(begin, f"sleep {begin} {thread}"), (until, f"wake {until} {thread}")]
        self.late.append((until, f"woken {until} {waker} 1 {thread}"))
        self.end_bucket(thread, until, (thread, SEND, 0, self.dice.randrange(CODES), 0))

    def message(self, thread):
        """From another one that is still at work; who does not wait has none."""
        sender = self.dice.randrange(self.threads)
        self.stretch(sender, SEND, 1)
        act = self.now[sender]
        if act <= self.now[thread]:
            return
        begin, partners = self.now[thread], frozenset((thread, sender))
        before = self.talked[partners]
        self.wait(thread, act + self.dice.choice([0, 1, self.dice.randint(1, 20)]), (act, sender), RECEIVE)
        self.messages += 1
        late = collections.Counter(self.did[sender][before.get(sender, 0):act])
        other = collections.Counter(self.did[thread][before.get(thread, 0):begin])
        self.talked[partners] = {sender: act, thread: begin}
        codes = {*late, *other} - {None}
        longer = sum(late[code] - other[code] for code in codes)
        share = share_of(longer, act - begin)
        self.limits[sender, thread] += max(share * longer, 0) / 2
        self.add_late(sum(late[code] - other[code] for code in codes - {NO_CPU}), act - begin)
        for code in codes:
            self.excess[sender, thread, self.call_of(sender, act), code] += share * fractions.Fraction(
                late[code] - other[code], 2)

    def add_late(self, longer, waited):
        self.late_sum += max(min(longer, waited), 0)

    def doer(self, thread, code):
        """Who has a bucket of the code: the thread, who woke it last, or who woke that."""
        codes = {(key[0], key[3]) for key in self.buckets}
        for _ in range(9):
            if (thread, code) in codes or code == NO_CPU:
                return thread
            if not self.sleeps[thread]:
                return None
            thread = self.sleeps[thread][-1][2]
        return None

    def is_fork(self, line):
        words = line.split()
        if words[0] != "until":
            return False
        key = next(key for key, number in self.buckets.items() if number == int(words[3]))
        return key[1] == FORK

    def meet(self, group):
        """Group 0 is a team."""
        members = self.groups[group]
        site = {}
        for member in members:
            site[member] = self.dice.randrange(SITES)
            self.stretch(member, 10 + group, site[member])
        came = {member: self.now[member] for member in members}
        last = max(came.values())
        late = min(member for member in members if came[member] == last)
        node, self.objects = OBJECT + 8 + self.objects, self.objects + 1
        for member in members:
            place = 1 + group
            self.late.append((last, f"arrival {came[member]} {member} {node} {int(came[member] == last) + 2 * place}"))
            self.wait(member, last + self.dice.choice([1, self.dice.randint(1, 20)]), (last, late))
        self.compare(members, group, came, late, site[late])

    def compare(self, members, group, came, late, site):
        did = {m: collections.Counter(self.did[m][self.met[m, group]:came[m]]) for m in members}
        is_waited_for = any(came[m] < came[late] for m in members)
        for member in members:
            self.met[member, group] = came[member]
        if not is_waited_for:
            return
        self.meetings += 1
        excesses = {}
        for code in {code for counter in did.values() for code in counter} - {None}:
            mean = fractions.Fraction(sum(counter[code] for counter in did.values()), len(members))
            excesses[code] = did[late][code] - mean
        waited = fractions.Fraction(sum(came[late] - came[m] for m in members), len(members))
        longer = sum(excesses.values())
        share = share_of(longer, waited)
        self.limits[late, None] += max(share * longer, 0)
        self.add_late(sum(excess for code, excess in excesses.items() if code != NO_CPU), waited)
        for code, excess in excesses.items():
            excess *= share
            # where the last stretch before the call has no length the late one is in another bucket
            self.excess[late, None, self.call_of(late, came[late]), code] += excess
            self.dropped[late, code] += max(excess, 0)

    def call_of(self, thread, time):
        """The call after the bucket that the thread was in until it came."""
        for when, line in reversed(self.lanes[thread]):
            words = line.split()
            if words[0] == "until" and when <= time:
                key = next(key for key, number in self.buckets.items() if number == int(words[3]))
                return (0, 0) if key[4] else key[1:3]
        return None

    def film(self):
        end = max(self.now) + 1
        yield from written(end, self.threads, len(self.buckets), self.lanes, self.late)
        for thread, call, site, code, is_call in self.buckets:
            call = self.fork_call if call == FORK else call
            yield f"key {thread} {call} {site} {code} {is_call}"
        yield "delays"

    def delays(self):
        """Of each code of a thread that counts which tells most: its meetings, or the messages to one partner."""
        totals = collections.defaultdict(fractions.Fraction)
        for (thread, partner, _, code), excess in self.excess.items():
            totals[thread, code, partner] += max(excess, 0)
        sums = collections.defaultdict(fractions.Fraction)
        for (thread, _, partner), total in totals.items():
            sums[thread, partner] += total
        for key in totals:
            limit = self.limits[key[0], key[2]]
            if sums[key[0], key[2]] > limit:
                totals[key] *= limit / sums[key[0], key[2]]
        told = collections.defaultdict(fractions.Fraction)
        for thread, code in {key[:2] for key in totals}:
            most = max(total for key, total in totals.items() if key[:2] == (thread, code))
            told[self.doer(thread, code), code] += most
        return {key: value for key, value in told.items() if value and key[0] is not None}


def read_delays(run, lines):
    """(thread, code) -> nanoseconds, as printed; how much longer the late ones computed; and how many meetings."""
    told = collections.defaultdict(float)
    keys = list(run.buckets)
    meetings = late = None
    for line in lines:
        words = line.split()
        if words[0] == "meetings":
            meetings = int(words[1])
        elif words[0] == "late":
            late = float(words[1])
        else:
            thread, _, _, code, _ = keys[int(words[1])]
            told[thread, code] += float(words[2])
            told[thread, NO_CPU] += float(words[3])
    return {key: value for key, value in told.items() if value}, late, meetings


def is_same(told, wanted):
    return all(abs(told.get(key, 0) - float(wanted.get(key, 0))) < 1e-6 for key in told.keys() | wanted.keys())


def main():
    build, count = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    dice = random.Random(seed)
    player = f"{build}/tests/crit-waits-play"
    fork_call = int(subprocess.run([player, "--fork-call"], check=True, capture_output=True, text=True).stdout)
    runs = [Run(dice, fork_call) for _ in range(count)]
    text = "\n".join(line for run in runs for line in run.film()) + "\n"
    printed = subprocess.run([player, "."], input=text, capture_output=True, text=True, check=False)
    if printed.returncode:
        sys.exit(f"delay_truth: {printed.stderr}")
    blocks = printed.stdout.split("done\n")[:-1]
    wrong, unlike, delayed = 0, 0, 0
    for run, block in zip(runs, blocks, strict=True):
        told, late, meetings = read_delays(run, block.splitlines())
        wanted = run.delays()
        delayed += bool(wanted)
        unlike += not is_same(told, {key: value for key, value in run.dropped.items() if value})
        if not is_same(told, wanted) or meetings != run.meetings or abs(late - float(run.late_sum)) > 1e-6:
            wrong += 1
            if wrong == 1:
                print("told", dict(told), late, meetings)
                print("wanted", {k: float(v) for k, v in wanted.items()}, float(run.late_sum), run.meetings)
    print(f"{count} programs, seed {seed}: {wrong} wrong; {delayed} have delays; dropping first differs in {unlike}")
    sys.exit(1 if wrong or delayed < count / 2 or not unlike else 0)


if __name__ == "__main__":
    main()
