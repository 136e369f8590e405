#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The laws of waits hold for the recordings in the tree, and what each thread waited is in its cells.
# usage: recordings.sh ROOT BUILD
set -euo pipefail
root=$1
build=$2
scratch=$(mktemp -d /tmp/crit-waits.XXXXXX)
trap 'rm -rf "$scratch"' EXIT

failed=0 waits=0
for recording in "$root"/tests/data/golden/*.crit; do
	code=0
	TMPDIR=$scratch "$build/bin/crit" waits "$recording" >"$scratch/out" 2>&1 || code=$?
	TMPDIR=$scratch "$build/bin/crit" waits --json "$recording" >"$scratch/waits.json" 2>/dev/null || true
	"$build/bin/crit" report --json "$recording" >"$scratch/report.json" 2>/dev/null || true
	"$root/tests/waits/cells.py" "$scratch/waits.json" "$scratch/report.json" >>"$scratch/out" || code=9
	if [[ $code = [03] ]]; then # 3: some lack records on purpose
		waits=$((waits + $(sed -n 's/^crit waits: \([0-9]*\) waits,.*/\1/p' "$scratch/out")))
	else
		failed=$((failed + 1))
		echo "$recording: $(tail -1 "$scratch/out")"
	fi
done
echo "$waits waits, $failed recordings failed"
((waits && !failed))
