# SPDX-License-Identifier: BSD-3-Clause
"""Random programs: threads that compute, talk, meet, lock, wait for devices and fork, by a simulator.

Times are whole nanoseconds and small, so that much happens at the same time.
"""
import heapq
import itertools

from film_model import CPU, HOLD, OBJECT, OUTSIDE, SELF, UNKNOWN, Film

# Buckets, by what their nodes do.
WORK, OTHER_WORK, IN_WAIT, NO_CPU, NOT_THERE, MEETING, LOCK, DEVICE, REASON = range(9)
PARTS = [SELF, SELF, SELF, CPU, OUTSIDE, UNKNOWN, OUTSIDE, SELF, UNKNOWN]
THE_DEVICE, THE_REASON, LOCKS, MEETINGS = OBJECT, OBJECT + 1, OBJECT + 8, OBJECT + 64
KINDS = RECEIVE, MEET, ACQUIRE, BLOCKED = range(1, 5)
assert HOLD not in KINDS


class Lock:
    def __init__(self, node):
        self.node, self.holder, self.hold, self.waiters, self.released = node, None, None, [], 0


class Simulator:
    """Runs threads, which are generators of times to sleep until, or None until they are woken."""

    def __init__(self, random, end):
        self.random = random
        threads = random.randint(1, 8)
        self.film = Film(threads, PARTS, end)
        self.film.last = random.randrange(threads)
        self.locks = [Lock(LOCKS + i) for i in range(random.randint(1, 3))]
        self.meetings = {}  # number -> [(thread, s, wait)]
        self.group = sorted(random.sample(range(threads), random.randint(1, threads)))
        self.sent = {}  # (from, to) -> [time of the send]
        self.receivers = {}  # (from, to) -> thread that waits
        self.queue, self.order, self.now = [], itertools.count(), 0
        self.running = {}
        self.since = [0] * threads
        self.at_meeting = [0] * threads
        self.doings = [[] for _ in range(threads)]  # waits of each: (wait, bucket stretches)

    def span(self):
        return self.random.choice([0, 0, 1, 1, 2, 5, self.random.randint(0, 60),
                                   self.random.randint(0, 400)])

    def wake(self, thread, time):
        heapq.heappush(self.queue, (time, self.random.random(), next(self.order), thread))

    def be(self, thread, bucket):
        """The thread was in a bucket until now."""
        self.film.be(thread, self.since[thread], self.now, bucket)
        self.since[thread] = self.now

    def lack_cpu(self, thread, since, until, bucket):
        """It had no CPU, which is a bucket of its own or not."""
        if self.random.random() < 0.5:
            self.film.be(thread, since, until, NO_CPU)
        else:
            self.film.queue(thread, since, until)
            self.film.be(thread, since, until, bucket)

    def leave(self, thread, wait, *causes):
        """A wait ends now; part of it the thread may have been without a CPU."""
        begin = self.since[thread]
        if self.random.random() < 0.2:
            self.sleep(thread, begin, self.now)
        elif self.now - begin > 2 and self.random.random() < 0.4:
            first = self.random.randint(begin, self.now)
            until = self.random.randint(first, self.now)
            self.film.be(thread, begin, first, IN_WAIT)
            self.lack_cpu(thread, first, until, IN_WAIT)
            self.since[thread] = until
        self.be(thread, IN_WAIT)
        self.film.end_wait(wait, self.now, *causes)

    def enter(self, thread, kind):
        return self.film.wait(thread, kind, self.now)

    def sleep(self, thread, since, end):
        """It is blocked for some of the time; somebody of the run wakes it, or nobody does."""
        until = self.random.randint(since, end)
        if self.random.random() < 0.5:
            self.film.sleep(thread, since, until)
            return
        waker, kind = self.random.randrange(self.film.threads), self.random.choice([BLOCKED, BLOCKED, HOLD])
        c = until if self.random.random() < 0.7 else self.random.randint(since, until)
        self.film.wake(thread, since, until, c, waker, kind)

    def compute(self, thread):
        yield self.now + self.span()
        if self.random.random() < 0.3:
            self.lack_cpu(thread, self.since[thread], self.now, WORK)
            self.since[thread] = self.now
        else:
            if self.random.random() < 0.3:
                self.sleep(thread, self.random.randint(self.since[thread], self.now), self.now)
            self.be(thread, self.random.choice([WORK, OTHER_WORK]))

    def send(self, thread):
        to = self.random.randrange(self.film.threads)
        self.sent.setdefault((thread, to), []).append(self.now)
        if (thread, to) in self.receivers:
            self.wake(self.receivers.pop((thread, to)), self.now + self.span())
        return
        yield

    def receive(self, thread):
        """One message, or all of several: the last one ends the wait."""
        wait, causes = self.enter(thread, RECEIVE), []
        for _ in range(self.random.choice([1, 1, 2, 3])):
            way = self.random.choice([*self.sent, (self.random.randrange(self.film.threads), thread)])
            way = (way[0], thread)
            if not self.sent.get(way):
                self.receivers[way] = thread
                yield None
            causes.append((self.sent[way].pop(0), way[0]))
        yield self.now + self.random.choice([0, 0, 1, 30])
        self.leave(thread, wait, *causes)

    def meet(self, thread):
        """A barrier: all hang on its instance, and that on the last one."""
        if thread not in self.group:
            return
        number = self.at_meeting[thread]
        self.at_meeting[thread] += 1
        members = self.meetings.setdefault(number, [])
        begin = self.now
        wait = self.enter(thread, MEET)
        members.append((thread, begin))
        instance = MEETINGS + number
        if len(members) < len(self.group):
            yield None
            self.leave(thread, wait, (max(s for _, s in members), instance))
            return
        if self.random.random() < 0.9:
            self.film.begin_object(instance, members[0][1])
        hold = self.film.wait(instance, HOLD, members[0][1])
        self.film.end_wait(hold, self.now, (self.now, thread))
        for other, _ in members[:-1]:
            self.wake(other, self.now + self.span())
        yield self.now + self.random.choice([0, 0, 3])
        self.film.be(instance, members[0][1], self.now, MEETING)
        self.leave(thread, wait)

    def lock(self, thread):
        """One that waits is woken and tries again: another may take the lock before."""
        lock = self.random.choice(self.locks)
        if lock.holder is not None:
            wait = self.enter(thread, ACQUIRE)
            while lock.holder is not None:
                lock.waiters.append(thread)
                yield None
            self.leave(thread, wait, (lock.released, lock.node))
        lock.holder, lock.hold = thread, self.film.wait(lock.node, HOLD, self.now)
        for _ in range(self.random.randint(0, 2)):
            yield from self.random.choice([self.compute, self.compute, self.receive,
                                           self.device])(thread)
        self.film.end_wait(lock.hold, self.now, (self.now, thread))
        lock.holder, lock.released = None, self.now
        if lock.waiters:
            self.wake(lock.waiters.pop(0), self.now + self.span())

    def device(self, thread):
        wait = self.enter(thread, BLOCKED)
        begin = self.now
        yield self.now + self.span()
        causes = self.random.choice([[THE_DEVICE], [THE_REASON], []])
        self.leave(thread, wait, *((self.random.randint(begin, self.now), c) for c in causes))

    def life(self, thread, creator):
        if creator is not None:
            self.be(thread, NOT_THERE)
            if self.random.random() < 0.8:
                birth = self.film.wait(thread, HOLD, 0)
                self.film.end_wait(birth, self.now, (self.now, creator))
        elif self.now:
            self.be(thread, NOT_THERE)
        doings = [self.compute, self.compute, self.send, self.send, self.receive, self.meet,
                  self.meet, self.lock, self.device]
        for _ in range(self.random.randint(1, 40)):
            yield from self.random.choice(doings)(thread)
        self.be(thread, WORK)

    def run(self):
        threads = self.film.threads
        born = self.random.randint(1, threads)
        for thread in range(threads):
            is_first = thread < born or self.random.random() < 0.3
            start = 0 if thread < born else self.span()
            creator = None if is_first else self.random.randrange(born)
            self.running[thread] = self.life(thread, creator)
            self.wake(thread, start)
        while self.queue and self.queue[0][0] <= self.film.end:
            self.now, _, _, thread = heapq.heappop(self.queue)
            time = next(self.running[thread], False)
            if time is not None and time is not False:
                self.wake(thread, time)
        return self.finish()

    def finish(self):
        """The window ends: what still waits does so for a reason that lies outside."""
        self.now = self.film.end
        for wait in self.film.waits:
            if wait.e is None and wait.kind == HOLD:
                lock = next(lock for lock in self.locks if lock.hold is wait)
                self.film.end_wait(wait, self.now, (self.now, lock.holder))
            elif wait.e is None:
                causes = self.random.choice([[(self.now, THE_REASON)], []])
                self.leave(wait.node, wait, *causes)
        for thread in range(self.film.threads):
            if self.since[thread] < self.now:
                self.be(thread, self.random.choice([WORK, NOT_THERE]))
        for lock in self.locks:
            self.film.be(lock.node, 0, self.now, LOCK)
        self.film.be(THE_DEVICE, 0, self.now, DEVICE)
        self.film.be(THE_REASON, 0, self.now, REASON)
        return self.film


def simulated(random):
    return Simulator(random, random.choice([10, 100, 700, random.randint(1, 3000)])).run()


def wild(random):
    """Waits at random, for anybody: wrong wakers, so cycles."""
    end, threads = random.choice([5, 20, random.randint(1, 300)]), random.randint(1, 8)
    film = Film(threads, PARTS, end)
    film.last = random.randrange(threads)
    nodes = [*range(threads), *range(LOCKS, LOCKS + random.randint(1, 3))]
    for node in nodes:
        times = sorted(random.choices(range(end + 1), k=random.randint(0, 12)))
        for s, e in zip(times[::2], times[1::2]):
            wait = film.wait(node, HOLD if node >= OBJECT else random.choice(KINDS), s)
            causes = random.choices(nodes, k=random.randint(int(node >= OBJECT), 3))
            film.end_wait(wait, e, *((random.choice([s, e, random.randint(s, e)]), cause)
                                     for cause in causes))
        times = sorted(random.choices(range(end + 1), k=random.randint(0, 6))) if node < OBJECT else []
        for since, until in zip(times[::2], times[1::2]):
            film.wake(node, since, until, random.randint(since, until), random.randrange(threads),
                      random.choice([*KINDS, HOLD]))
        times = [0, *sorted(random.choices(range(end + 1), k=random.randint(0, 6))), end]
        for since, until in zip(times, times[1:]):
            film.be(node, since, until, random.randrange(len(PARTS)) if node < OBJECT else LOCK)
    return film
