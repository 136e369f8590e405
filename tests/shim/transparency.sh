#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Real programs under real MPIs: results as without the shim, every call counted once, the oath kept.
# usage: transparency.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/trial.sh"
trial_begin "$1"
calls=$here/../../core/mpi_calls.def

# recorded NAME: the calls in the recording of that launch.
recorded() {
	python3 "$here/shim_calls.py" "$trial/$1"/*.crit "$calls"
}

# every_call FLAVOUR LEVEL: results equal, counts exact.
every_call() {
	local flavour=$1 level=$2 name=every-$1-$2
	launch "bare-$name" bare "$flavour" 2 every_call "$trial/bare-$name.rank"
	export CRIT_LEVEL=$level
	launch "$name" preload "$flavour" 2 every_call "$trial/$name.rank"
	unset CRIT_LEVEL
	diff <(cat "$trial/bare-$name".rank.* | grep ^result) \
		<(cat "$trial/$name".rank.* | grep ^result) >"$trial/diff" &&
		[ "$(cat "$trial/$name".rank.* | grep -c ^result)" -eq 16 ]
	point "$flavour $level: results as without the shim" $? "$(head -3 "$trial/diff")"
	diff <(cat "$trial/$name".rank.* | grep count | sort) <(recorded "$name" | grep count | sort) \
		>"$trial/diff"
	point "$flavour $level: each call counted once" $? "$(head -3 "$trial/diff")"
	[ "$(recorded "$name" | grep -cE '^[01] (lost|open) 0$')" -eq 4 ]
	point "$flavour $level: nothing lost, nothing left open" $?
}

# oath FLAVOUR CASE: the program prints what it prints without the shim.
oath() {
	local flavour=$1 case=$2 name=$2-$1
	launch "bare-$name" bare "$flavour" 2 oath "$case"
	launch "$name" preload "$flavour" 2 oath "$case"
	[ "$status" -eq 0 ] && [ -s "$trial/$name.out" ] &&
		diff <(sort "$trial/bare-$name.out") <(sort "$trial/$name.out") >"$trial/diff"
	point "$flavour: $case" $? "$(head -3 "$trial/diff")"
}

# plugin FLAVOUR: MPI that comes in by dlopen, RTLD_LOCAL.
plugin() {
	local flavour=$1 name=plugin-$1
	launch "$name" preload "$flavour" 2 "$apps/plugin_host" "$apps/plugin.$flavour.so"
	[ "$(grep -c '^sum 1$' "$trial/$name.out")" -eq 2 ] &&
		[ "$(recorded "$name" | grep -c 'count Allreduce 1$')" -eq 2 ]
	point "$flavour: MPI loaded with RTLD_LOCAL" $?
}

for flavour in "${flavours[@]}"; do
	every_call "$flavour" trace
	every_call "$flavour" profile
	for case in children signals descriptors fork longjmp threads; do
		oath "$flavour" "$case"
	done
	[ "$(recorded "longjmp-$flavour" | grep -cE 'count (Send 10|Barrier 1|Iprobe 1)$')" -eq 6 ]
	point "$flavour: calls after a jump out of MPI" $?
	[ "$(recorded "threads-$flavour" | grep -c 'count Comm_rank 2001$')" -eq 2 ]
	point "$flavour: 200 threads in 64 stripes" $?
	plugin "$flavour"
done
if [ -x "$apps/session.mpich" ]; then
	launch session preload mpich 2 session
	[ "$status" -eq 0 ] && [ "$(grep -c '^sum 2$' "$trial/session.out")" -eq 2 ] &&
		[ "$(recorded session | grep -c 'count Session_finalize 1$')" -eq 2 ] &&
		wait_for 10 test -s "$report" && [ "$(ask 'len(r["ranks"])')" = 2 ]
	point "mpich: sessions, no world" $?
fi
trial_end
