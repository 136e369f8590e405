#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Samples and paths take nothing from other figures, and no byte of a stack comes into a file.
# usage: sample_laws.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "for the full kernel half and to see memory that processes share"
export CRIT_SAMPLE_HZ=499
number=$((RANDOM % 256))

laws() {
	python3 -S "$trial_lib/sample_laws.py" "$@"
}

# The ring of stacks of any critd, while the program runs: the mark is found where it has to be.
is_in_memory() {
	local pid
	for pid in $(pgrep -x critd); do
		laws marks $number "/proc/$pid/fd/"*
	done | grep -m 1 crit-stacks
}

dir=$trial/run
report=$dir/report.json
CRIT_DIR=$dir "$crit" run -- "$apps/marked" $number 1500 >"$trial/run.out" 2>"$trial/run.err" &
launched=$!
wait_for 10 is_in_memory >"$trial/seen"
point "the mark is in the ring of stacks" $? "$(tail -n 1 "$trial/seen")"
wait $launched
has_last_report 30

said=$(laws sums "$report" 2>&1)
point "lines and what was not sampled have what threads have" $? "$said"
for kinds in "22" "18" "18 22 23"; do
	copy=$trial/without-${kinds// /-}
	mkdir "$copy"
	for recording in "$dir"/*.crit; do
		# shellcheck disable=SC2086
		laws cut "$recording" $kinds >"$copy/${recording##*/}"
	done
	"$crit" report --json "$dir" >"$trial/whole.json" 2>"$trial/err"
	"$crit" report --json "$copy" >"$trial/copy.json" 2>>"$trial/err"
	said=$(laws without "$trial/whole.json" "$trial/copy.json" 2>&1)
	point "without chunks of kind $kinds: nothing but paths" $? "$said"
done

for format in collapsed speedscope pprof otf2; do
	"$crit" export $format "$dir" >"$trial/export.out" 2>&1
	point "export $format" $? "$(tail -n 1 "$trial/export.out")"
done
"$crit" report --by path "$dir" >"$trial/paths.out"
mapfile -t files < <(find "$trial" -type f)
said=$(laws marks $number "${files[@]}" 2>&1)
[ -z "$said" ] && [ "${#files[@]}" -gt 20 ]
point "no file of ${#files[@]} has the mark" $? "$said"
trial_end
