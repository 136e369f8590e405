#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs whose code takes half and twice the time in one piece: ends that crit what-if foretells from runs without
# the change, beside those of runs with it, and beside the naive formula: window - CMetric of the code * (1 - factor).
# Each program runs five times; all ends are those without the time in which threads wanted a CPU.
# usage: reruns.sh BUILD-DIRECTORY [FLAVOUR…]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
shift
needs_root "for the full kernel half"
wants_cpus=1
runs=5
[ $# -eq 0 ] || flavours=("$@")
export CRIT_SAMPLE_HZ=499

# note CHANGE WHAT VALUE
note() {
	echo "$program $1 $2 $3" >>"$trial/figures"
}

# ends_with OPTION…: sets ends, where threads have a CPU whenever they want one.
ends_with() {
	what_if --without-queueing "$@" || echo "$program: $(cat "$trial/fixes.err")"
}

# foreign: per cent of the time in which the program's threads ran or wanted to, that others took, but for crit.
foreign() {
	ask '100 * sum(x["lost_s"] for x in r["preemptions"] if x["kind"] != "member" and not x["by"].startswith("crit")
		) / sum(x["running_s"] + x["runnable_s"] for x in role("app"))'
}

# cmetric_of CODE: of a function of all ranks, or of a rank
cmetric_of() {
	if [[ $1 = function=* ]]; then
		"$crit" report --by=function "$dir" 2>&1 | awk -v name="${1#function=}" '$6 == name { print $1 }'
	else
		ask "rank(${1##*rank=})['cmetric_s']"
	fi
}

# foretell CODE: from the run in $dir.
foretell() {
	local code=$1 cmetric window
	cmetric=$(cmetric_of "$code")
	ends_with
	window=$ends
	ends_with "--faster=$code,by=50"
	note half foretold "$ends"
	note half naive "$(ask "$window - $cmetric / 2")"
	ends_with "--slower=$code,by=100"
	note double foretold "$ends"
	note double naive "$(ask "$window + $cmetric")"
	note half recorded_foreign "$(foreign)"
	note double recorded_foreign "$(foreign)"
}

# rerun NAME WORK CODE FLAVOUR RANKS PROGRAM…: with WORK, half and twice of it in place of the %.
rerun() {
	local i change code=$3 work=$2
	local -A works=([as-is]=$work [half]=$((work / 2)) [double]=$((work * 2)))
	program=$1
	shift 3
	[ "$2" = 0 ] || program+=-$1
	for ((i = 0; i < runs; i++)); do
		for change in as-is half double; do
			launch "$program-$change-$i" run "${@/#%/${works[$change]}}"
			if [ "$change" = as-is ]; then
				foretell "$code"
			else
				ends_with
				note "$change" measured "$ends"
				note "$change" foreign "$(foreign)"
			fi
		done
	done
}

# judge NAME: of twelve reruns
judge() {
	"$trial_lib/rerun_table.py" <"$trial/figures" >"$trial/table"
	head -n -1 "$trial/table"
	read -r valid middle worst worse < <(tail -n 1 "$trial/table")
	within "$1: valid pairs" "$valid" 10 12
	within "$1: median error, per cent" "$middle" 0 5
	within "$1: largest error, per cent" "$worst" 0 12
	within "$1: pairs in which the naive formula errs more" "$worse" 8 12
	rm "$trial/figures"
}

declare -A runtimes=([openmpi]=llvm [mpich]=gnu)
for flavour in "${flavours[@]}"; do
	runtime=${runtimes[$flavour]}
	rerun chain 10 "MPI_Send send handover.c,rank=0" "$flavour" 2 handover 70 % 4
	rerun stencil 10 function=boundary "$flavour" 2 halo 70 0 15 % 6
	rerun farm 10 "MPI_Send follow farm.c,rank=1" "$flavour" 2 farm 100 6 %
	rerun pipeline 10 function=assemble none 0 "$apps/pipeline" 100 2 % 6
	export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
	rerun "loops-$runtime" 8 function=uneven none 0 "$apps/uneven_loop-$runtime" 60 10 %
	export OMPI_MCA_hwloc_base_binding_policy=none # the program binds its threads itself
	rerun "hybrid-$runtime" 8 function=uneven "$flavour" 1 "uneven_loop-$runtime" 60 10 %
	unset OMP_NUM_THREADS OMP_WAIT_POLICY OMPI_MCA_hwloc_base_binding_policy
	judge "$flavour, $runtime"
done
trial_end
