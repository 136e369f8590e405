#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Hybrid programs with known work: every figure of regions and efficiencies against the computed truth.
# usage: hybrid.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
wants_cpus=1
size=(-n 12 -u 25) # so long that what a switch of the CPU takes is nothing
runtimes=(llvm gnu)
export OMPI_MCA_hwloc_base_binding_policy=none # the program binds its threads itself

# hold NAME FIGURES: the last launch against its truth; FIGURES as hybrid_truth.py has them.
hold() {
	has_last_report 20
	"$trial_lib/hybrid_truth.py" "$trial/$1.out" "$report" "$trial/$1.stamps" "$2" >"$trial/$1.held" 2>&1
	point "$1: figures, $2" $? \
		"$(grep -c . "$trial/$1.held") figures; $(grep -m 3 -v '^ok' "$trial/$1.held" | xargs)"
	grep -v '^ok' "$trial/$1.held" | tail -n +4
	check_laws "$1"
}

# hybrid NAME FIGURES FLAVOUR RANKS RUNTIME ARGUMENT…
hybrid() {
	local name=$1 figures=$2 flavour=$3 ranks=$4 runtime=$5
	shift 5
	trial_has "hybrid-$runtime.$flavour" "$runtime's OpenMP" || return 0
	launch "$name" preload "$flavour" "$ranks" "hybrid-$runtime" -p "${size[@]}" \
		-j "$trial/$name.stamps" "$@"
	hold "$name" "$figures"
}

# alone RUNTIME: the same without MPI, under crit run.
alone() {
	local name=alone-$1
	trial_has "hybrid-$1" "$1's OpenMP" || return 0
	dir=$trial/$name
	report=$dir/report.json
	command=(setsid "$trial_lib/first_in_line" "$crit" run -- "$apps/hybrid-$1" -p "${size[@]}"
		-j "$trial/$name.stamps")
	whole_cpus launch_once "$name" run
	hold "$name" all
}

for runtime in "${runtimes[@]}"; do
	alone "$runtime"
	for flavour in "${flavours[@]}"; do
		hybrid "1x2-$runtime-$flavour" all "$flavour" 1 "$runtime" -t 2
		hybrid "2x1-$runtime-$flavour" all "$flavour" 2 "$runtime" -t 1 -f 2:1
		hybrid "2x2-$runtime-$flavour" cpu "$flavour" 2 "$runtime" -t 2 -f 2:1
		[ "$(ask 'rank(0)["useful_s"] > rank(1)["useful_s"]')" = True ]
		point "2x2-$runtime-$flavour: order of ranks" $? ""
	done
done
trial_end
