# SPDX-License-Identifier: BSD-3-Clause
"""What the machine takes for itself, whoever runs there: without a bar, to read the other lines by."""
import mmap
import time

from measure import median, spread

PAGE_BYTES = 4096
PAGES = 4096


def touch_us(memory):
    """CPU time of a write to each page, us a page."""
    start_s = time.thread_time()
    for at in range(0, PAGES * PAGE_BYTES, PAGE_BYTES):
        memory[at] = 1
    return (time.thread_time() - start_s) * 1e6 / PAGES


def line_page(bench):
    """Under some hypervisors a page costs ten times what the kernel takes for it."""
    first, again = [], []
    for _ in range(bench.rounds):
        with mmap.mmap(-1, PAGES * PAGE_BYTES) as memory:
            memory.madvise(mmap.MADV_NOHUGEPAGE)
            first.append(touch_us(memory))
            again.append(touch_us(memory))
    values = [a - b for a, b in zip(first, again)]
    yield "page of memory, when it is first touched", median(values), "us", None, None, spread(values)


LINES = (line_page,)
