#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that wait by spinning: the share of each is known from the work it was given.
# usage: busy_waiting.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
wants_cpus=1
rounds=5
phases=80
apart=0.01

# imbalance LABEL MODE FLAVOUR RANKS ARGUMENT…: rounds of it; fills shares[] and kernel_shares[].
imbalance() {
	local label=$1 mode=$2 flavour=$3 ranks=$4 i
	shift 4
	shares=()
	kernel_shares=()
	for ((i = 0; i < rounds; i++)); do
		launch "$label-$mode-$flavour-$i" "$mode" "$flavour" "$ranks" barrier_imbalance \
			-n "$phases" -p "$@"
		shares+=("$(ask 'share(0)')")
		check_laws "$label $mode $flavour $i"
		[ "$mode" = alone ] || kernel_shares+=("$(ask_active kernel 'share(0)')")
	done
}

fixed() {
	local flavour=$1 mode s
	declare -gA middle
	for mode in preload run alone; do
		imbalance fixed "$mode" "$flavour" 2 -m 30:10
		middle[$mode]=$(median "${shares[@]}")
		within "30:10 $mode $flavour, median" "${middle[$mode]}" 0.813 0.853
		for s in "${shares[@]}"; do
			within "30:10 $mode $flavour, each" "$s" 0.783 0.883
		done
		for s in "${kernel_shares[@]}"; do
			within "30:10 $mode $flavour, --active=kernel" "$s" 0.45 0.55
		done
	done
	for mode in run alone; do
		within "30:10 $flavour, $mode - preload" \
			"$(python3 -c "print(round(${middle[$mode]} - ${middle[preload]}, 4))")" -$apart $apart
	done
}

alternating() {
	imbalance alternating preload "$1" 2 -a -m 30:10
	within "30:10 alternating $1, median" "$(median "${shares[@]}")" 0.48 0.52
}

# The one with most to do has a core for itself.  If the one with least shared it, as with 4:2:1 in order of ranks, it
# would take as long for its 10 ms as the other one for its 20: a tie.  As it is, one that never yields leaves the 20 ms
# little less than 40 to take: the shares of single launches differ by 0.001 to 0.05, hence medians.
three_ranks() {
	local i first=() second=() third=()
	for ((i = 0; i < rounds; i++)); do
		launch "three-$1-$i" preload "$1" 3 barrier_imbalance -n $((phases / 2)) -p -m 20:40:10
		check_laws "three ranks 4:2:1 $1 $i"
		first+=("$(ask 'share(1)')")
		second+=("$(ask 'share(0)')")
		third+=("$(ask 'share(2)')")
	done
	said="$(median "${first[@]}") > $(median "${second[@]}") > $(median "${third[@]}")"
	[ "$(python3 -c "print($said)")" = True ]
	point "three ranks 4:2:1 $1, medians in order" $? "$said"
}

polling() {
	local flavour=$1 waited
	imbalance wait preload "$flavour" 2 -w wait -m 30:10
	waited=$(median "${shares[@]}")
	imbalance test preload "$flavour" 2 -w test -m 30:10
	within "Test loop - Wait $flavour" \
		"$(python3 -c "print(round($(median "${shares[@]}") - $waited, 4))")" -0.02 0.02
	imbalance test-work preload "$flavour" 2 -w test-work -m 30:10
	within "Test every 100 us of compute stays active $flavour" "$(median "${shares[@]}")" 0.45 0.55
}

exchange() {
	launch "exchange-$1" preload "$1" 2 exchange_only 2
	check_laws "exchange only $1"
	head -n 6 "$dir/report.txt" | grep -qiE 'communicat'
	point "exchange only $1: verdict names communication" $? "$(grep -m 1 -i communicat "$dir/report.txt")"
	head -n 6 "$dir/report.txt" | grep -q 'MPI_Sendrecv'
	point "exchange only $1: verdict names the call" $? ""
}

variant() { # NAME FLAVOUR VARIABLE
	local before=${middle[preload]}
	export "$3=1"
	imbalance "$1" preload "$2" 2 -m 30:10
	unset "$3"
	within "$3=1 $2, change" \
		"$(python3 -c "print(round($(median "${shares[@]}") - $before, 4))")" -0.05 0.05
}

for flavour in "${flavours[@]}"; do
	fixed "$flavour"
	exchange "$flavour"
	alternating "$flavour"
	three_ranks "$flavour"
	polling "$flavour"
	if [ "$flavour" = mpich ]; then
		variant async mpich MPICH_ASYNC_PROGRESS
	else
		variant yield openmpi OMPI_MCA_mpi_yield_when_idle
	fi
done
trial_end
