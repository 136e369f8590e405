# SPDX-License-Identifier: BSD-3-Clause
"""What the machine takes for itself, whoever runs there: without a bar, to read the other lines by."""
from measure import first_touch_s, median, spread


def line_page(bench):
    """Under some hypervisors a page costs ten times what the kernel takes for it."""
    values = [first_touch_s() * 1e6 for _ in range(bench.rounds)]
    yield "page of memory, when it is first touched", median(values), "us", None, None, spread(values)


def line_reading(bench):
    """Each stamp of a call or construct is one."""
    values = [bench.measure_reading_ns() for _ in range(bench.rounds)]
    yield "reading of the clock", median(values), "ns", None, None, spread(values)


LINES = (line_page, line_reading)
