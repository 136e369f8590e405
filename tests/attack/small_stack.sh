#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# An application whose stack is limited to 64 KiB has the report that it has otherwise, and threads with the smallest
# stack there is may call MPI, first of all, too.
# usage: small_stack.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
stack_kib=64

# What a launcher runs: the launchers themselves want more.
printf '#!/bin/sh\nulimit -s %d || exit 1\nexec "$@"\n' "$stack_kib" >"$trial/limited"
chmod +x "$trial/limited"

# summary: what the report has of the run, apart from its figures, and from waits, which it has if a thread blocked.
summary() {
	ask '(sorted(set(r) - {"wait_paths"}), [x["rank"] for x in r["ranks"]], len(r["threads"]),
		sorted(x["name"] for x in r["mpi_calls"]),
		sorted((x["function"] or "", x["line"] or 0) for x in r["mpi_call_sites"]),
		[x["what"] for x in r["missing"]])'
}

# limited FLAVOUR: the report is whole and as it is without a limit.
limited() {
	local flavour=$1 expected said
	launch "$flavour-whole" preload "$flavour" 2 "$apps/exchange_only.$flavour"
	has_last_report 10
	expected=$(summary)
	launch "$flavour-limited" preload "$flavour" 2 "$trial/limited" "$apps/exchange_only.$flavour"
	has_last_report 10
	point "$flavour: report" $? "status $status, $(head -c 200 "$trial/$flavour-limited.err" | tr '\n' ' ')"
	said=$(summary)
	[ "$said" = "$expected" ]
	point "$flavour: as without a limit" $? "${#said} bytes, ${#expected} without"
	"$trial/limited" "$crit" report --json "$dir" | cmp - "$report"
	point "$flavour: crit report" $? ""
}

# small_threads FLAVOUR
small_threads() {
	local flavour=$1 visits
	launch "$flavour-threads" preload "$flavour" 1 small_threads
	point "$flavour: threads with the smallest stack" "$status" "$(cat "$trial/$flavour-threads.out")"
	has_last_report 10
	visits=$(ask '[x["visits"] for x in r["mpi_calls"] if x["name"] == "MPI_Comm_size"]')
	[ "$visits" = "[1]" ]
	point "$flavour: such a thread's call" $? "$visits"
}

for flavour in "${flavours[@]}"; do
	limited "$flavour"
	small_threads "$flavour"
done
trial_end
