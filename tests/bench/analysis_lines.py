# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the analysis: events per second of one core, and memory as the run grows."""
from measure import NotBuilt


def line_analysis(bench):
    bench.program("tests", "crit-synth")
    raise NotBuilt("how to read crit-synth")


LINES = (line_analysis,)
