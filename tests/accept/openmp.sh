#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs with OpenMP, in ranks and without MPI, under their own runtime and under LLVM's in its stead: results as
# without crit, and archives that every reader takes.
# usage: openmp.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/compared.sh
. "$(dirname "$0")/../lib/compared.sh"
trial_begin "$1"
export OMP_NUM_THREADS=2
export OMPI_MCA_hwloc_base_binding_policy=none # else both threads of a rank get one CPU

# has_runtime NAME MODE WORDS: every report of that name and mode tells the runtime, and has regions with two threads.
has_runtime() {
	local each told=''
	for each in "$trial/$1-$2"-?/crit/report.json; do
		told+=$(ask '(r["job"]["omp"], max(len(x["threads"]) for x in r["regions"]))' "$each")
	done
	[ "$told" = "('$3', $4)('$3', $4)('$3', $4)" ]
	point "$1, $2: runtime, threads of a region" $? "$told"
}

results_of_program() {
	cat said
}

# own PROGRAM RUNTIME RANKS THREADS [ARGUMENT…]: one of tests/apps, as its caller names the runtime.
own() {
	local name=$1-$2-$3 runtime=$2 ranks=$3 threads=$4 program=$apps/$1-$2
	[ "$ranks" = 0 ] || { name+=-$mpi && program+=.$mpi; }
	trial_has "${program##*/}" "$runtime's OpenMP" || return 0
	modes=(preload run)
	[ "$runtime" = llvm ] || modes=(run llvm)
	rounds "$name" results_of_program "$ranks" "$program" "${@:5}"
	if [ "$runtime" = llvm ]; then
		has_runtime "$name" preload "LLVM libomp" "$threads"
		has_runtime "$name" run "LLVM libomp" "$threads"
	else
		has_runtime "$name" run "GNU libgomp" "$threads"
		has_runtime "$name" llvm "LLVM libomp for GNU libgomp" "$threads"
	fi
}

# gromacs NAME RANKS THREADS PROGRAM: the water everywhere; THREADS in the whole program.
gromacs() {
	modes=(run llvm)
	rounds "$1" results_of_mdrun "$2" "$4" -quiet mdrun "${@:5}" -ntomp 2 -pin off -nb cpu -reprod \
		-nsteps 500 -s "$trial/water/bulk.tpr"
	has_runtime "$1" run "GNU libgomp" "$3"
	has_runtime "$1" llvm "LLVM libomp for GNU libgomp" "$3"
}

for mpi in "${flavours[@]}"; do
	own stencil llvm 2 4 400
	own stencil gnu 2 4 400
done
own wavefront llvm 0 2 10
own wavefront gnu 0 2 10
mpi=openmpi
gmx_mpi=$(need gmx_mpi) || exit
gmx=$(need gmx) || exit
gromacs_inputs
export OMP_WAIT_POLICY=passive # four threads on two CPUs: those that spin take minutes
gromacs gromacs-2x2 2 4 "$gmx_mpi" -dlb no
gromacs gromacs-threads 0 2 "$gmx" -ntmpi 1
trial_end
