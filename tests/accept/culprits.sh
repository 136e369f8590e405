#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Rank 0 works in f and g while the others spin in MPI_Recv: shares of its CMetric beside the program's own clock,
# nothing of it in the progress engine, and f with file and line in the verdict; in C, C++, Fortran and in regions.
# usage: culprits.sh BUILD-DIRECTORY [quick|full [unprivileged]]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
runs=5 rounds=1000 mode=${3:+shim}
[ "${2:-}" != quick ] || runs=1 rounds=150 CRIT_SAMPLE_HZ=499
export CRIT_SAMPLE_HZ OMPI_MCA_hwloc_base_binding_policy=none
engine='libmpi|libopen-|mca_|libmpich|libuc[mpst]|libuct|libfabric|libpsm'

# share_of PATTERN: per cent of CMetric in such libraries
share_of() {
	"$crit" report --by library "$dir" | awk -v name="$1" '$NF ~ name { sum += $3 } END { print sum + 0 }'
}

# launch_alone NAME FLAVOUR PROGRAM ROUNDS [regions]: a run of which the truth is known. No sample tells where a thread
# queues for a CPU: of one thread, CPU time is the truth (line_truth.py); of two it takes a run, of five, in which they
# had CPUs. Sets truth.
launch_alone() {
	local name=$1 flavour=$2 i percent
	shift 2
	truth=(--cpu)
	[ $# -lt 3 ] || truth=()
	for ((i = 0; i < 5; i++)); do
		rm -rf "${trial:?}/$name"
		launch "$name" "${mode:-run}" "$flavour" 2 "$@"
		has_last_report 60
		[ ${#truth[@]} -eq 0 ] || return
		percent=$(ask 'round(100 * r["ranks"][0]["runnable_s"] / r["job"]["window_s"])')
		[ "$percent" -gt 5 ] || return
	done
	stolen="rank 0 lacked CPUs for $percent % of the last of five runs"
}

# run_once SOURCE NAME FLAVOUR PROGRAM…: adds to $trial/case and $trial/all
run_once() {
	local source=$1 name=$2
	shift
	launch_alone "$@"
	"$crit" report --by function "$dir" >"$trial/functions"
	"$trial_lib/line_truth.py" "${truth[@]}" "$trial/$name.out" "$trial/functions" |
		tee -a "$trial/all" >>"$trial/case"
	said=$(ask 'r["verdict"]["sentence"]')
	[[ $said =~ of\ its\ CMetric\ in\ ([A-Za-z<>:]*f)\ [^\;]*$source:[0-9]+ ]]
	point "$name: the verdict names f with its line" $? "${said%%;*}"
	within "$name: in the progress engine, per cent of CMetric" "$(share_of "$engine")" 0 1
}

# run_case SOURCE NAME FLAVOUR PROGRAM ARGUMENT…
run_case() {
	local i
	stolen=
	[ -x "$apps/$4.$3" ] || return
	: >"$trial/case"
	for ((i = 0; i < runs; i++)); do
		run_once "$@"
	done
	said=$("$trial_lib/line_truth.py" --case <"$trial/case" 2>&1)
	point "$2: shares of f and g" $? "$said"
}

for flavour in "${flavours[@]}"; do
	run_case culprit.c "C, $flavour" "$flavour" "culprit-gnu" $rounds
	[ "$runs" -gt 1 ] || continue
	run_case culprit_cxx.cc "C++, $flavour" "$flavour" "culprit_cxx-gnu" $rounds
	run_case culprit_fortran.F90 "Fortran, $flavour" "$flavour" "culprit_fortran_usempif08" $rounds
	for runtime in gnu llvm; do
		run_case culprit.c "region of $runtime, $flavour" "$flavour" "culprit-$runtime" $rounds regions
	done
done
if [ "$runs" -gt 1 ]; then
	said=$("$trial_lib/line_truth.py" --all <"$trial/all" 2>&1)
	point "errors as large as they are said to be" $? "mean square $said"
fi
trial_end
