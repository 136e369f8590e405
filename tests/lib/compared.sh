# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What scripts share that run whole programs with crit and without it, in turn, and compare what they say.
# shellcheck source-path=SCRIPTDIR source=../lib/archive.sh
. "$(dirname "${BASH_SOURCE[0]}")/archive.sh"

inputs=$(realpath "$trial_lib/../accept/applications")
modes=(preload) # with crit: what compose knows, in turn
mpi=openmpi # programs of other people are built with
takes_turns= # the program whose processes are to have all CPUs by turns

# need PROGRAM: its path, for what is launched needs one.
need() {
	command -v "$1" && return
	echo "skip: $1 is not installed; cmake/deps.sh accept installs it" >&2
	exit 77
}

# attempt PLACE MODE RANKS PROGRAM…: in a folder of its own; sets status, dir and report.
attempt() {
	local place=$1 begin
	mkdir "$place"
	compose "$2" "$mpi" "${@:3}"
	dir=$place/crit
	report=$dir/report.json
	begin=$(date +%s%N)
	[ -z "$takes_turns" ] || exec "$trial_lib/by_turns" "$takes_turns" &
	(cd "$place" && CRIT_DIR=$dir "${command[@]}" >said 2>complaints)
	status=$?
	[ -z "$takes_turns" ] || kill $! # else it has ended, and its number may be another's
	echo $((($(date +%s%N) - begin) / 1000000)) >"$place/wall_ms"
	[ "$2" = bare ] || wait_for 60 [ -s "$report" ]
}

# rounds NAME RESULTS RANKS PROGRAM…: three runs without crit and three with it in each of the modes, in turn.
# RESULTS prints, in the folder of a run, what must not depend on crit.  The runs' folders are NAME-MODE-ROUND.
rounds() {
	local name=$1 results=$2 runs=$trial/$1 statuses='' round mode place
	shift 2
	for round in 1 2 3; do
		for mode in bare "${modes[@]}"; do
			place=$runs-$mode-$round
			attempt "$place" "$mode" "$@"
			statuses+=$status
			(cd "$place" && "$results") >"$place/results" 2>&1
			[ "$mode" = bare ] || check_laws "$name, $mode, run $round"
		done
	done
	[[ $statuses =~ ^0+$ ]]
	point "$name: exit statuses" $? "$statuses"
	for mode in "${modes[@]}"; do
		compare "$name" "$mode"
	done
}

# compare NAME MODE: of the rounds of that name, results and the last archive.
compare() {
	local name="$1, $2" runs=$trial/$1 round
	for round in 1 2 3; do
		"$trial_lib/within_spread.py" "$runs-$2-$round/results" "$runs"-bare-?/results \
			>"$runs.compared" 2>&1
		point "$name, run $round: results as without crit" $? "$(head -n 1 "$runs.compared")"
	done
	dir=$runs-$2-3/crit
	report=$dir/report.json
	"$crit" export otf2 -o "$dir" "$dir" >/dev/null 2>"$trial/export.err" && [ ! -s "$trial/export.err" ]
	point "$name: export" $? "$(cat "$trial/export.err")"
	read_by "$name, archive" "$dir"
	# a picture of millions of states is nothing to look at
	[ "${events:-0}" -gt 500000 ] || drawn_by_vite "$name" "$dir" 100
	printf '      wall, ms: %s without, %s with crit\n' \
		"$(cat "$runs"-bare-?/wall_ms | xargs)" "$(cat "$runs-$2"-?/wall_ms | xargs)"
}

# With -reprod the averages over all steps are the same to the last digit.
results_of_mdrun() {
	sed -n '/A V E R A G E S/,/M E G A - F L O P S/p' md.log
}

gromacs_inputs() {
	local water=$trial/water
	# Debian's is built for it, and ends by itself where there is none, as in some virtual machines
	if [ "$(uname -m)" = x86_64 ] && ! grep -qw rdtscp /proc/cpuinfo; then
		echo "skip: GROMACS does not run on this CPU, which has no rdtscp" >&2
		exit 77
	fi
	mkdir "$water"
	cp "$inputs/water.top" "$water"
	(
		cd "$water" || exit
		gmx -quiet solvate -cs spc216.gro -box 4 3 3 -o bulk.gro -p water.top
		gmx -quiet editconf -f bulk.gro -box 12 3 3 -noc -o slab.gro
		for box in bulk slab; do
			gmx -quiet grompp -f "$inputs/water.mdp" -c "$box.gro" -p water.top -o "$box.tpr"
		done
	) >"$trial/water.out" 2>&1
	[ -s "$water/bulk.tpr" ] && [ -s "$water/slab.tpr" ]
	point "gromacs: water in a third of the box, and all over" $? ""
}
