#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Phases: by crit.h in programs however linked, in C++ and Fortran, by MPI_Pcontrol; and nothing without crit.
# usage: phases.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/trial.sh"
trial_begin "$1"
long="name of more than a hundred and twenty bytes: $(printf '0123456789%.0s' {1..7})0123"
export OMPI_MCA_hwloc_base_binding_policy=none # threads have CPUs of their own

# regions NAME: those in the recording of that launch, with their visits.
regions() {
	python3 "$here/omp_spans.py" "$trial/$1"/*.crit "$here/../../core/abi/constructs.def"
}

# is NAME LAUNCH-NAME REGION…: these regions, and no end without its beginning.
is() {
	local name=$1 from=$2
	shift 2
	diff <(printf 'region %s\n' "$@" | sort) <(regions "$from" | grep "^region " | sort) \
		>"$trial/diff" 2>&1
	point "$name" $? "$(head -3 "$trial/diff")"
}

for program in phases_pie phases_no-pie phases_static; do
	[ "$("$apps/$program")" = "done" ]
	point "$program: without crit" $? ""
	[ "$(CRIT_DIR=$trial/$program LD_PRELOAD=$shim "$apps/$program")" = "done" ]
	point "$program: with crit" $? ""
	if [ "$program" = phases_static ]; then
		[ ! -e "$trial/$program" ]
		point "$program: has no crit" $? ""
	else
		# what begins in itself is one region
		is "$program" "$program" "$long in ? in left open in outer: 1" "? in left open in outer: 1" \
			"? in outer: 1" "kept in outer: 1" "left open in outer: 1" "outer: 2" "xept in outer: 2"
	fi
done

for flavour in "${flavours[@]}"; do
	launch "pcontrol-$flavour" preload "$flavour" 1 pcontrol
	[ "$(cat "$trial/pcontrol-$flavour.out")" = "status 0" ]
	point "$flavour: MPI_Pcontrol answers as without crit" $? ""
	is "$flavour: MPI_Pcontrol" "pcontrol-$flavour" "inner in solve: 1" "solve: 1"
	trial_has "hybrid_cxx-gnu.$flavour" "an MPI for C++" || continue
	launch "cxx-$flavour" preload "$flavour" 1 hybrid_cxx-gnu 2
	is "$flavour: C++" "cxx-$flavour" "lambda: 2" "parallel in lambda: 2" "parallel in sweep: 2" "sweep: 2"
	for dialect in mpifh usempi usempif08; do
		trial_has "hybrid_fortran_$dialect.$flavour" "an MPI for Fortran" || continue
		launch "$dialect-$flavour" preload "$flavour" 1 "hybrid_fortran_$dialect" 2
		is "$flavour: Fortran, $dialect" "$dialect-$flavour" "loop: 2" "parallel in loop: 2" \
			"parallel in team: 2" "team: 2"
	done
done
trial_end
