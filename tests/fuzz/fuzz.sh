#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every fuzz target side by side, at nice 19.  usage: fuzz.sh BUILD-DIRECTORY [SECONDS [TARGET...]]
# BUILD-DIRECTORY is of preset fuzz.  Corpora grow in BUILD-DIRECTORY/fuzz/NAME, from one call to the next; what
# crashes, leaks or hangs is left in BUILD-DIRECTORY/fuzz/found.  Exit 1 when there was any.
set -euo pipefail
build=$(realpath "$1")
seconds=${2:-1200}
shift $(($# > 2 ? 2 : $#))
targets=("$@")
if ((!${#targets[@]})); then
	for smoke in "$build"/tests/fuzz-*-smoke; do
		name=${smoke##*/fuzz-}
		targets+=("${name%-smoke}")
	done
fi
kept=$(realpath "${BASH_SOURCE%/*}/../data/fuzz")
place=$build/fuzz
mkdir -p "$place/found"

# libotf2 leaks what it refuses, and on a damaged archive uses memory it has not read into: such ends are libotf2's, and
# fuzzing goes on in another process.
survive=(-detect_leaks=0 -fork=1 -ignore_crashes=1 -ignore_ooms=1 -ignore_timeouts=1)
is_libotf2s='libopen-trace-format2|in __asan::|AddressSanitizer: CHECK failed|libFuzzer: out-of-memory'

# fuzz NAME: its seeds, the inputs kept, and what earlier calls found worth keeping.
fuzz()
{
	local corpus=$place/$1
	local -a inputs=("$corpus")
	mkdir -p "$corpus"
	[[ -d $kept/$1 ]] && inputs+=("$kept/$1")
	"$build/tests/fuzz-$1-smoke" --seeds "$corpus" &>"$place/$1.log" </dev/null || return
	[[ $1 != verify ]] || inputs+=("${survive[@]}")
	exec nice -n 19 "$build/tests/fuzz-$1" -max_total_time="$seconds" -timeout=120 -max_len=131072 \
		-rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$place/found/$1-" \
		"${inputs[@]}" &>>"$place/$1.log" </dev/null
}

declare -A pids
for name in "${targets[@]}"; do
	fuzz "$name" &
	pids[$name]=$!
done
failed=0
printf '%-10s %12s %10s %8s  %s\n' target executions edges corpus verdict
for name in "${targets[@]}"; do
	verdict='no finding'
	log=$place/$name.log
	if ! wait "${pids[$name]}" || grep 'SUMMARY:' "$log" | grep -qvE "$is_libotf2s"; then
		verdict="failed: see $log"
		failed=1
	fi
	edges=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | tr -dc '0-9') || true
	runs=$(grep -oE '^#[0-9]+' "$log" | tail -n 1 | tr -d '#') || true
	printf '%-10s %12s %10s %8s  %s\n' "$name" "${runs:-?}" "${edges:-?}" \
		"$(find "$place/$name" -type f | wc -l)" "$verdict"
done
exit $failed
