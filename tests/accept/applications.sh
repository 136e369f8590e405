#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs of other people: results as without crit, and the imbalance that is known to be there.
# usage: applications.sh BUILD-DIRECTORY [gromacs|lammps|mumps|nwchem]…
# shellcheck source-path=SCRIPTDIR source=../lib/compared.sh
. "$(dirname "$0")/../lib/compared.sh"
trial_begin "$1"
shift
useful_spread='(lambda u: round(max(u) * len(u) / sum(u), 3))([x["useful_s"] for x in r["ranks"]])'
export OMP_NUM_THREADS=1

# look_at NAME: sets spreads and heaviest, one entry per run of that name with crit.
look_at() {
	local each
	spreads=()
	heaviest=()
	for each in "$trial/$1"-preload-?/crit/report.json; do
		spreads+=("$(ask "$useful_spread" "$each")")
		heaviest+=("$(ask 'max(r["ranks"], key=lambda x: x["useful_s"])["rank"]' "$each")")
	done
}

# work_is NAME LOW HIGH: of all runs.
work_is() {
	look_at "$1"
	within "$1: work, max / mean, median" "$(median "${spreads[@]}")" "$2" "$3"
	echo "      of ${spreads[*]}; most: rank ${heaviest[*]}"
}

# works_most NAME RANK: in all runs.
works_most() {
	look_at "$1"
	[ "$(printf '%s\n' "${heaviest[@]}" | sort -u)" = "$2" ]
	point "$1: rank $2 works most" $? "${heaviest[*]} (${spreads[*]})"
}

# comes_first NAME RANK FUNCTION FIGURE: of the code of each rank between calls, by that figure of its causes in all
# runs with crit; all code at whose bounds that function has a call is one.  Sets said: rank, function, figure.
comes_first() {
	local each waits=()
	for each in "$trial/$1"-preload-?; do
		waits+=("$each/waits")
		"$crit" waits --json "$each/crit" >"$each/waits" 2>"$trial/waits.err"
	done
	said=$(python3 -S "$trial_lib/first_code.py" "$3" "$4" "${waits[@]}")
	[[ $said == "$2 $3 "* ]]
}

# is_late NAME RANK FUNCTION: what made others wait most where they met.
is_late() {
	comes_first "$@" delay_s
	point "$1: rank $2 is late, at $3" $? "$said"
}

# holds_the_path NAME RANK FUNCTION: what was longest beyond its mean on the critical path.
holds_the_path() {
	comes_first "$@" path_imbalance_s
	point "$1: rank $2 is on the path beyond the mean, at $3" $? "$said"
}

# delay_is_excess NAME LOW HIGH: of two ranks that meet in each step, the delay of all code of the one that works more,
# in terms of what it works beyond their mean: by the definition 1, where the other one waits for all of it.
delay_is_excess() {
	local excess
	excess=$(ask '(lambda most, least: [most["rank"], (most["useful_s"] - least["useful_s"]) / 2])(
		*sorted(r["ranks"], key=lambda x: -x["useful_s"]))' "$trial/$1-preload-1/crit/report.json")
	"$crit" waits --json "$trial/$1-preload-1/crit" >"$trial/waits" 2>"$trial/waits.err"
	within "$1: delay, of the work beyond the mean" \
		"$(ask "round(sum(c['delay_s'] or 0 for c in r['causes']
			if c['kind'] == 'code' and c['rank'] == ${excess}[0]) / ${excess}[1], 3)" \
			"$trial/waits")" "$2" "$3"
}

# best_change NAME CHANGE: what crit what-if says to do first.
best_change() {
	"$crit" what-if --json "$trial/$1-preload-1/crit" >"$trial/fixes" 2>"$trial/fixes.err"
	said=$(ask '(r["fixes"][0]["change"], round(r["fixes"][0]["share"], 3))' "$trial/fixes")
	[[ $said == "('$2', "* ]]
	point "$1: to do first: $2" $? "$said"
}

# none_is_late NAME: per cent of the window, in the run in the middle: of more ranks than CPUs the kernel gives one rank
# the CPU later now and then, and that is its delay.
none_is_late() {
	local each delays=()
	for each in "$trial/$1"-preload-?; do
		"$crit" waits --json "$each/crit" >"$trial/waits" 2>"$trial/waits.err"
		delays+=("$(ask 'round(100 * sum(c["delay_s"] or 0 for c in r["causes"]
			if c["kind"] == "code") / r["window_s"], 2)' "$trial/waits")")
	done
	within "$1: delay of all code, per cent of the window, median" "$(median "${delays[@]}")" 0 6
	echo "      of ${delays[*]}"
}

# Domains that follow the load sum up in another order each time; the start is the same.
results_of_mdrun_start() {
	grep -m 1 -A 4 '^   Energies' md.log
}

# Forces of pairs of atoms, with reaction field and without energies, which one step of ten wants: what water.mdp asks
# for.  The kernel is chosen for the CPU, so its name ends in many ways.
hot_in_gromacs() {
	hottest "$1" 25 80 nbnxm_kernel_ElecRF_VdwLJCombGeom_F_
	below "$1" 30 95 'gmx::LegacySimulator::do_md()' GOMP_parallel
}

gromacs() {
	local program balanced
	program=$(need gmx_mpi) || exit
	gromacs_inputs
	takes_turns=$program
	mdrun=("$program" -quiet mdrun -ntomp 1 -pin off -nb cpu)
	rounds gromacs-slab-2 results_of_mdrun \
		2 "${mdrun[@]}" -s "$trial/water/slab.tpr" -dd 2 1 1 -dlb no -reprod
	rounds gromacs-slab-4 results_of_mdrun \
		4 "${mdrun[@]}" -s "$trial/water/slab.tpr" -dd 4 1 1 -dlb no -reprod
	work_is gromacs-slab-4 2.3 4
	works_most gromacs-slab-4 0
	hot_in_gromacs gromacs-slab-4
	# forces between atoms: the domains of the slab have one third to all of them
	is_late gromacs-slab-4 0 nonbonded_verlet_t::dispatchNonbondedKernel
	balanced=$(median "${spreads[@]}")
	rounds gromacs-moving-4 results_of_mdrun_start \
		4 "${mdrun[@]}" -s "$trial/water/slab.tpr" -dd 4 1 1 -dlb yes
	work_is gromacs-moving-4 1 "$balanced"
	rounds gromacs-bulk-4 results_of_mdrun \
		4 "${mdrun[@]}" -s "$trial/water/bulk.tpr" -dd 4 1 1 -dlb no -reprod
	work_is gromacs-bulk-4 1 1.1
	none_is_late gromacs-bulk-4
	# four threads that spin on fewer CPUs leave nothing to crit's own processes if they come before all others
	takes_turns='' is_in_line='' OMP_NUM_THREADS=2 rounds gromacs-slab-2x2 results_of_mdrun \
		2 "$program" -quiet mdrun -ntomp 2 -pin off -nb cpu -s "$trial/water/slab.tpr" -dd 2 1 1 -dlb no -reprod
	hot_in_gromacs gromacs-slab-2x2
}

results_of_lammps() {
	sed -n '/^Step /,/^Loop time/p' said | grep -v '^Loop time'
	grep -E '^(Nlocal|Nghost|Neighs|Total # of neighbors)' said
}

# The pairs each rank had at the end, counted by LAMMPS itself.
lammps_pairs() {
	awk '/^Neighs:/ { printf "%.3f\n", $4 / $2 }' "$trial/$1-preload-1/said"
}

lammps() {
	local program deck
	program=$(need lmp) || exit
	deck=("$program" -in "$inputs/two_cutoffs.in" -log none)
	takes_turns=$program # what it counts is pairs, which take as long everywhere
	rounds lammps-1-2 results_of_lammps 2 "${deck[@]}" -var factor 1.0
	# rank 0 has two of the three layers whose atoms see far; a step computes forces after positions of neighbours'
	# atoms have come, and before forces go back
	works_most lammps-1-2 0
	is_late lammps-1-2 0 CommBrick::forward_comm
	delay_is_excess lammps-1-2 0.9 1.05
	rounds lammps-1-4 results_of_lammps 4 "${deck[@]}" -var factor 1.0
	within "lammps-1-4: pairs, max / mean" "$(lammps_pairs lammps-1-4)" 1.6 2.0
	work_is lammps-1-4 1.5 1.7
	works_most lammps-1-4 1
	# pair_style lj/cut computes its forces there, and the far atoms have eight times the pairs
	hottest lammps-1-4 60 95 PairLJCut::compute
	holds_the_path lammps-1-4 1 CommBrick::forward_comm
	# all ranks' work is more than the CPUs do in the time that rank 1 takes for its own
	[ "$(nproc)" -gt 2 ] || best_change lammps-1-4 no_oversubscription
	grep -q "of its CMetric in PairLJCut::compute" <(tr '\n' ' ' <"$dir/report.txt")
	point "lammps-1-4: the verdict names it" $? ""
	rounds lammps-4-4 results_of_lammps 4 "${deck[@]}" -var factor 4.0
	within "lammps-4-4: pairs, max / mean" "$(lammps_pairs lammps-4-4)" 1.1 1.3
	work_is lammps-4-4 1.1 1.3
}

# The order of the sums depends on who asks first; what the algorithm did does not.
# INFOG(10), integer space, hangs on which processes had time for a part of a front: it differs without crit, too.
results_of_mumps() {
	grep -E 'INFOG\((1|9|11|29|12|13)\) |Operations in node elimination|Size of|NNZ' said
	printf 'error below 1e-12: %d\n' \
		"$(python3 -c 'import sys; print(float(sys.argv[1]) < 1e-12)' \
			"$("$inputs/laplacian.py" "$mumps_edge" said)" | grep -c True)"
}

mumps() {
	local program=/usr/lib/mumps/dsimpletest ranks polls
	[ -x "$program" ] || need dsimpletest
	mumps_edge=${MUMPS_EDGE:-40}
	"$inputs/laplacian.py" "$mumps_edge" >"$trial/system"
	for ranks in 2 4; do
		rounds "mumps-$ranks" results_of_mumps \
			"$ranks" /bin/sh -c "exec $program <$trial/system"
		works_most "mumps-$ranks" 0
		polls=$(ask 'sum(c["polled_calls"] for c in r["mpi_calls"]) / 1e6')
		# two ranks have a CPU each and poll without rest; what they work hangs on the order of messages
		if [ "$ranks" = 2 ]; then
			within "mumps-2: polls seen, millions" "$polls" 2 1000
		else
			work_is mumps-4 1.2 1.5
			# the host reads the matrix and orders it by itself, as the manual says, while all wait
			is_late mumps-4 0 mumps_
			# fronts are factorised by level 3 BLAS, which Debian's reference library does in plain loops
			hottest mumps-4 40 95 dgemm_
			below mumps-4 40 95 dmumps_fac_driver_ dgemm_
		fi
	done
}

# Energies settle to the convergence of the method; its last digits hang on the order of sums.
results_of_nwchem() {
	awk -F= '/(Total SCF|One-electron|Two-electron|Nuclear repulsion) energy/ {
		printf "%s = %.9f\n", $1, $2 }' said
}

nwchem() {
	local program ranks
	program=$(need nwchem.openmpi) || exit
	for ranks in 2 4; do
		rounds "nwchem-$ranks" results_of_nwchem "$ranks" "$program" "$inputs/water3.nw"
		work_is "nwchem-$ranks" 1 1.15
		none_is_late "nwchem-$ranks"
	done
}

for application in "${@:-gromacs}"; do
	"$application"
done
trial_end
