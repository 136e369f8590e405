#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# An ordinary user whose critd has no capabilities: perf events stand in for the kernel half, the figures are
# those of the privileged run; where they are refused, report and doctor name the setting.
# usage: unprivileged.sh BUILD-DIRECTORY [quick]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
wants_cpus=1
size=${2:-full}
rounds=5
phases=80
setting=/proc/sys/kernel/perf_event_paranoid
before=$(cat "$setting")
needs_root "to become another user and for the privileged runs"
if [ "$before" -gt 2 ]; then
	echo "skip: kernel.perf_event_paranoid is $before; needs 2 or less"
	exit 77
fi

has_mode() {
	[ "$(ask 'r["job"]["mode"]')" = "$2" ]
	point "$1: mode is $2" $? "$(sed -n 2p "$dir/report.txt")"
}

# median_of VARIABLE-PREFIX RANK: of the shares of that rank, as rounds left them.
median_of() {
	local -n list=${1}_$2
	median "${list[@]}"
}

# Median shares of all ranks, privileged and not, taken in turns: LABEL FLAVOUR RANKS ARGUMENT…
same_shares() {
	local label=$1 flavour=$2 ranks=$3 i mode rank ratio
	shift 3
	for ((rank = 0; rank < ranks; rank++)); do
		declare -ga "preload_$rank=()" "shim_$rank=()"
	done
	for ((i = 0; i < rounds; i++)); do
		for mode in preload shim; do
			launch "$label-$mode-$flavour-$i" "$mode" "$flavour" "$ranks" barrier_imbalance -p "$@"
			check_laws "$label $mode $flavour $i"
			for ((rank = 0; rank < ranks; rank++)); do
				local -n list=${mode}_$rank
				list+=("$(ask "share($rank)")")
			done
		done
		has_mode "$label $flavour $i" approximate
		within "$label $flavour $i: unknown, of threads' lives" \
			"$(ask 'r["losses"]["unknown_s"] / sum(x["life_s"] for x in r["threads"])')" 0 0.01
	done
	for ((rank = 0; rank < ranks; rank++)); do
		ratio=$(python3 -c "print(round($(median_of shim $rank) / $(median_of preload $rank), 4))")
		within "$label $flavour, share of rank $rank: without / with" "$ratio" \
			0.95 1.05
	done
}

# On two cores the scheduler decides how three ranks share them, in every run anew: only the order is known.
three_ranks() {
	launch "three-$1" shim "$1" 3 barrier_imbalance -n $((phases / 2)) -p -m 20:40:10
	check_laws "three ranks 4:2:1 $1"
	[ "$(ask 'share(1) > share(0) > share(2)')" = True ]
	point "three ranks 4:2:1 $1, order" $? "$(ask '[share(1), share(0), share(2)]')"
}

# One run, held against the known answer.
known_share() {
	launch "known-$1" shim "$1" 2 barrier_imbalance -n 40 -p -m 30:10
	has_mode "30:10 $1" approximate
	check_laws "30:10 $1"
	within "30:10 $1: share(0)" "$(ask 'share(0)')" 0.783 0.883
}

# run_as_user NAME PROGRAM [ARGUMENT…]: under crit run.
run_as_user() {
	local name=$1
	shift
	dir=$trial/$name
	report=$dir/report.json
	as_user "$trial_nobody" env "CRIT_DIR=$dir" "$crit" run -- "$@"
	"${command[@]}" >"$trial/$name.out" 2>"$trial/$name.err"
}

programs_without_mpi() {
	run_as_user mutex "$apps/mutex_equal"
	has_mode "mutex_equal" approximate
	check_laws "mutex_equal"
	within "mutex_equal: CPU time of two threads, ratio" \
		"$(ask '(lambda s: round(s[-1] / s[-2], 4))(sorted(x["running_s"] for x in r["threads"]))')" 1 1.03
	run_as_user storm "$apps/fork_exec_storm"
	check_laws "fork_exec_storm"
	[ "$(ask 'len(r["threads"])')" -eq 1001 ]
	point "fork_exec_storm: every thread of every child is seen" $? "$(ask 'len(r["threads"])') threads"
	within "fork_exec_storm: unmatched switches" "$(ask 'r["losses"]["unmatched_switches"]')" 0 10
}

# Names what refuses perf events: NAME SENTENCE
refused() {
	local flavour=${flavours[0]}
	launch "refused-$1" alone "$flavour" 2 barrier_imbalance -n 20 -p -m 30:10
	has_mode "refused, $1" "shims only"
	head -n 24 "$dir/report.txt" | grep -q "$2"
	point "refused, $1: report says why" $? "$(grep -m 1 'perf_event\|perf events' "$dir/report.txt")"
	head -n 8 "$dir/report.txt" | grep -q 'fix: sudo setcap cap_bpf,cap_perfmon+p'
	point "refused, $1: report names what fixes it" $? ""
	as_user "$trial_nobody" "$apps/without_perf" "$crit" doctor
	"${command[@]}" >"$trial/doctor.out"
	grep -q "MISSING perf events .*$3" "$trial/doctor.out"
	point "refused, $1: doctor says so" $? "$(grep 'perf events' "$trial/doctor.out")"
}

# Kernels of Debian and Ubuntu refuse at 3; others do not know 3: without_perf refuses there, as Debian's do.
paranoid() {
	trap 'echo "$before" >"$setting"; trial_cleanup' EXIT
	echo 3 >"$setting"
	refused "at 3" 'kernel.perf_event_paranoid is 3' 'kernel.perf_event_paranoid is 3'
	grep -q 'fix: sudo sysctl kernel.perf_event_paranoid=2' "$dir/report.txt"
	point "refused, at 3: report names the setting to fix" $? ""
	launch "asked-at-3" shim "${flavours[0]}" 2 barrier_imbalance -n 20 -p -m 30:10
	[ "$(ask 'r["job"]["mode"]')" = approximate ] || grep -q 'perf_event_paranoid is 3' "$dir/report.txt"
	point "at 3: approximate, or the setting is named" $? "$(sed -n 2p "$dir/report.txt")"
	echo "$before" >"$setting"
}

for flavour in "${flavours[@]}"; do
	if [ "$size" = quick ]; then
		known_share "$flavour"
		continue
	fi
	same_shares 30:10 "$flavour" 2 -n "$phases" -m 30:10
	same_shares alternating "$flavour" 2 -n "$phases" -a -m 30:10
	three_ranks "$flavour"
	same_shares poll "$flavour" 2 -n "$phases" -w test -m 30:10
done
programs_without_mpi
refused "by a filter" 'no perf events' 'Permission denied'
[ "$size" = quick ] || paranoid
as_user "$trial_nobody" "$crit" doctor
"${command[@]}" >"$trial/doctor.out"
grep -q 'trial run .*approximate kernel half' "$trial/doctor.out"
point "doctor names the approximate kernel half" $? "$(grep 'trial run' "$trial/doctor.out")"
trial_end
