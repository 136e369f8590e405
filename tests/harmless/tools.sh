#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Another tool on MPI's profiling interface in the same preload list, before and after crit: results
# as bare, and both see every call.
# usage: tools.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/counted.sh
. "$(dirname "$0")/../lib/counted.sh"
trial_begin "$1"

# seen NAME: what the program says of the calls the tool knows.
seen() {
	said "$1" | grep -E ' (Init|Send|Recv|Sendrecv|Wait|Iprobe|Barrier|Allreduce|Comm_size) '
}

crit_shim=$shim
for flavour in "${flavours[@]}"; do
	tool=$apps/tool.$flavour.so
	launch "tools-$flavour" bare "$flavour" 2 every_call "$trial/tools-$flavour.rank"
	for order in before after; do
		name=$order-$flavour
		cp "$trial/tools-$flavour.rank.0" "$trial/bare-$name.rank.0"
		cp "$trial/tools-$flavour.rank.1" "$trial/bare-$name.rank.1"
		shim=$tool:$crit_shim
		[ "$order" = after ] && shim=$crit_shim:$tool
		TOOL_OUTPUT=$trial/$name.tool launch "$name" preload "$flavour" 2 every_call \
			"$trial/$name.rank"
		check_results "$name"
		diff <(cat "$trial/$name".tool.* | sort) <(seen "$name") >"$trial/diff"
		point "$name: the tool counts each call once" $? "$(head -3 "$trial/diff")"
		# a tool before crit makes a call of its own that the program does not: MPI_Comm_rank
		diff <(said "$name" | grep -v " Comm_rank ") \
			<(recorded "$name" | grep " count " | grep -v " Comm_rank " | sort) >"$trial/diff"
		point "$name: so does crit" $? "$(head -3 "$trial/diff")"
		check_laws "$name"
	done

	# a tool that knows C only: a Fortran library calls past it, and what it saw stays what it was
	name=fortran-$flavour
	trial_has "all_kinds_usempif08.$flavour" gfortran || continue
	shim=$crit_shim:$tool
	launch "bare-$name" bare "$flavour" 2 all_kinds_usempif08 "$trial/bare-$name.rank"
	TOOL_OUTPUT=$trial/$name.tool launch "$name" preload "$flavour" 2 all_kinds_usempif08 \
		"$trial/$name.rank"
	check_results "$name"
	check_counts "$name"
	[ ! -e "$trial/$name.tool.0" ]
	point "$name: the tool is left out, as without crit" $?
	check_laws "$name"
done
trial_end
