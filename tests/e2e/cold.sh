#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that start the collector themselves, whatever order they come in: one run, in the directory that was asked for,
# with all ranks, and what memory they own before stays as it is.
# usage: cold.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
is_in_line=

# cold NAME RANKS SHIM COMMAND…: of a launch in a directory of its own, where nothing else may come to lie.
cold() {
	local name=$1 ranks=$2 library=$3 left
	shift 3
	mkdir "$trial/$name"
	dir=$trial/$name/run
	report=$dir/report.json
	env "CRIT_DIR=$dir" "LD_PRELOAD=$library" "$@" >"$trial/$name.out" 2>"$trial/$name.err"
	status=$?
	has_last_report 10
	left=$(cd "$trial/$name" && echo *)
	said=$(ask 'len(r["ranks"]), r["is_complete"], r["missing"]')
	[ "$status" -eq 0 ] && [ "$left" = run ] && [ ! -e "$dir/NO-REPORT.txt" ] && [[ $said = "($ranks, True, "* ]]
	point "$name" $? "exit $status, $left, $said, $(tail -n 1 "$trial/$name.err")"
	rm -rf "$XDG_RUNTIME_DIR/crit"
}

# is_kept NAME RANKS: of a launch of owns_memory, writing once more to what was written before MPI_Init was no fault.
is_kept() {
	awk -v ranks="$2" '{ lines++; many += $2 * 100 > $4 } END { exit !(lines == ranks && !many) }' "$trial/$1.out"
	point "$1: its pages stay" $? "$(head -n 1 "$trial/$1.out")"
}

# A collector that takes so long to start that all ranks have left MPI_Init.
mkdir -p "$trial/slow/bin" "$trial/slow/lib"
cp -P "$build"/lib/libcrit_* "$trial/slow/lib/"
ln -s "$build/bin/crit" "$trial/slow/bin/crit"
printf '#!/bin/sh\nsleep 0.5\nexec %s "$@"\n' "$build/bin/critd" >"$trial/slow/bin/critd"
chmod +x "$trial/slow/bin/critd"

for flavour in "${flavours[@]}"; do
	run=("mpirun.$flavour" -np)
	[ "$flavour" != openmpi ] || run=("mpirun.$flavour" --oversubscribe -np)
	mixed=("${run[@]}" 1 "$apps/born_around_init.$flavour")
	for ((i = 1; i <= 4; i++)); do
		cold "slow-$flavour-$i" 4 "$trial/slow/lib/libcrit_pmpi.so" \
			"${run[@]}" 4 "$apps/exchange_only.$flavour" 0.2
	done
	for order in "early late" "late early"; do
		launches_two "$flavour" || break
		read -r first second <<<"$order"
		cold "$first-$second-$flavour" 4 "$shim" "${mixed[@]}" "$first" : -np 3 "${mixed[@]: -1}" "$second"
		cold "slow-$first-$second-$flavour" 4 "$trial/slow/lib/libcrit_pmpi.so" \
			"${mixed[@]}" "$first" : -np 3 "${mixed[@]: -1}" "$second"
	done
	cold "one-$flavour" 1 "$shim" "${run[@]}" 1 "$apps/last_line.$flavour" plain
	cold "sixteen-$flavour" 16 "$shim" "${run[@]}" 16 "$apps/last_line.$flavour" plain
	for ranks in 1 4; do
		cold "memory-$ranks-$flavour" "$ranks" "$shim" "${run[@]}" "$ranks" "$apps/owns_memory.$flavour" 32
		is_kept "memory-$ranks-$flavour" "$ranks"
	done
done
trial_end
