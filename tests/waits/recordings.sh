#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The laws of waits hold for the recordings in the tree.  usage: recordings.sh ROOT BUILD
set -euo pipefail
root=$1
build=$2
scratch=$(mktemp -d /tmp/crit-waits.XXXXXX)
trap 'rm -rf "$scratch"' EXIT

failed=0 waits=0
for recording in "$root"/tests/data/golden/*.crit; do
	code=0
	TMPDIR=$scratch "$build/bin/crit" waits "$recording" >"$scratch/out" 2>&1 || code=$?
	if [[ $code = [03] ]]; then # 3: some lack records on purpose
		waits=$((waits + $(sed -n 's/^crit waits: \([0-9]*\) waits,.*/\1/p' "$scratch/out")))
	else
		failed=$((failed + 1))
		echo "$recording: $(tail -1 "$scratch/out")"
	fi
done
echo "$waits waits, $failed recordings failed"
((waits && !failed))
