#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls of every kind from C, mpif.h, use mpi and use mpi_f08: results as without the shim, each call
# counted once, in the recording and in the report, made by the program, not by an MPI library, and
# with the bytes it has from C.
# usage: kinds.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/trial.sh"
trial_begin "$1"
calls=$here/../../core/abi/mpi_calls.def

# visits NAME: the calls in the report, as the ranks count them, without those outside the window.
visits() {
	ask '"\n".join("%s %d" % (x["name"], x["polled_calls"] or x["visits"]) for x in r["mpi_calls"])' |
		sort
}

# counted NAME: the same from what the ranks say.
counted() {
	cat "$trial/$1".rank.? | awk '$2 == "count" && $3 !~ /^(Init|Finalize)$/ {
		n["MPI_" $3] += $4
	} END { for (name in n) print name, n[name] }' | sort
}

# told NAME: what the report says of bytes and messages.
told() {
	ask '"\n".join(str([x["name"], x["bytes"], x["sent"], x["received"]]) for x in r["mpi_calls"])' \
		"$trial/$1/report.json" | sort
	cat "$trial/$1/messages.csv"
}

kinds() {
	local flavour=$1 program=$apps/$2.$1 name=$2-$1
	launch "bare-$name" bare "$flavour" 2 "$program" "$trial/bare-$name.rank"
	launch "$name" preload "$flavour" 2 "$program" "$trial/$name.rank"
	diff <(cat "$trial/bare-$name".rank.? | grep ^result) \
		<(cat "$trial/$name".rank.? | grep ^result) >"$trial/diff" &&
		[ "$status" -eq 0 ] && [ "$(cat "$trial/$name".rank.? | grep -c ^result)" -ge 30 ] &&
		cmp -s "$trial/bare-$name.rank.data" "$trial/$name.rank.data"
	point "$name: results as without the shim" $? "$(head -3 "$trial/diff")"
	python3 "$here/shim_calls.py" "$dir"/*.crit "$calls" >"$trial/recorded"
	diff <(cat "$trial/$name".rank.? | grep ' count ' | sort) \
		<(grep ' count ' "$trial/recorded" | sort) >"$trial/diff"
	point "$name: each call counted once" $? "$(head -3 "$trial/diff")"
	diff <(counted "$name") <(visits) >"$trial/diff"
	point "$name: and so says the report" $? "$(head -3 "$trial/diff")"
	[ "$(ask 'r["messages"]["losses"]["stray_completions"]')" = 0 ]
	point "$name: no completion without a start" $?
	[ "$(grep ' caller ' "$trial/recorded" | xargs)" = "0 caller $program 1 caller $program" ] &&
		[ "$(ask '{x["module"] for x in r["mpi_call_sites"]}')" = "{'$program'}" ]
	point "$name: called by the program" $? "$(grep ' caller ' "$trial/recorded" | xargs)"
	diff <(told "all_kinds-$flavour") <(told "$name") >"$trial/diff" && [ "$(told "$name" | wc -l)" -gt 40 ]
	point "$name: the same bytes as from C" $? "$(head -3 "$trial/diff")"
}

# Large counts, which only mpi_f08 of MPICH has: calls of their own, by names of their own.
large() {
	launch large preload mpich 2 large_usempif08 "$trial/large.rank"
	python3 "$here/shim_calls.py" "$dir"/*.crit "$calls" >"$trial/recorded"
	diff <(cat "$trial"/large.rank.? | grep ' count ' | sort) \
		<(grep ' count ' "$trial/recorded" | sort) >"$trial/diff" && [ "$status" -eq 0 ] &&
		[ "$(cat "$trial"/large.rank.? | grep -c '^result [01] large 8 10 11 2$')" -eq 2 ]
	point "mpich: large counts" $? "$(head -3 "$trial/diff")"
}

for flavour in "${flavours[@]}"; do
	for program in all_kinds all_kinds_mpifh all_kinds_usempi all_kinds_usempif08; do
		trial_has "$program.$flavour" gfortran && kinds "$flavour" "$program"
	done
	[ "$flavour" = openmpi ] || ! trial_has "large_usempif08.$flavour" gfortran || large
done
trial_end
