#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Two ranks with a function that takes longer on rank 0 and one that all take alike, whatever comes first: to balance
# the one gains its excess, to balance the other nothing, as crit what-if foretells and as runs with the change show.
# Samples tell the functions apart: of 22 s at 997 Hz they leave a standard error of 0.2 % of the run.
# usage: what_if_functions.sh BUILD-DIRECTORY [FLAVOUR…]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
shift
needs_root "for the full kernel half"
wants_cpus=1
[ $# -eq 0 ] || flavours=("$@")
export CRIT_SAMPLE_HZ=997 CRIT_SAMPLE_BUDGET=20

# balance FUNCTION LOW HIGH NAME MS…: it gains so much, per cent, as foretold from the run in $dir and as measured where
# the functions of the ranks take MS.  Time in which threads wanted a CPU counts on no side.
balance() {
	local function=$1 low=$2 high=$3 name=$4 recorded=$dir recorded_s foretold
	shift 4
	what_if --without-queueing
	recorded_s=$ends
	what_if --without-queueing "--balance=function=$function"
	foretold=$ends
	within "$name: foretold gain of balance in $function, per cent" \
		"$(ask "round(100 * (1 - $foretold / $recorded_s), 2)" "$trial/fixes")" "$low" "$high"
	launch "$name-$function" run "$flavour" 2 two_phases "$steps" "$@"
	what_if --without-queueing
	within "$name: measured gain of balance in $function, per cent" \
		"$(ask "round(100 * (1 - $ends / $recorded_s), 2)" "$trial/fixes")" "$low" "$high"
	within "$name: foretold end, per cent of the measured one" \
		"$(ask "round(100 * $foretold / $ends, 2)" "$trial/fixes")" 97 103
	dir=$recorded
}

steps=450
for flavour in "${flavours[@]}"; do
	# rank 0 takes 10 of 50 ms longer: the excess over the mean is 5
	name=$flavour-first
	launch "$name" run "$flavour" 2 two_phases "$steps" 20 30 10 30
	balance assemble 7 13 "$name" 15 30 15 30
	balance solve -1 1 "$name" 20 30 10 30

	name=$flavour-last
	launch "$name" run "$flavour" 2 two_phases "$steps" 30 20 30 10
	balance solve 7 13 "$name" 30 15 30 15
	balance assemble -1 1 "$name" 30 20 30 10
done
trial_end
