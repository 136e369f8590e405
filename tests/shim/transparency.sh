#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Real programs under real MPIs: results as without the shim, every call counted once, the oath kept.
# usage: transparency.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/trial.sh"
trial_begin "$1"
# shellcheck source-path=SCRIPTDIR source=../lib/counted.sh
. "$here/../lib/counted.sh"

# oath FLAVOUR CASE: the program prints what it prints without the shim.
oath() {
	local flavour=$1 case=$2 name=$2-$1
	local plugin=$apps/constructor.$flavour.so
	launch "bare-$name" bare "$flavour" 2 oath "$case" "$plugin"
	launch "$name" preload "$flavour" 2 oath "$case" "$plugin"
	[ "$status" -eq 0 ] && [ -s "$trial/$name.out" ] &&
		diff <(sort "$trial/bare-$name.out") <(sort "$trial/$name.out") >"$trial/diff"
	point "$flavour: $case" $? "$(head -3 "$trial/diff")"
}

# manglings FLAVOUR: one call by each of its names in Fortran that the MPI has, from a library that came with
# RTLD_LOCAL.
manglings() {
	local flavour=$1 name=manglings-$1 named
	launch "bare-$name" bare "$flavour" 2 manglings
	launch "$name" preload "$flavour" 2 manglings
	named=$(grep -c '^rank 0 .*error 0$' "$trial/bare-$name.out")
	diff <(sort "$trial/bare-$name.out") <(sort "$trial/$name.out") >"$trial/diff" && [ "$named" -gt 0 ] &&
		[ "$(grep -c '^rank' "$trial/$name.out")" -eq 8 ] &&
		[ "$(recorded "$name" | grep -c "count Comm_rank $named\$")" -eq 2 ] &&
		[ "$(recorded "$name" | grep ' caller ' | xargs)" = \
			"0 caller $apps/manglings.$flavour 1 caller $apps/manglings.$flavour" ]
	point "$flavour: all names of a Fortran call" $? "$(head -3 "$trial/diff")"
}

# plugin FLAVOUR FILE: MPI that comes in by dlopen, RTLD_LOCAL.
plugin() {
	local flavour=$1 name=$2
	[ -x "$apps/$2" ] || return 0
	launch "$name" preload "$flavour" 2 "$apps/plugin_host" "$apps/$2"
	[ "$(grep -c '^sum 1$' "$trial/$name.out")" -eq 2 ] &&
		[ "$(recorded "$name" | grep -c 'count Allreduce 1$')" -eq 2 ] &&
		[ "$(ask '{x["module"] for x in r["mpi_call_sites"]}')" = "{'$apps/$2'}" ]
	point "$flavour: $2 loaded with RTLD_LOCAL" $? "$(ask '{x["module"] for x in r["mpi_call_sites"]}')"
}

for flavour in "${flavours[@]}"; do
	check_counted "$flavour" trace every_call
	check_counted "$flavour" profile every_call
	for case in children signals descriptors fork longjmp threads cancel constructor; do
		oath "$flavour" "$case"
	done
	[ "$(recorded "longjmp-$flavour" | grep -cE 'count (Send 10|Barrier 1|Iprobe 1)$')" -eq 6 ]
	point "$flavour: calls after a jump out of MPI" $?
	[ "$(recorded "threads-$flavour" | grep -c 'count Comm_rank 2001$')" -eq 2 ]
	point "$flavour: 200 threads in 64 thread buffers" $?
	for case in cancel constructor; do
		[ "$(recorded "$case-$flavour" | grep -c 'count Barrier 1$')" -eq 2 ]
		point "$flavour: recorded after $case" $?
	done
	manglings "$flavour"
	plugin "$flavour" "plugin.$flavour.so"
	plugin "$flavour" "plugin_mpifh.$flavour"
	plugin "$flavour" "plugin_usempif08.$flavour"
done
if [ -x "$apps/session.mpich" ]; then
	launch session preload mpich 2 session
	[ "$status" -eq 0 ] && [ "$(grep -c '^sum 2$' "$trial/session.out")" -eq 2 ] &&
		[ "$(recorded session | grep -c 'count Session_finalize 1$')" -eq 2 ] &&
		has_last_report 10 && [ "$(ask 'len(r["ranks"])')" = 2 ]
	point "mpich: sessions, no world" $?
	slow=$trial/slow # its report comes a second after the program's end
	mkdir -p "$slow/bin" "$slow/lib"
	cp -P "$build"/lib/libcrit_*.so* "$slow/lib/"
	cp "$build/bin/critd" "$slow/bin/"
	printf '#!/bin/sh\nsleep 1\nexec %s "$@"\n' "$crit" >"$slow/bin/crit"
	chmod +x "$slow/bin/crit"
	shim=$slow/lib/libcrit_pmpi.so launch outlived preload mpich 2 session and-world
	[ "$status" -eq 0 ] && [ -s "$report" ] &&
		[ "$(recorded outlived | grep -c 'count Session_finalize 1$')" -eq 2 ]
	point "mpich: a session that outlives the world waits for the report" $?
fi
trial_end
