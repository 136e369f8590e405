#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Films of many ranks are played fast enough, backwards and forwards, and ten times the entries need no more memory.

usage: play_rate.py BUILD
"""
import json
import subprocess
import sys

ENTRIES = 10**6, 10**7
RATES = {"sweep": 2e6, "halo": 5e6}  # entries per second of CPU time backwards, of 1,024 ranks, at least
SPREAD_KIB = 512
SCENARIOS = 16
FORECAST_S = 20  # of the larger film, turned round and played in all scenarios
SCENARIO_RATIO = 3  # of all scenarios to one
ROUNDS = 3  # of which the fastest counts


def bench(build, *options):
    command = [f"{build}/bin/bench-play", build, *(str(option) for option in options)]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    print(text, end="")
    return [json.loads(line) for line in text.splitlines()]


def grown(film, few, many):
    if many["peak_rss_kib"] > few["peak_rss_kib"] + SPREAD_KIB:
        yield f"{film}: {many['peak_rss_kib']} KiB, {few['peak_rss_kib']} for a tenth"


def backwards(build, film, least):
    (few,), (many,) = (bench(build, film, 1024, entries) for entries in ENTRIES)
    if many["entries_per_cpu_s"] < least:
        yield f"{film}: {many['entries_per_cpu_s']:.3g} entries/s, wanted {least:.3g}"
    if many["cycles"]:
        yield f"{film}: {many['cycles']} cycles"
    yield from grown(film, few, many)


def forwards(build, film, ranks):
    few = bench(build, film, ranks, ENTRIES[0], SCENARIOS)[1]
    rounds = [bench(build, film, ranks, ENTRIES[1], SCENARIOS)[1] for _ in range(ROUNDS)]
    one, all_of_them = (min(row[key] for row in rounds) for key in ("one_cpu_s", "cpu_s"))
    if all_of_them > SCENARIO_RATIO * one:
        yield f"{film}, {ranks} ranks: {SCENARIOS} scenarios {all_of_them} s, one {one} s"
    if rounds[0]["turned_cpu_s"] + rounds[0]["cpu_s"] > FORECAST_S:
        yield f"{film}, {ranks} ranks: more than {FORECAST_S} s"
    if ranks <= 1024:  # with more, a tenth has not all pairs of the costs yet
        yield from grown(f"{film} forwards, {ranks} ranks", few, rounds[0])


def main():
    build, faults = sys.argv[1], []
    for film, least in RATES.items():
        faults += backwards(build, film, least)
        for ranks in (2, 1024, 16384):
            faults += forwards(build, film, ranks)
    print(*faults, sep="\n")
    return 1 if faults else 0


sys.exit(main())
