#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The same run seen by crit and by an ftrace instance: figures of every thread must agree.
# usage: truth.sh BUILD-DIRECTORY [quick]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"

# Neither of the two has lost a switch that puts a member in doubt: those are credited to nobody.
is_certain() {
	grep -q '"doubtful": 0' "$trial/$1.truth" &&
		[ "$(ask 'r["losses"]["unknown_s"] == 0' "$trial/$1.json")" = True ]
}

# compare PROGRAM ARGUMENT…: again when one of the two is in doubt about a member, eight times at most.
compare() {
	local name=$1-$2 attempt
	for attempt in 1 2 3 4 5 6 7 8; do
		witness "$name" "$attempt" "$@"
		is_certain "$name" && break
	done
	judge "$name"
}

# witness NAME ATTEMPT PROGRAM ARGUMENT…
witness() {
	local name=$1 program=$apps/$3
	dir=$trial/$name-$2
	shift 3
	CRIT_DIR=$dir "$trial_lib/ftrace_record" "$trial/$name.trace" \
		"$crit" run -- "$program" "$@" >"$trial/$name.out" 2>&1
	status=$?
	python3 "$trial_lib/truth.py" "$trial/$name.trace" "$program" >"$trial/$name.truth"
	"$crit" report --active=kernel --json "$dir" >"$trial/$name.json"
}

judge() {
	local name=$1
	point "$name: recorded by both" "$status" "$(tail -n 1 "$trial/$name.out")"
	python3 "$trial_lib/compare_truth.py" "$trial/$name.truth" "$trial/$name.json" \
		>"$trial/$name.compared" 2>&1
	point "$name: crit - truth" $? "$(tail -n 1 "$trial/$name.compared")"
	head -n -1 "$trial/$name.compared" | head -n 8
	report=$trial/$name.json
	check_laws "$name"
}

compare mutex_equal 2 100
if [ "${2:-full}" = quick ]; then
	compare fork_exec_storm 150
else
	compare mutex_equal 4 60
	compare oversubscribed 8 60
	compare fork_exec_storm 600
	compare kernel_heavy 5 600
fi
trial_end
