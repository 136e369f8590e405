#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The laws of waits hold for the recordings in the tree, and what each thread waited is in its cells; so they do where
# those are damaged, so many times each, and can still be played.
# usage: recordings.sh ROOT BUILD [TIMES]
set -euo pipefail
root=$1
build=$2
times=${3:-0}
scratch=$(mktemp -d /tmp/crit-waits.XXXXXX)
trap 'rm -rf "$scratch"' EXIT

failed=0 played=0 waits=0
# holds RECORDING: true: no law is broken; counts its waits.
holds() {
	local code=0
	TMPDIR=$scratch "$build/bin/crit" waits "$1" >"$scratch/out" 2>&1 || code=$?
	if [ "$code" -eq 1 ]; then # nothing that could be played, or a film that contradicts itself
		grep -q 'cannot play\| ns' "$scratch/out" && return 1
		return 0
	fi
	[[ $code = [03] ]] || return # 3: some lack records on purpose
	TMPDIR=$scratch "$build/bin/crit" waits --json "$1" >"$scratch/waits.json" 2>/dev/null || true
	"$build/bin/crit" report --json "$1" >"$scratch/report.json" 2>/dev/null || true
	waits=$((waits + $(sed -n 's/^crit waits: \([0-9]*\) waits,.*/\1/p' "$scratch/out")))
	played=$((played + 1))
	"$root/tests/waits/cells.py" "$scratch/waits.json" "$scratch/report.json" >>"$scratch/out"
}

# check RECORDING NAME
check() {
	holds "$1" && return
	failed=$((failed + 1))
	echo "$2: $(tail -n 1 "$scratch/out")"
}

for recording in "$root"/tests/data/golden/*.crit; do
	before=$played
	check "$recording" "$recording"
	if [ "$played" -eq "$before" ]; then
		failed=$((failed + 1))
		echo "$recording: cannot be played"
	fi
	for ((seed = 1; seed <= times; seed++)); do
		"$build/tests/crit-mutate" "$recording" "$scratch/damaged.crit" "$seed"
		check "$scratch/damaged.crit" "$recording, seed $seed"
	done
done
echo "$played recordings played, $waits waits, $failed failed"
((waits && !failed))
