#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Usable CPUs of the node: affinity masks set by taskset, a launcher or an OpenMP runtime, and cgroup quotas.
# usage: usable_cpus.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
export OMPI_MCA_hwloc_base_binding_policy=none
steps=(-n 20 -m 20)

# usable NAME WANTED: by the last launch's report.
usable() {
	local got
	has_last_report 20
	got=$(ask '[n["usable_cpus"] for n in r["nodes"]]')
	[ "$(python3 -c "print($got == [$2])" 2>&1)" = True ]
	point "$1: usable CPUs" $? "$got, wanted $2"
}

# alone NAME COMMAND…: under crit run.
alone() {
	dir=$trial/$1
	report=$dir/report.json
	shift
	command=("$crit" run -- "$@")
	launch_once "${dir##*/}" run
}

# quota_group NAME PERCENT: makes a cgroup with that quota of one CPU; prints its directory, or why there is none.
quota_group() {
	local mount
	mount=$(findmnt -rno TARGET -t cgroup -O cpu | head -n 1)
	if [ -n "$mount" ]; then
		mkdir "$mount/$1" && echo $(($2 * 1000)) >"$mount/$1/cpu.cfs_quota_us" &&
			echo 100000 >"$mount/$1/cpu.cfs_period_us"
	else
		mount=$(findmnt -rno TARGET -t cgroup2 | head -n 1)
		grep -qw cpu "$mount/cgroup.subtree_control" && mkdir "$mount/$1" &&
			echo "$(($2 * 1000)) 100000" >"$mount/$1/cpu.max"
	fi 2>"$trial/cgroup.err" || return 1
	echo "$mount/$1"
}

# shellcheck disable=SC2016 # its own shell expands it: becomes the command, in the cgroup that is $0
in_group=(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"')

masks() {
	alone all "$apps/mutex_equal" 2 20
	usable "no mask" "${#cpus[@]}"
	alone taskset taskset -c "${cpus[0]}" "$apps/mutex_equal" 2 20
	usable "taskset under crit run" 1
	command=(taskset -c "${cpus[0]}" "$crit" run -- "$apps/mutex_equal" 2 20)
	dir=$trial/outside report=$trial/outside/report.json
	launch_once outside run
	usable "crit run under taskset" 1
}

ranks() {
	local flavour=$1 mode=$2
	launch "free-$flavour-$mode" "$mode" "$flavour" 2 barrier_imbalance "${steps[@]}"
	usable "2 ranks, not bound, $flavour, $mode" "${#cpus[@]}"
	launch "own-$flavour-$mode" "$mode" "$flavour" 2 barrier_imbalance "${steps[@]}" -p
	usable "2 ranks on a CPU each, $flavour, $mode" "$((${#cpus[@]} < 2 ? 1 : 2))"
	launch "one-$flavour-$mode" "$mode" "$flavour" 1 barrier_imbalance "${steps[@]}" -p
	usable "1 rank on a CPU, $flavour, $mode" 1
}

bound_by_launcher() {
	local policy=$OMPI_MCA_hwloc_base_binding_policy
	export OMPI_MCA_hwloc_base_binding_policy=core
	launch bound-1 preload openmpi 1 barrier_imbalance "${steps[@]}"
	usable "1 rank, --bind-to core" 1
	launch bound-2 preload openmpi 2 barrier_imbalance "${steps[@]}"
	usable "2 ranks, --bind-to core" "$((${#cpus[@]} < 2 ? 1 : 2))"
	export OMPI_MCA_hwloc_base_binding_policy=$policy
}

places() {
	local runtime=$1
	trial_has "hybrid-$runtime" "$runtime's OpenMP" || return 0
	export OMP_PROC_BIND=true OMP_PLACES="{${cpus[0]}}"
	alone "places-$runtime-1" "$apps/hybrid-$runtime" -s serial,static -n 8 -t 2
	usable "OMP_PLACES, one CPU, $runtime" 1
	if [ "${#cpus[@]}" -ge 2 ]; then
		export OMP_PLACES="{${cpus[0]}},{${cpus[1]}}"
		alone "places-$runtime-2" "$apps/hybrid-$runtime" -s serial,static -n 8 -t 2
		usable "OMP_PLACES, two CPUs, $runtime" 2
	fi
	unset OMP_PROC_BIND OMP_PLACES
}

# Half a CPU; and the same where the process is in a cgroup below.
quotas() {
	local group
	if ! group=$(quota_group "crit-test-$$" 50); then
		missing=$((missing + 1))
		echo "skip: no cgroup can be made: $(head -n 1 "$trial/cgroup.err")"
		return
	fi
	mkdir "$group/below"
	alone quota "${in_group[@]}" "$group" "$apps/mutex_equal" 2 20
	usable "a quota of 50 %" 0.5
	alone below "${in_group[@]}" "$group/below" "$apps/mutex_equal" 2 20
	usable "a quota of 50 % above" 0.5
	alone ranks "${in_group[@]}" "$group/below" mpirun.mpich -np 2 \
		"$apps/barrier_imbalance.mpich" -n 10 -m 5
	usable "2 ranks in one quota of 50 %" 0.5
	rmdir "$group/below" "$group"
}

masks
for flavour in "${flavours[@]}"; do
	ranks "$flavour" preload
done
ranks "${flavours[0]}" shim
ranks "${flavours[0]}" alone
[ "${flavours[0]}" != openmpi ] || bound_by_launcher
places gnu
places llvm
quotas
trial_end
