#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Films of 1,024 ranks are played fast enough, and ten times the entries need no more memory.

usage: backplay_rate.py BUILD
"""
import json
import subprocess
import sys

RANKS = 1024
ENTRIES = 10**6, 10**7
RATES = {"sweep": 2e6, "halo": 5e6}  # entries per second of CPU time, at least
SPREAD_KIB = 2048


def bench(build, film, entries):
    command = [f"{build}/bin/bench-backplay", build, film, str(RANKS), str(entries)]
    row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    print(row)
    return row


def main():
    build, faults = sys.argv[1], []
    for film, least in RATES.items():
        few, many = (bench(build, film, entries) for entries in ENTRIES)
        if many["entries_per_cpu_s"] < least:
            faults.append(f"{film}: {many['entries_per_cpu_s']:.3g} entries/s, wanted {least:.3g}")
        if many["peak_rss_kib"] > few["peak_rss_kib"] + SPREAD_KIB:
            faults.append(f"{film}: {many['peak_rss_kib']} KiB, {few['peak_rss_kib']} for a tenth")
        if many["cycles"]:
            faults.append(f"{film}: {many['cycles']} cycles")
    print(*faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
