#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Waits by path: threads that block for known times in known system calls, called by known functions.
# usage: waits.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "for the full kernel half"

# record NAME COMMAND…: sets dir and report.
record() {
	local name=$1
	shift
	dir=$trial/$name
	report=$dir/report.json
	CRIT_DIR=$dir "$@" >"$trial/$name.out" 2>"$trial/$name.err"
}

# is_right NAME RUN: what waits.py says of a run.
is_right() {
	local said result
	said=$(python3 -S "$trial_lib/waits.py" "$report" "$trial/$2.out" "$2" 2>&1)
	result=$?
	point "$1" $result "$said"
}

record sleeps "$crit" run -- "$apps/waits" sleeps 2000
is_right "sleeps: 40 % in g, 60 % in h, to 1 %; sums; who never blocks" sleeps
grep -A40 '^Waits by path' "$dir/report.txt" | grep -q ' clock_nanosleep$' &&
	grep -A40 '^Waits by path' "$dir/report.txt" | grep -q '  g waits.c:'
point "sleeps: the table of report.txt" $? "$(grep -A40 '^Waits by path' "$dir/report.txt")"
# What nobody of the run ends is told by the call in which it was awaited.
said=$(ask '(lambda s: round(100 * s.get("clock_nanosleep", 0) / (s.get("clock_nanosleep", 0) + s.get("read", 0))))(
	{c["before"]["system_call"]: c["direct_s"] for c in r["causes"] if c["kind"] == "outside" and c["before"]})')
within "sleeps: waits for nobody in nanosleep, of these and read, per cent" "$said" 39 41
if command -v strace >/dev/null; then
	strace -f -qq -e signal=none -o "$trial/strace" "$apps/waits" sleeps 200 >/dev/null 2>&1
	unknown=$(python3 -S -c 'import json, sys
calls = {row["call"] for row in json.load(open(sys.argv[1]))["wait_paths"] if row["blocked_s"] > 0.1}
print(*[call for call in calls if f" {call}(" not in open(sys.argv[2]).read()])' "$report" "$trial/strace")
	[ -z "$unknown" ]
	point "sleeps: system calls are named as strace does" $? "$unknown"
fi

record locks "$crit" run -- "$apps/waits" locks 1920
is_right "locks: told apart by object and path, to 1 %" locks
# The C library's own functions have no names where nothing installed them: file and place in it then.
! grep -A40 '^Waits by path' "$dir/report.txt" | grep -v ' libc\.so\.6+0x' | grep -q 0x
point "locks: no addresses in report.txt" $? "$(grep -A40 '^Waits by path' "$dir/report.txt" | grep 0x)"

# A budget that a storm of switches uses up: stacks are refused and counted, the times stay exact.
export CRIT_SAMPLE_BUDGET=1 CRIT_SAMPLE_HZ=97
record storm "$crit" run -- "$apps/waits" storm 2000
is_right "storm: sums" storm
blocks=$(ask 'sum(row["blocks"] for row in r["wait_paths"] if row["call"] == "read")')
within "storm: blocks" "$blocks" 20000 100000000
captures=$(ask 'sum(frame["captures"] for row in r["wait_paths"] for frame in row["paths"] if frame["parent"] is None)')
within "storm: blocks that were captured" "$captures" 1 $((blocks / 16 - 1))
refused=$(strings -a "$dir"/*.crit | sed -n 's/^stacks not taken, .*: \([0-9]*\)$/\1/p')
within "storm: stacks that the budget refused" "${refused:-0}" 1 "$blocks"
unset CRIT_SAMPLE_BUDGET CRIT_SAMPLE_HZ

# Without stacks times are as exact, and no path is known.
CRIT_SAMPLE=0 record bare "$crit" run -- "$apps/waits" sleeps 500
said=$(ask 'sum(len(row["paths"]) for row in r["wait_paths"]), any(row["call"] == "clock_nanosleep"
	and row["blocked_s"] + r["losses"]["unknown_s"] > 0.19 for row in r["wait_paths"])')
[ "$said" = "(0, True)" ]
point "without stacks: times, no paths" $? "$said"
trial_end
