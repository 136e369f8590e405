# SPDX-License-Identifier: BSD-3-Clause
"""What waits cost, by looking at every nanosecond of a film: the definitions, and nothing clever."""
from collections import Counter, defaultdict

from film_model import BLOCKED, CPU, HOLD, NESTED, NO_BUCKET, OBJECT, SELF, TRANSFER, UNKNOWN

assert SELF == 0


ACTS_MAX = 100


class Act:
    def __init__(self):
        self.impact, self.waits = 0, defaultdict(lambda: [0, None, None])  # wait -> ns, vertex, bucket


class BruteForce:
    def __init__(self, film):
        self.film = film
        self.links = {}  # waiter -> its wait, in the wait state
        self.open = {}  # node -> its wait
        self.cut = set()  # waits taken out of a cycle
        self.cost = Counter()  # (bucket, part)
        self.direct = Counter()  # bucket
        self.path = Counter()  # (bucket, part)
        self.edges = defaultdict(Counter)  # (from, to) -> raw, impact, count, parts
        self.acts = defaultdict(Act)  # (thread, time) -> who waited for what it did then
        self.cycles = 0
        self.path_thread = film.last
        self.bucket_at = {node: [NO_BUCKET] * film.end for node in film.buckets}
        for node, stretches in film.buckets.items():
            for since, until, bucket in stretches:
                self.bucket_at[node][since:until] = [bucket] * (until - since)
        self.queued_at, self.asleep_at = (
            {node: {t for since, until in stretches for t in range(since, until)} for node, stretches in each.items()}
            for each in (film.queued, film.asleep))
        self.by_begin, self.by_end, self.by_cause = (defaultdict(list) for _ in range(3))
        self.waits = film.all_waits()
        for wait in self.waits:
            if wait.s < wait.e:
                self.by_begin[wait.s].append(wait)
                self.by_end[wait.e].append(wait)
                if wait.cause is not None and wait.s < wait.c:
                    self.by_cause[wait.c].append(wait)

    def bucket(self, node, t):
        return self.bucket_at[node][t] if node in self.bucket_at else NO_BUCKET

    def part(self, node, t):
        """What a root does."""
        if t in self.queued_at.get(node, ()):
            return CPU
        bucket = self.bucket(node, t)
        part = UNKNOWN if bucket == NO_BUCKET else self.film.parts[bucket]
        wait = self.open.get(node)
        is_waiting = wait is not None and wait.kind != HOLD
        if not is_waiting and part == SELF and t in self.asleep_at.get(node, ()):
            return BLOCKED
        if not is_waiting or part == CPU:
            return part
        return UNKNOWN if wait in self.cut else TRANSFER

    def who(self, node, t):
        return node if node < OBJECT else OBJECT | self.bucket(node, t)

    def vertex(self, node, t):
        if not self.film.vertices or node >= OBJECT:
            return self.who(node, t)
        bucket = self.bucket(node, t)
        return len(self.film.parts) + node if bucket == NO_BUCKET else self.film.vertices[bucket]

    def parent(self, node):
        return self.links[node].cause if node in self.links else None

    def add_link(self, wait):
        """Unless that makes a cycle: then the largest node of that loses its link."""
        cycle, node = [wait.node], wait.cause
        while node is not None and node != wait.node:
            cycle.append(node)
            node = self.parent(node)
        if node is None:
            self.links[wait.node] = wait
            wait.pair = None
            return
        self.cycles += 1
        largest = max(cycle)
        self.cut.add(wait if largest == wait.node else self.links.pop(largest))
        if largest != wait.node:
            self.links[wait.node] = wait
            wait.pair = None

    def change(self, time):
        for wait in self.by_begin[time]:
            self.open.pop(wait.node)
            self.links.pop(wait.node, None)
        for wait in self.by_end[time]:
            self.open[wait.node] = wait
        for wait in sorted(self.by_cause[time], key=lambda wait: wait.node):
            self.add_link(wait)

    def count_waiter(self, waiter, t):
        """One nanosecond of a thread that waits, up to the root."""
        node, is_direct = waiter, True
        while node in self.links:
            above = self.parent(node)
            if node >= OBJECT or self.open[node].kind != HOLD:
                self.edges[self.vertex(node, t), self.vertex(above, t)]["impact"] += 1
                if above < OBJECT:
                    self.acts[above, self.links[node].c].impact += 1
            node = above
            if node < OBJECT and node in self.links:
                is_direct = False
        bucket = self.bucket(node, t)
        self.cost[bucket, self.part(node, t)] += 1
        self.direct[bucket] += is_direct

    def count_link(self, wait, t):
        edge = self.edges[self.vertex(wait.node, t), self.vertex(wait.cause, t)]
        doer = wait.cause
        while doer >= OBJECT and doer in self.links:
            doer = self.parent(doer)
        edge["raw"] += 1
        edge[NESTED if doer in self.links else self.part(doer, t)] += 1
        if wait.cause < OBJECT:
            ns = self.acts[wait.cause, wait.c].waits[wait][0]
            self.acts[wait.cause, wait.c].waits[wait] = [ns + 1, self.who(wait.node, t), self.bucket(wait.node, t)]
        pair = self.vertex(wait.node, t), self.vertex(wait.cause, t)
        edge["count"] += pair != wait.pair
        wait.pair = pair

    def count_path(self, t):
        node = self.path_thread
        while node in self.links:
            node = self.parent(node)
            if node < OBJECT:
                self.path_thread = node
        self.path[self.bucket(node, t), self.part(node, t)] += 1

    def run(self):
        for t in range(self.film.end - 1, -1, -1):
            self.change(t + 1)
            for node, wait in self.open.items():
                if wait.kind != HOLD:
                    self.count_waiter(node, t)
            for wait in self.links.values():
                if wait.kind != HOLD or wait.node >= OBJECT:
                    self.count_link(wait, t)
            self.count_path(t)
        return self

    def lines(self):
        """As crit-waits-play prints them, in any order."""
        count = len(self.film.parts)
        for row in range(count + 1):
            bucket = row if row < count else NO_BUCKET
            figures = [self.direct[bucket]]
            for part in range(7):
                figures += [self.cost[bucket, part], self.path[bucket, part]]
            yield f"bucket {row} {' '.join(map(str, figures))}"
        for (waiter, cause), edge in self.edges.items():
            figures = [edge[key] for key in ("count", "raw", "impact", *range(7))]
            yield f"edge {waiter} {cause} {' '.join(map(str, figures))}"
        acts = [(-act.impact, time, thread) for (thread, time), act in self.acts.items() if act.impact]
        for impact, time, thread in sorted(acts)[:ACTS_MAX]:
            waits = self.acts[thread, time].waits.values()
            ns, waiter, bucket = max(waits, key=lambda wait: (wait[0], -wait[1]))
            yield f"act {thread} {self.bucket(thread, time - 1)} {time} {len(waits)} {waiter} {bucket} {ns} {-impact}"
        waits = [wait for wait in self.waits if wait.kind != HOLD]
        yield f"waits {len(waits)} {sum(wait.e - wait.s for wait in waits)} {self.cycles}"
