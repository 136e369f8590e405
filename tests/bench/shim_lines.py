# SPDX-License-Identifier: BSD-3-Clause
"""Budget lines of the MPI shim: what a call pays, and what a real program pays."""
from measure import NotBuilt


def lines_call(bench):
    bench.program("tests", "apps", "call_cost.openmpi")
    raise NotBuilt("how to read call_cost")


LINES = (lines_call,)
