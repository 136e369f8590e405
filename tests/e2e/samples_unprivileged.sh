#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Samples and call paths where critd has no privileges: shares of functions, ranks that spin, settings, small limits.
# usage: samples_unprivileged.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "to become another user"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
	echo "skip: kernel.perf_event_paranoid is above 2"
	exit 77
fi

# record NAME COMMAND…: as an ordinary user; sets dir, report and status.
record() {
	local name=$1
	shift
	dir=$trial/$name
	report=$dir/report.json
	as_user "$trial_nobody" env "CRIT_DIR=$dir" "$@"
	"${command[@]}" >"$trial/$name.out" 2>"$trial/$name.err"
	status=$?
	wait_for 30 test -s "$report"
	grep ' 0x' "$trial/$name.out" >"$trial/$name.told"
}

# samples RUN WHAT [TOLD]: what samples.py says of it.
samples() {
	python3 -S "$trial_lib/samples.py" "$(find "$trial/$1" -name '*.crit')" "${3:--}" "$2" 2>&1
}

path() {
	python3 -S "$trial_lib/paths.py" "$report" "$@" 2>&1
}

record steps env CRIT_SAMPLE_HZ=499 "$crit" run -- "$apps/sampled" steps 4000
[ "$(ask 'r["job"]["mode"]')" = approximate ]
point "steps: mode is approximate" $? "$(sed -n 2p "$dir/report.txt")"
said=$(samples steps shares "$trial/steps.told")
point "steps: shares of functions" $? "$said"
said=$(path sums)
point "steps: sums over paths are sums over lines" $? "$said"
within "steps: complete chains, per cent" "$(path complete)" 99 100
within "steps: all work is called by take_steps, per cent" "$(path chain take_steps)" 95 100
grep -q 'samples are of user mode only' "$dir/report.txt"
point "steps: the report says what has no samples" $?
check_laws steps

record lock env CRIT_SAMPLE_HZ=499 "$crit" run -- "$apps/sampled" lock 3000
said=$(samples lock shares "$trial/lock.told")
point "lock: shares of functions" $? "$said"

# Of many that run at a time few are kept, and those stand for more.  Two CPUs have no such many.
# Clocks that stand still now and then, where threads switch too often for the budget, are not it.
record crowd env CRIT_SAMPLE_BUDGET=1000 "$crit" run -- "$apps/sampled" crowd 100 32
within "crowd: ticks for a sample" "$(samples crowd kept)" 1 "$(($(nproc) > 8 ? $(nproc) / 8 + 1 : 1))"

record off env CRIT_SAMPLE=0 "$crit" run -- "$apps/sampled" steps 500
said=$(samples off count)
[ "$said" = "0 0" ]
point "CRIT_SAMPLE=0: none" $? "$said"
record pathless env CRIT_SAMPLE_BUDGET=0 "$crit" run -- "$apps/sampled" steps 500
said=$(ask '"paths" in r, len(r["hot"]) > 0')
[ "$said" = "(False, True)" ]
point "CRIT_SAMPLE_BUDGET=0: lines, no paths" $? "$said"

# Descriptors for one thread's events and no clock: the run is recorded all the same.
record limited prlimit --nofile=$((8 * $(nproc) + 24)) -- "$crit" run -- "$apps/sampled" crowd 50 48
[ "$status" -eq 0 ] && grep -q '^missing: samples of some threads' "$dir/report.txt"
point "few descriptors: the report says so" $? "$(grep -m 1 '^missing: samples' "$dir/report.txt")"

for flavour in "${flavours[@]}"; do
	launch "mpi-$flavour" shim "$flavour" 2 barrier_imbalance -n 60 -p -m 40:10
	has_last_report 30
	within "$flavour: complete chains, per cent" "$(path complete)" 95 100
	within "$flavour: below main, per cent" "$(path chain main)" 95 100
	within "$flavour: work, not the progress engine, has the CMetric, per cent" "$(path chain steps_work)" 95 100
	grep -q 'of its CMetric in' "$dir/report.txt"
	point "$flavour: the verdict names the function" $? "$(grep -m 1 'CMetric in' "$dir/report.txt")"
	check_laws "$flavour"
done
trial_end
