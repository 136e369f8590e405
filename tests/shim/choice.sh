#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# CRIT_INCLUDE, CRIT_EXCLUDE and CRIT_CALLS: what is left out works as without crit and is not recorded;
# what is not, is; and the report says so.
# usage: choice.sh BUILD-DIRECTORY [full]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/trial.sh"
trial_begin "$1"
calls=$here/../../core/abi/mpi_calls.def
kinds=(all_kinds all_kinds_usempif08)
[ "${2:-}" != full ] || kinds+=(all_kinds_mpifh all_kinds_usempi)

# results NAME: what the ranks computed; counts NAME: the calls they made; recorded NAME: those recorded.
results() {
	cat "$trial/$1".rank.* | grep ^result | sort
}
counts() {
	cat "$trial/$1".rank.[01] | grep ' count ' | sort
}
recorded() {
	python3 "$here/shim_calls.py" "$trial/$1"/*.crit "$calls" | grep ' count ' | sort
}

# names GROUP…: the calls of these groups, and those that begin and end MPI.
names() {
	local groups
	groups=$(IFS='|' && echo "$*")
	sed -nE "s/^CRIT_MPI_CALL\([0-9]+, (\w+), \w+, (${groups^^})[,)].*/\1/p" "$calls"
	printf '%s\n' Init Finalize
}

# computes NAME: results as without crit.
computes() {
	[ "$status" -eq 0 ] && [ "$(results "$1" | wc -l)" -eq 16 ] &&
		diff <(results "$1") <(results "bare-$flavour") >"$trial/diff"
	point "$flavour $1: results as without crit" $? "status $status $(head -n 3 "$trial/diff")"
}

# programs NAME VARIABLE PATTERNS IS-RECORDED: both ranks run the same program.
programs() {
	local name=$1-$flavour
	export "$2=$3"
	rm -f "$XDG_RUNTIME_DIR/crit/critd.log"
	launch "$name" preload "$flavour" 2 every_call "$trial/$name.rank"
	unset "$2"
	computes "$name"
	if [ "$4" = yes ]; then
		diff <(counts "$name") <(recorded "$name") >"$trial/diff"
		point "$flavour: $2=$3 records" $? "$(head -n 3 "$trial/diff")"
	else
		[ ! -e "$dir" ] && [ ! -e "$XDG_RUNTIME_DIR/crit/critd.log" ]
		point "$flavour: $2=$3 leaves all alone" $?
	fi
}

# world NAME FIRST… : SECOND…: one rank each of two programs that make the same calls.
world() {
	local name=$1 first=() preload=(-x "LD_PRELOAD=$shim") # Open MPI: of each program
	shift
	[ "$flavour" != mpich ] || preload=(-env LD_PRELOAD "$shim")
	while [ "$1" != : ]; do
		first+=("$1")
		shift
	done
	dir=$trial/$name
	report=$dir/report.json
	CRIT_DIR=$dir "mpirun.$flavour" "${preload[@]}" -np 1 "${first[@]}" "$trial/$name.rank" \
		: "${preload[@]}" -np 1 "${@:2}" "$trial/$name.rank" >"$trial/$name.out" 2>"$trial/$name.err"
	status=$?
	computes "$name"
}

# has_one RANK IS-LOST TEXT: the report knows that rank alone, and says TEXT of the other.
has_one() {
	local said
	has_last_report 10
	[ "$(ask '[x["rank"] for x in r["ranks"]], r["job"]["ranks_missing"]')" = "([$1], 1)" ]
	point "$flavour ${dir##*/}: rank $1 alone, 1 missing" $? "$(ask 'r["job"]["ranks"]')"
	said=$(ask '[(x["is_incomplete"], x["what"]) for x in r["missing"] if " ranks, " in x["what"]]')
	[[ $said == "[($2, '1 of 2 ranks, $3"* ]]
	point "$flavour ${dir##*/}: report says why" $? "$said"
}

# groups NAME CALLS WARNS GROUP…: with CRIT_CALLS the calls of these groups are recorded, exactly.
groups() {
	local name=$1-$flavour off=$2 warns=$3 got
	export CRIT_CALLS=$off
	launch "$name" preload "$flavour" 2 every_call "$trial/$name.rank"
	unset CRIT_CALLS
	computes "$name"
	diff <(counts "$name" | grep -wFf <(names "${@:4}")) <(recorded "$name") >"$trial/diff" &&
		[ "$(recorded "$name" | wc -l)" -gt 4 ]
	point "$flavour: CRIT_CALLS=$off records the others" $? "$(head -n 3 "$trial/diff")"
	has_last_report 10
	got=$(ask 'sum("make CMetric and the verdict wrong" in x["what"] for x in r["missing"])')
	[ "$got" = "$warns" ] && [ "$(ask 'len(r["job"]["calls_off"])')" -eq $((10 - ($# - 3))) ]
	point "$flavour: CRIT_CALLS=$off is reported" $? "$(ask 'r["job"]["calls_off"]')"
}

# kinds CALLS GROUP…: programs in C and Fortran, where a call that is off may make others inside the MPI library:
# no call of another group is recorded, and of these groups none is missing.
kinds() {
	local program name off=$1
	for program in "${kinds[@]}"; do
		trial_has "$program.$flavour" gfortran || continue
		name=$program$off-$flavour
		CRIT_CALLS=$off launch "$name" preload "$flavour" 2 "$apps/$program.$flavour" "$trial/$name.rank"
		counts "$name" | grep -wFf <(names "${@:2}") >"$trial/wanted"
		recorded "$name" >"$trial/recorded"
		! grep -vwFf <(names "${@:2}") "$trial/recorded" >"$trial/diff" &&
			awk 'NR == FNR { n[$1, $3] = $4; next } n[$1, $3] < $4 { print; bad = 1 } END { exit bad }' \
				"$trial/recorded" "$trial/wanted" >"$trial/diff" && [ "$status" -eq 0 ]
		point "$flavour: CRIT_CALLS=$off, $program" $? \
			"$(wc -l <"$trial/wanted") names $(head -n 3 "$trial/diff")"
		has_last_report 10
		[ "$(ask 'sum("there was no room" in x["what"] for x in r["missing"])')" = 0 ]
		point "$flavour: CRIT_CALLS=$off, $program: what is left out is not lost" $?
	done
}

# Two programs in one job, of which one is left out.
worlds() {
	export CRIT_EXCLUDE='left_out.*'
	world "second-$flavour" "$app" : "$left_out"
	has_one 0 False 'left out by CRIT_INCLUDE or CRIT_EXCLUDE'
	world "first-$flavour" "$left_out" : "$app"
	has_one 1 False 'left out by CRIT_INCLUDE or CRIT_EXCLUDE'
	if [ "$(ask 'r["job"]["mode"]')" = full ]; then
		CRIT_DIR=$trial/run-$flavour "$crit" run -- "mpirun.$flavour" -np 1 "$app" : -np 1 "$left_out" \
			>"$trial/run.out" 2>"$trial/run.err"
		report=$trial/run-$flavour/report.json
		[ "$(ask '[x["rank"] for x in r["ranks"]]')" = "[0]" ] &&
			[ "$(ask '{x["role"] for x in r["threads"] if "left_out" in x["name"]}')" = "{'launcher'}" ]
		point "$flavour crit run: what is left out is among the launchers" $? "$(tail -n 1 "$trial/run.err")"
	fi
	unset CRIT_EXCLUDE
	world "lost-$flavour" "$app" : env -u LD_PRELOAD "$left_out"
	has_one 0 True 'not recorded, or on a node'
}

for flavour in "${flavours[@]}"; do
	app=$apps/every_call.$flavour
	left_out=$trial/left_out.$flavour
	cp "$app" "$left_out"
	launch "bare-$flavour" bare "$flavour" 2 every_call "$trial/bare-$flavour.rank"
	programs exclude-name CRIT_EXCLUDE "other,every_c*" no
	programs exclude-path CRIT_EXCLUDE "$apps/*" no
	programs include-other CRIT_INCLUDE other no
	programs include CRIT_INCLUDE "other,every_call.$flavour" yes
	programs exclude-other CRIT_EXCLUDE "every_call" yes

	! launches_two "$flavour" || worlds

	groups minus "-request,-point_to_point" 1 environment collective rma io communicator datatype \
		group other
	groups only "collective,communicator" 1 collective communicator
	groups harmless "-datatype,-group,-other,-environment" 0 point_to_point request collective rma \
		io communicator
	kinds "-io,-communicator" environment point_to_point request collective rma datatype group other
	kinds "-collective,-rma" environment point_to_point request io communicator datatype group other
	CRIT_LEVEL=profile groups profile "-communicator" 1 environment point_to_point request collective \
		rma io datatype group other
done
trial_end
