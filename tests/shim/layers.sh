#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Beside another PMPI library, in front of crit and behind it, with more ranks than CPUs: what is MPI's time lies
# between the calls that reach crit, to the call and to the per cent, and the report says so.
# usage: layers.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/trial.sh"
trial_begin "$1"
steps=50
ranks=$((4 * $(nproc)))
crit_shim=$shim

# said NAME WORD: the lines that begin with the word, as in "own RANK CALLS SECONDS".
said() {
	grep "^$2 " "$trial/$1.out"
}

# calls: what crit counted of those that the program and the timer count.
calls() {
	ask 'sum(c["visits"] for c in r["mpi_calls"]
		if c["name"] in ("MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Barrier"))'
}

# is_near NAME KNOWN: crit's time in MPI, over all ranks, is the known one within 2 %.
is_near() {
	local mpi
	mpi=$(ask 'sum(x["mpi_s"] for x in r["ranks"])')
	python3 -c "import sys; sys.exit(not abs($mpi - $2) <= 0.02 * $2)"
	point "$1" $? "$mpi s of $2 s"
}

# order NAME PRELOADED WORD COLUMN: who knows what crit should say, and where it says so.
order() {
	local name=$1 known
	shim=$2
	launch "$name" preload "$flavour" "$ranks" uneven "$steps"
	shim=$crit_shim
	point "$name: ends" "$status" "$(head -1 "$trial/$name.err")"
	check_laws "$name"
	known=$(said "$name" "$3" | awk -v column="$4" '{ sum += $column } END { print sum }')
	is_near "$name: time in MPI" "$known"
	within "$name: calls" "$(calls)" $((ranks * (5 * steps + 1))) $((ranks * (5 * steps + 1)))
	[ "$(ask 'max(r["ranks"], key=lambda x: x["useful_s"])["rank"]')" = 1 ]
	point "$name: most work" $? "rank $(ask 'max(r["ranks"], key=lambda x: x["useful_s"])["rank"]')"
	notes=$(ask '[x["what"] for x in r["missing"] if "PMPI library" in x["what"]]')
}

for flavour in "${flavours[@]}"; do
	timer=$apps/timer.$flavour.so
	order "alone-$flavour" "$crit_shim" own 4
	[ "$notes" = "[]" ]
	point "alone-$flavour: no other library" $? "$notes"
	order "behind-$flavour" "$crit_shim $timer" own 4
	[ "$notes" = "[]" ]
	point "behind-$flavour: crit comes first" $? "$notes"
	order "front-$flavour" "$timer $crit_shim" timer 5
	[[ $notes == *"before crit ($ranks ranks)"* ]]
	point "front-$flavour: another library comes first" $? "$notes"
	said "front-$flavour" timer | awk -v name="$flavour" '{ outer += $4; inner += $5 }
		END { printf "%s: %.3f s by the timer, of these %.3f s in the calls below it\n", name, outer, inner }'
done
trial_end
