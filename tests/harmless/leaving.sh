#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls that are left by a jump, an exception or a cancelled thread, and processes that fork and exec:
# the program prints what it prints without the shim, what comes later is counted, the laws hold.
# usage: leaving.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/counted.sh
. "$(dirname "$0")/../lib/counted.sh"
trial_begin "$1"

# counts_of CASE: what each rank's recording must say of some calls.
counts_of() {
	case $1 in
	jump) echo "Allreduce 5, Barrier 1, Comm_set_errhandler 1, Finalize 1, Send 5" ;;
	cancel) echo "Barrier 5, Finalize 1, Send 5" ;;
	workers) echo "Allreduce 1, Barrier 1, Finalize 1" ;;
	exec) echo "Barrier 1, Finalize 1, Initialized 1" ;;
	throw) echo "Allreduce 1, Barrier 1, Put 1, Reduce_local 2, Send 7, Win_fence 2" ;;
	esac
}

# counts_for RANK CASE: the same of that rank's recording.
counts_for() {
	local calls
	calls=$(counts_of "$2" | sed 's/ [0-9]*,* */|/g; s/|$//')
	recorded "$name" | sed -nE "s/^$1 count (($calls) [0-9]+)$/\1/p" | paste -sd, | sed 's/,/, /g'
}

# check_left CASE MODE FLAVOUR LEVEL PROGRAM…
check_left() {
	local case=$1 mode=$2 flavour=$3 level=$4
	shift 4
	name=$case-$flavour-$level
	launch "bare-$name" bare "$flavour" 2 "$@"
	export CRIT_LEVEL=$level
	launch "$name" "$mode" "$flavour" 2 "$@"
	unset CRIT_LEVEL
	[ "$status" -eq 0 ] && [ -s "$trial/$name.out" ] &&
		diff <(sort "$trial/bare-$name.out") <(sort "$trial/$name.out") >"$trial/diff"
	point "$name: prints the same" $? "$(head -3 "$trial/diff")"
	for rank in 0 1; do
		[ "$(counts_for $rank "$case")" = "$(counts_of "$case")" ]
		point "$name: calls of rank $rank" $? "$(counts_for $rank "$case")"
	done
	has_last_report 10
	[ "$(ask '[x["rank"] for x in r["ranks"]]')" = "[0, 1]" ]
	point "$name: a report of both ranks" $?
	check_laws "$name"
}

for flavour in "${flavours[@]}"; do
	for case in jump cancel workers exec; do
		check_left "$case" preload "$flavour" trace leave "$case"
	done
	check_left jump preload "$flavour" profile leave jump
	trial_has "throw.$flavour" "mpicxx.$flavour" || continue
	check_left throw preload "$flavour" trace throw
	check_left throw preload "$flavour" profile throw
done
trial_end
