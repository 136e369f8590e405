#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What a shim says of messages, collectives, windows and files is what the program did.
# usage: details.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/trial.sh"
trial_begin "$1"
calls=$here/../../core/abi/mpi_calls.def

# details FLAVOUR LEVEL CASE: the program runs, and the recording says what it did.
details() {
	local flavour=$1 level=$2 case=$3 name strays attempt
	export CRIT_LEVEL=$level
	# Waitall of Open MPI 4.1 waits for ever where a request has failed before the call, without crit as well.
	for attempt in 1 2 3 4; do
		name=details-$1-$2-$3-$attempt
		limit_s=40 launch "$name" preload "$flavour" 3 details "$case" "$trial/$name.rank"
		[[ $flavour = openmpi && $case = failing && $status -ge 124 ]] || break
	done
	unset CRIT_LEVEL
	[ "$case" = threads ] && level=threads
	[ "$status" -eq 0 ]
	point "$flavour $level: the program runs, $case" $? "$(tail -1 "$trial/$name.err")"
	python3 "$here/shim_details.py" "$level" "$trial/$name"/*.crit "$calls" \
		"$trial/$name".rank.[012] >"$trial/differ" 2>&1
	point "$flavour $level: details, $case" $? "$(head -5 "$trial/differ")"
	strays=$(ask 'r["messages"]["losses"]["stray_completions"]')
	[ "$strays" = 0 ]
	point "$flavour $level: each end has its start, $case" $? "$strays without"
}

for flavour in "${flavours[@]}"; do
	details "$flavour" trace given
	details "$flavour" trace ignored
	details "$flavour" trace many
	details "$flavour" trace failing
	details "$flavour" trace threads
	details "$flavour" profile ignored
	launch "bare-errors-$flavour" bare "$flavour" 2 oath errors
	launch "errors-$flavour" preload "$flavour" 2 oath errors
	[ "$status" -eq 0 ] && diff <(sort "$trial/bare-errors-$flavour.out") \
		<(sort "$trial/errors-$flavour.out") >"$trial/differ" && [ -s "$trial/errors-$flavour.out" ]
	point "$flavour: errors with statuses ignored" $? "$(head -3 "$trial/differ")"
done
trial_end
