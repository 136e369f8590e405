# SPDX-License-Identifier: BSD-3-Clause
"""What happened in a program, as facts about stretches of time; and those facts as a film."""

OBJECT = 0x80000000
NO_BUCKET = 0xFFFFFFFF
HOLD = 0
SELF, NESTED, TRANSFER, CPU, OUTSIDE, UNKNOWN, BLOCKED = range(7)


class Wait:
    """A node waits in [s, e] for a cause that acts at c; cause None: transfer as a whole."""

    def __init__(self, number, node, kind, s):
        self.number, self.node, self.kind, self.s = number, node, kind, s
        self.e = self.c = self.cause = None

        self.causes = []  # (c, node)

    def end(self, e, causes):
        """Of several causes the latest counts, of these the lowest node."""
        self.e, self.causes = e, [(min(max(c, self.s), e), node) for c, node in causes]
        if causes:
            self.c, self.cause = min(self.causes, key=lambda cause: (-cause[0], cause[1]))


class Film:
    """The facts of a program in the window [0, end]."""

    def __init__(self, threads, parts, end):
        self.threads, self.parts, self.end, self.last = threads, parts, end, 0
        self.waits = []
        self.vertices = []  # of each bucket, the first that is the same vertex of edges; none: threads are
        self.buckets = {}  # node -> [(from, until, bucket)], without gaps
        self.queued = {}  # node -> [(from, until)] in which it has no CPU
        self.asleep = {}  # likewise, in which it is blocked
        self.woken = []  # (from, c, node, waker, kind)
        self.order = {}  # node -> [(time, line)], as the node's entries are written

    def wait(self, node, kind, s):
        wait = Wait(len(self.waits), node, kind, s)
        self.waits.append(wait)
        self.order.setdefault(node, []).append((s, f"wait {s} {node} {kind} {wait.number}"))
        return wait

    def end_wait(self, wait, e, *causes):
        wait.end(e, causes)
        self.order[wait.node].append((e, f"end {e} {wait.node} {wait.kind} {wait.number}"))

    def be(self, node, since, until, bucket):
        """A node is in a bucket; an object is in one during its life."""
        self.buckets.setdefault(node, []).append((since, until, bucket))
        self.order.setdefault(node, []).append((until, f"until {until} {node} {bucket}"))

    def queue(self, node, since, until):
        """Whatever bucket it is in, a node has no CPU."""
        if since < until:
            self.queued.setdefault(node, []).append((since, until))
            lane = self.order.setdefault(node, [])
            lane += [(since, f"queue {since} {node}"), (until, f"run {until} {node}")]

    def sleep(self, node, since, until):
        """Whatever bucket it is in, a node is blocked."""
        if since < until:
            self.asleep.setdefault(node, []).append((since, until))
            lane = self.order.setdefault(node, [])
            lane += [(since, f"sleep {since} {node}"), (until, f"wake {until} {node}")]

    def wake(self, node, since, until, c, waker, kind):
        """It is blocked, and a thread wakes it at c: it waited for that, unless it waits anyway."""
        self.sleep(node, since, until)
        if since < c <= until and node != waker:
            self.woken.append((since, c, node, waker, kind))

    def all_waits(self):
        """Those of the program, and sleeps that were waits: from the end of one in the middle of it on."""
        waits = list(self.waits)
        for since, c, node, waker, kind in self.woken:
            others = [wait for wait in self.waits if wait.node == node]
            if any(wait.s < c <= wait.e for wait in others):
                continue
            wait = Wait(None, node, kind, max([since, *(other.e for other in others if since < other.e < c)]))
            wait.end(c, [(c, waker)])
            waits.append(wait)
        return waits

    def begin_object(self, node, time):
        self.order.setdefault(node, []).append((time, f"until {time} {node} {NO_BUCKET}"))

    def text(self, random):
        """The film: entries of nodes merged by time, causes at any place where they are known."""
        lanes = {node: sorted(lane, key=lambda row: row[0]) for node, lane in self.order.items()}
        places = dict.fromkeys(lanes, 0)
        lines = []
        while places:
            time = min(lanes[node][at][0] for node, at in places.items())
            node = random.choice([n for n, at in places.items() if lanes[n][at][0] == time])
            lines.append(lanes[node][places[node]])
            places[node] += 1
            if places[node] == len(lanes[node]):
                del places[node]
        late = {}
        told = [(c, f"cause {c} {cause} {wait.number}") for wait in self.waits for c, cause in wait.causes]
        for c, line in told + [(c, f"woken {c} {waker} {kind} {node}") for _, c, node, waker, kind in self.woken]:
            first = next(i for i, row in enumerate(lines) if row[0] >= c)
            place = min(len(lines) - 1, first + random.choice([0, 1, 5, 50, len(lines)]))
            late.setdefault(place, []).append(line)
        yield f"film 0 {self.end} {self.threads} {self.last}"
        yield from (f"part {part}" for part in self.parts)
        yield from (f"vertex {vertex}" for vertex in self.vertices)
        for place, (_, line) in enumerate(lines):
            yield line
            yield from late.get(place, [])
        yield "play"


def written(end, threads, buckets, lanes, late):
    """A film's text: lanes of (time, line) in order, and late ones, which come after all of their time."""
    lines = sorted(((time, i, line) for lane in lanes for i, (time, line) in enumerate(lane)),
                   key=lambda row: row[0])
    late = sorted(late)
    yield f"film 0 {end} {threads} 0"
    yield from ["part 4"] + ["part 0"] * (buckets - 1)
    for time, _, line in lines:
        while late and late[0][0] < time:
            yield late.pop(0)[1]
        yield line
    yield from (line for _, line in late)
    yield from (f"until {end} {thread} 0" for thread in range(threads))
