#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit what-if --without-transfer: of a run on two nodes with a slow wire between them it foretells the end of the same
# program with a fast one.  That wire's own transfer, a bridge's in this kernel, is not taken off: it is measured, too.
# Open MPI alone: see cluster.sh.
# usage: transfer.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"
trial_begin "$1"
trial_has ends.openmpi "Open MPI" || trial_end || exit
cluster_needs || exit 77
wants_cpus=1

# run NAME BYTES STEPS: three times; sets ends (seconds) and gains (per cent).
run() {
	local i gain end
	gains=() ends=() frees=()
	for i in 1 2 3; do
		dir=$trial/$1-$i
		whole_cpus cluster_launch "$1-$i" "$shim" openmpi 1 steps exchange "$3" $((400 / $3)) $((320 / $3)) "$2"
		"$crit" what-if --without-transfer --json "$dir" >"$trial/fixes" 2>"$trial/fixes.err"
		[ "$status" -eq 0 ] && read -r end gain free < <(ask '(lambda end, gain:
			"%.6f %.3f %.6f" % (end, 100 * gain / end, end - gain))(
			r["recorded_s"], r["fixes"][0]["gain_s"])' "$trial/fixes")
			point "$1-$i: program and forecast" $? "status $status $(tail -n 1 "$trial/fixes.err")"
		ends+=("${end:-0}") gains+=("${gain:-0}") frees+=("${free:-0}")
	done
	echo "$1: ends ${ends[*]} s, gains ${gains[*]} %, without transfer ${frees[*]} s"
}

# per_cent A B
per_cent() {
	python3 -S -c 'import sys; a, b = map(float, sys.argv[1:]); print(round(100 * a / b, 2))' "$1" "$2"
}

fast=()
# Sent at once, and above what Open MPI sends by TCP without asking, where the wire's delay adds up.
sizes=(100 70000)
steps=([100]=20 [70000]=8)
cluster_up 2
for bytes in "${sizes[@]}"; do
	run "fast-$bytes" "$bytes" "${steps[bytes]}"
	fast[bytes]=$(median "${ends[@]}")
	within "fast, $bytes bytes: gain, per cent" "$(median "${gains[@]}")" 0 6
done
cluster_down
cluster_delay=([n2]="3000 1000")
cluster_up 2
for bytes in "${sizes[@]}"; do
	run "slow-$bytes" "$bytes" "${steps[bytes]}"
	within "slow, $bytes bytes: gain, per cent" "$(median "${gains[@]}")" 25 95
	within "slow, $bytes bytes: foretold end, per cent of that with a fast wire" \
		"$(per_cent "$(median "${frees[@]}")" "${fast[bytes]}")" 95 105
done
trial_end
