#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How many call paths are complete in programs of 3,000 samples and more, outside MPI_Init; the others say why not.
# usage: whole_paths.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
export CRIT_SAMPLE_HZ=997 CRIT_SAMPLE_BUDGET=20 OMPI_MCA_hwloc_base_binding_policy=none
declare -A least=([none]=99 [mpich]=97 [openmpi]=95)

# run_case NAME FLAVOUR RANKS PROGRAM…
run_case() {
	local name=$1 flavour=$2
	shift
	launch "$name" run "$@"
	has_last_report 60
	within "$name: samples" "$(ask 'sum(row["samples"] for row in r["path_ends"])')" 3000 1e9
	said=$(python3 -S "$trial_lib/paths.py" "$report" complete)
	within "$name: complete, per cent" "$said" "${least[$flavour]}" 100
	said=$(ask '", ".join("%s %d" % (row["end"], row["samples"]) for row in r["path_ends"] if row["samples"])')
	point "$name: ends" $? "$said"
}

run_case threads none 0 "$apps/sampled" steps 4000
for flavour in "${flavours[@]}"; do
	run_case "C, $flavour" "$flavour" 2 culprit-gnu 700
	run_case "C++, $flavour" "$flavour" 2 culprit_cxx-gnu 700
	run_case "Fortran, $flavour" "$flavour" 2 culprit_fortran_usempif08 700
	run_case "GNU OpenMP, $flavour" "$flavour" 2 culprit-gnu 700 regions
	run_case "LLVM OpenMP, $flavour" "$flavour" 2 culprit-llvm 700 regions
done
trial_end
