#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Two tasks use 30 % and 10 % of the CPU that a member wants: each is blamed for the CPU time its own clock tells.
# usage: preemptors.sh BUILD-DIRECTORY [quick]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
wants_cpus=1
rounds=5
seconds=10
if [ "${2:-full}" = quick ]; then
	rounds=2
	seconds=4
fi

# lost WHO: seconds that the member lost to a name, or to a kind where that is what WHO begins with.
lost() {
	ask "sum(p['lost_s'] for p in r['preemptions'] if p['by'].startswith('$1 (') or p['kind'] == '$1')"
}

# beside NAME: one launch of the member beside the two; their CPU times by their own clocks in clocks[].
beside() {
	CRIT_DIR=$dir "$crit" run -- "$apps/crowded" 0 "$seconds" "${duties[@]}" >"$trial/$1.out" 2>"$trial/$1.err"
	status=$?
	mapfile -t clocks <"$trial/$1.out"
}

duties=()
for duty in crit-duty-30:30 crit-duty-10:10; do
	"$apps/duty" "${duty%:*}" 0 "${duty#*:}" &
	duties+=($!)
done
trap 'kill "${duties[@]}"; trial_cleanup' EXIT

for ((i = 0; i < rounds; i++)); do
	dir=$trial/beside-$i
	report=$dir/report.json
	whole_cpus beside "beside-$i"
	check_laws "round $i"
	for k in 0 1; do
		name=crit-duty-$((k ? 10 : 30))
		within "round $i: $name, blamed for each second of its clock" \
			"$(ask "$(lost "$name") / ${clocks[k]}")" 0.95 1.05
	done
	all=$(ask "sum(p['lost_s'] for p in r['preemptions'])")
	within "round $i: unknown, part of all" "$(ask "$(lost unknown) / $all")" 0 0.05
	within "round $i: all, part of the runnable time" \
		"$(ask "round($all / sum(t['runnable_s'] for t in r['threads']), 9)")" 0.95 1
	within "round $i: critd, part of its CPU time" \
		"$(ask "$(lost critd) / sum(n['critd_cpu_s'] for n in r['nodes'])")" 0 1
done
trial_end
