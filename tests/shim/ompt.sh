#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs under LLVM's OpenMP with libcrit_ompt.so, and some under GNU's: results as without it, each construct
# recorded as often as it is begun, however the library gets in; and what it does where it must not record.
# usage: ompt.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/trial.sh"
trial_begin "$1"
lib=$build/lib
other=$apps/other_tool.so
program=$apps/omp_kinds-llvm
if ! trial_has omp_kinds-llvm "clang and libomp-dev" || ! trial_has other_tool.so libomp-dev; then
	trial_end
	exit
fi

# start NAME CASE COMMAND…: a run and a directory of its own, three at a time; $threads in a team.
start() {
	local name=$1 case=$2
	[ "$(jobs -rp | wc -l)" -lt 3 ] || wait -n
	{
		CRIT_RUN=$name CRIT_DIR=$trial/$name "${@:3}" "$program" "$case" "${threads:-2}" \
			>"$trial/$name.out" 2>"$trial/$name.err"
		echo $? >"$trial/$name.status"
	} &
}

# is_same NAME CASE: it ended well, said nothing of its own and computed what it does without crit.
is_same() {
	[ -s "$trial/bare-$2" ] || "$program" "$2" >"$trial/bare-$2"
	diff <(grep ^result "$trial/bare-$2") <(grep ^result "$trial/$1.out") >"$trial/diff" &&
		[ "$(cat "$trial/$1.status")" -eq 0 ] && [ ! -s "$trial/$1.err" ]
	point "$1: results as without it" $? "$(cat "$trial/diff" "$trial/$1.err" | head -n 3)"
}

# is_recorded NAME [PATTERN]: what the program says it did, or of that the lines with the pattern.
is_recorded() {
	wait_for 10 test -s "$trial/$1/report.json" # nothing more is recorded
	python3 "$here/omp_spans.py" "$trial/$1"/*.crit "$here/../../core/abi/constructs.def" >"$trial/seen" 2>&1
	sed -n 's/^expect //p' "$trial/$1.out" | grep -E "${2:-.}" >"$trial/wanted"
	[ -s "$trial/wanted" ] && ! grep -vxFf "$trial/seen" "$trial/wanted" >"$trial/missing" &&
		[ "$(grep -cxE '(lost|unbalanced|undefined) 0' "$trial/seen")" -eq 3 ]
	point "$1: each construct once, balanced" $? "$(head -n 3 "$trial/missing" | paste -sd ,)"
}

# is_declined NAME: nothing was recorded, and the other tool is the one.
is_declined() {
	[ ! -e "$trial/$1" ] && grep -qx "the other tool" "$trial/$1.out"
	point "$1: the next tool is asked" $? "$(head -n 1 "$trial/$1.out")"
}

cases=(work locks recursion tasks untied nested sizes threads alone)
ways=(by_pmpi before_pmpi behind_pmpi by_runtime by_crit_run)
alone=LD_PRELOAD=$lib/libcrit_ompt.so
for case in "${cases[@]}"; do
	start "$case" "$case" env "$alone"
done
threads=$((3 * $(nproc) + 1)) start crowd work env "$alone"
start profile work env CRIT_LEVEL=profile "$alone"
# however it gets in, it is there once
start by_pmpi work env LD_PRELOAD="$shim"
start before_pmpi work env LD_PRELOAD="$lib/libcrit_ompt.so $shim"
start behind_pmpi work env LD_PRELOAD="$shim $lib/libcrit_ompt.so"
start by_runtime work env OMP_TOOL_LIBRARIES="$lib/libcrit_ompt.so"
start by_crit_run work "$crit" run --
# where nothing is to be recorded it leaves the runtime to others
start disabled work env CRIT_DISABLE=1 LD_PRELOAD="$lib/libcrit_ompt.so $other"
start excluded work env 'CRIT_EXCLUDE=omp_k*' LD_PRELOAD="$shim $other"
start not_included work env CRIT_INCLUDE=ls OMP_TOOL_LIBRARIES="$lib/libcrit_ompt.so:$other"
start second work env LD_PRELOAD="$other $lib/libcrit_ompt.so"
# whatever it lacks, the program does not notice
start descriptors work env "$alone" bash -c 'exec 3>&-; ulimit -n 4; exec "$@"' -
start memory work env "$alone" bash -c 'ulimit -v 400000; exec "$@"' -
start sockets work env "$alone" XDG_RUNTIME_DIR=/proc/nowhere CRIT_DIR=/proc/nowhere
wait

for name in "${cases[@]}"; do
	is_same "$name" "$name"
	is_recorded "$name"
done
is_recorded crowd
is_recorded profile 'barrier|parallel|instances|members|workers'
for name in "${ways[@]}"; do
	is_recorded "$name"
done
for name in profile by_pmpi by_runtime descriptors memory sockets; do
	is_same "$name" work
done
# GNU's: teams of one and of two by turns
if trial_has omp_kinds-gnu "GNU's OpenMP"; then
	program=$apps/omp_kinds-gnu start alone-gnu alone env "$alone"
	wait
	is_same alone-gnu alone
	is_recorded alone-gnu
fi
# GNU's: a team in a constructor, while the loader holds its lock
for way in libcrit_pmpi libcrit_ompt; do
	trial_has omp_constructor.so "GNU's OpenMP" || continue
	CRIT_DIR=$trial/constructor-$way LD_PRELOAD=$lib/$way.so timeout 60 "$apps/plugin_host" \
		"$apps/omp_constructor.so" >"$trial/constructor-$way.out" 2>&1
	grep -qx "sum 4" "$trial/constructor-$way.out"
	point "constructor, $way: does not wait for the loader" $? "$(cat "$trial/constructor-$way.out")"
	printf 'expect %s\n' "instances 1" "members 2" "count barrier 2" "count critical 4" \
		>>"$trial/constructor-$way.out"
	is_recorded "constructor-$way"
done
# two ranks, 20 steps with a parallel loop in each
for flavour in "${flavours[@]}"; do
	OMP_NUM_THREADS=2 launch "ranks-$flavour" preload "$flavour" 2 stencil-llvm 20
	printf 'expect %s\n' "region parallel: 40" "instances 40" "count loop 80" "members 80" "threads 4" \
		"workers 2" "count implicit_barrier 80" >>"$dir.out"
	is_recorded "ranks-$flavour"
done
for name in disabled excluded not_included second; do
	is_declined "$name"
done
trial_end
