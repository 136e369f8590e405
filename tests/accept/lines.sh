#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What samples say of functions, beside the program's own CMetric clock: five runs of each case, at rates of
# cycles that come near the sampling clock's too.
# Threads that queue behind strangers are not sampled where they wait, so the program is first in line.
# usage: lines.sh BUILD-DIRECTORY [MS-OF-A-RUN [unprivileged]]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
ms=${2:-30000}
runs=5
is_unprivileged=${3:+1}

# run_case NAME ARGUMENT…: of apps/sampled
run_case() {
	local name=$1 i
	shift
	for ((i = 0; i < runs; i++)); do
		dir=$trial/run
		rm -rf "$dir"
		command=("$crit" run -- "$trial_lib/first_in_line" "$apps/sampled" "$@")
		[ -z "$is_unprivileged" ] || as_user "$trial_nobody" "${command[@]}"
		CRIT_DIR=$dir setsid "$trial_lib/first_in_line" "${command[@]}" >"$trial/told" 2>"$trial/err"
		wait_for 60 test -s "$dir/report.json"
		"$crit" report --by function "$dir" >"$trial/functions"
		"$trial_lib/line_truth.py" "$trial/told" "$trial/functions" | tee -a "$trial/all" >>"$trial/case-$name"
	done
	said=$("$trial_lib/line_truth.py" --case <"$trial/case-$name" 2>&1)
	point "$name" $? "$said"
}

run_case steps steps "$ms"
for cycle_us in 5000 5025 10050 25125; do
	run_case "lock, cycles of $cycle_us us" lock "$ms" 2 $cycle_us
done
said=$("$trial_lib/line_truth.py" --all <"$trial/all" 2>&1)
point "errors as large as they are said to be" $? "mean square $said"
said=$(awk '{ sum += $3 } END { print sum / NR }' "$trial/all")
within "standard error, per cent, for 30 s" "$said" 0 2
trial_end
