#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit what-if: what a change is foretold to gain, and the same program run with the change.
# usage: what_if.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "for the full kernel half"
wants_cpus=1

# foretold OPTION…: sets gain and ends (per cent, seconds) of the first change, from the run in $dir.
foretold() {
	"$crit" what-if "$@" --json "$dir" >"$trial/fixes" 2>"$trial/fixes.err"
	[ $? -ne 1 ] # 3: the kernel lost a record, which is not what this is about
	point "$name: crit what-if $*" $? "$(cat "$trial/fixes.err")"
	read -r gain ends < <(ask '(lambda fix: "%.2f %.6f" % (100 * fix["share"], r["recorded_s"] - fix["gain_s"]))(
		r["fixes"][0])' "$trial/fixes")
}

# gain_of CHANGE: the largest of that kind, per cent.
gain_of() {
	ask 'round(100 * max(x["share"] for x in r["fixes"] if x["change"] == "'"$1"'"), 2)' "$trial/fixes"
}

# compare NAME FLAVOUR PROGRAM…: the run with the change ends as it was foretold.
compare() {
	local said
	launch "$1" run "$2" 2 "${@:3}"
	"$crit" what-if --json "$dir" >"$trial/after"
	said=$(ask 'round(100 * '"$ends"' / r["recorded_s"], 2)' "$trial/after")
	within "$1: foretold end, per cent of the measured one" "$said" 96 104
}

for flavour in "${flavours[@]}"; do
	# one after the other: each millisecond less is one sooner
	name=chain-$flavour
	launch "$name" run "$flavour" 2 handover 30 20 4
	foretold "--faster=MPI_Send send handover.c,rank=0,by=50"
	within "$name: gain, per cent: 10 of 24 ms" "$gain" 38 44
	compare "$name-half" "$flavour" handover 30 10 4

	# the rank that nobody waited for: half of rank 0's 40 ms is 20, but then all wait for the other one's 25
	name=appears-$flavour
	launch "$name" run "$flavour" 2 two_phases 30 20 20 10 15
	foretold "--faster=MPI_Barrier,rank=0,by=50"
	within "$name: gain, per cent: 15 of 40 ms" "$gain" 34 40
	compare "$name-half" "$flavour" two_phases 30 10 10 10 15

	# to balance gains what one rank is beyond the mean
	name=balance-$flavour
	launch "$name" run "$flavour" 2 two_phases 30 20 20 10 10
	foretold
	within "$name: gain of balance, per cent: 10 of 40 ms" "$(gain_of all_balanced)" 22 28
	foretold --balance=MPI_Barrier
	compare "$name-even" "$flavour" two_phases 30 15 15 15 15
	name+=-even
	foretold
	within "$name: gain of balance, per cent" "$(gain_of balanced)" -1 2
	"$crit" what-if "$dir" >"$trial/text" &&
		grep -q 'no imbalance stands out: to balance a single place' "$trial/text"
	point "$name: nothing stands out" $? "$(tail -n 2 "$trial/text")"
done

"$crit" what-if --faster=nowhere.c,by=10 "$dir" >"$trial/out" 2>&1
[ $? -eq 1 ] && grep -q 'no code has "nowhere.c" in its name' "$trial/out"
point "code that is not there" $? "$(cat "$trial/out")"
for wish in MPI_Barrier by=10 MPI_Barrier,by=0 MPI_Barrier,by=101 ,by=5 MPI_Barrier,by=5,rank=1; do
	"$crit" what-if "--faster=$wish" "$dir" >"$trial/out" 2>&1
	[ $? -eq 2 ] || break
done
point "wrong wishes are refused" $? "$wish"
trial_end
