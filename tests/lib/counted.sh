# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Holds what programs of counted.h say against what the shim recorded of them; sourced after trial.sh.
counted_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# recorded NAME: the calls in the recording of that launch.
recorded() {
	python3 "$counted_here/../shim/shim_calls.py" "${trial:?}/$1"/*.crit \
		"$counted_here/../../core/abi/mpi_calls.def"
}

# said NAME: what the ranks of that launch counted.
said() {
	cat "$trial/$1".rank.? | grep " count " | sort
}

# check_results NAME: they are those of the launch bare-NAME.
check_results() {
	diff <(cat "$trial/bare-$1".rank.? | grep -a ^result) <(cat "$trial/$1".rank.* | grep -a ^result) \
		>"$trial/diff" && cat "$trial/$1".rank.? | grep -aq ^result
	point "$1: results as without the shim" $? "$(head -3 "$trial/diff")"
}

# check_counts NAME: each call once, nothing lost, no span without an end.
check_counts() {
	diff <(said "$1") <(recorded "$1" | grep " count " | sort) >"$trial/diff" && said "$1" | grep -q .
	point "$1: each call counted once" $? "$(head -3 "$trial/diff")"
	[ "$(recorded "$1" | grep -cE '^[01] (lost|open) 0$')" -eq 4 ]
	point "$1: nothing lost, nothing left open" $?
}

# check_counted FLAVOUR LEVEL PROGRAM: two ranks of it, bare and under the shim.
check_counted() {
	local flavour=$1 level=$2 program=$3 name=$3-$1-$2
	launch "bare-$name" bare "$flavour" 2 "$program" "$trial/bare-$name.rank"
	export CRIT_LEVEL=$level
	launch "$name" preload "$flavour" 2 "$program" "$trial/$name.rank"
	unset CRIT_LEVEL
	check_results "$name"
	check_counts "$name"
}
