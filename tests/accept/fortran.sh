#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The share of a rank that works 30 ms where the other works 10, from C and from the three Fortran
# interfaces.
# usage: fortran.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
wants_cpus=1
rounds=5
phases=80
low=0.813 # rank 0 works 20 ms of each 30 alone, and 10 shared: (20 + 5) / 30
high=0.853

imbalance() {
	local flavour=$1 program=$2 i shares=()
	shift 2
	for ((i = 0; i < rounds; i++)); do
		launch "$program-$flavour-$i" preload "$flavour" 2 "$program" "$@"
		shares+=("$(ask 'share(0)')")
		check_laws "$program $flavour $i"
	done
	within "30:10 $program $flavour, median of $rounds" "$(median "${shares[@]}")" $low $high
}

for flavour in "${flavours[@]}"; do
	imbalance "$flavour" barrier_imbalance -n "$phases" -p -m 30:10
	for interface in mpifh usempi usempif08; do
		trial_has "imbalance_$interface.$flavour" gfortran &&
			imbalance "$flavour" "imbalance_$interface" "$phases" 30 10
	done
done
trial_end
