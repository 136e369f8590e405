#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The same run seen by crit and by an ftrace instance: figures of every thread must agree.
# usage: truth.sh BUILD-DIRECTORY [quick]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"

# compare PROGRAM ARGUMENT…
compare() {
	local name=$1-$2 program=$apps/$1
	shift
	dir=$trial/$name
	CRIT_DIR=$dir "$trial_lib/ftrace_record" "$trial/$name.trace" \
		"$crit" run -- "$program" "$@" >"$trial/$name.out" 2>&1
	point "$name: recorded by both" $? "$(tail -n 1 "$trial/$name.out")"
	python3 "$trial_lib/truth.py" "$trial/$name.trace" "$program" >"$trial/$name.truth"
	"$crit" report --active=kernel --json "$dir" >"$trial/$name.json"
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
