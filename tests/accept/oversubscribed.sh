#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Two ranks that work 2:1 on a CPU each, and somebody else on one of these: CPU-time figures do not change with it.
# usage: oversubscribed.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
wants_cpus=1
is_in_line= # the hog has to get its share
rounds=5
mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
export OMPI_MCA_hwloc_base_binding_policy=none

# crowded NAME FLAVOUR CPU: rounds with a hog on that CPU, "" none; fills values[] per figure.
crowded() {
	local name=$1 flavour=$2 cpu=$3 i hog
	balance=()
	wall=()
	crowding=()
	named=0
	for ((i = 0; i < rounds; i++)); do
		hog=
		# no job of this shell: launch waits for all of those
		[ -z "$cpu" ] || hog=$(taskset -c "$cpu" python3 -c "while True: pass" >/dev/null 2>&1 & echo $!)
		launch "$name-$flavour-$i" preload "$flavour" 2 barrier_imbalance -n 40 -p -m 40:20
		[ -z "$hog" ] || kill "$hog"
		check_laws "$name $flavour $i"
		balance+=("$(ask 'r["efficiency"]["cpu"]["load_balance_ratio"]')")
		wall+=("$(ask 'r["efficiency"]["wall"]["load_balance_ratio"]')")
		crowding+=("$(ask 'r["efficiency"]["cpu"]["oversubscription_ratio"]')")
		tr '\n' ' ' <"$dir/report.txt" | grep -qE 'Preempted: [^.]*rank 0 .*python3' && named=$((named + 1))
	done
	within "$name $flavour: load balance, CPU-time" "$(median "${balance[@]}")" 0.72 0.78
}

for flavour in "${flavours[@]}"; do
	crowded "no hog" "$flavour" ""
	within "no hog $flavour: oversubscription" "$(median "${crowding[@]}")" 0.9 1
	crowded "hog with the light rank" "$flavour" "${cpus[1]}"
	within "hog with the light rank $flavour: load balance, wall" "$(median "${wall[@]}")" 0.9 1
	crowded "hog with the heavy rank" "$flavour" "${cpus[0]}"
	within "hog with the heavy rank $flavour: load balance, wall" "$(median "${wall[@]}")" 0 0.7
	within "hog with the heavy rank $flavour: oversubscription" "$(median "${crowding[@]}")" 0 0.7
	within "hog with the heavy rank $flavour: rank and hog named" "$named" "$rounds" "$rounds"
done
trial_end
