#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit run -p of a process with others below it that live already: a shell's children, the ranks of a launcher.
# usage: attach_tree.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "to become another user"

# below PID: the numbers of all processes below it.
below() {
	local child
	for child in $(pgrep -P "$1"); do
		echo "$child"
		below "$child"
	done
}

# has_below PID COUNT NAME: so many processes of that name are below it.
has_below() {
	# shellcheck disable=SC2046 # numbers
	[ "$(ps -o comm= -p $(below "$1" | paste -sd, | sed 's/^$/1/') | grep -c "^$3")" -eq "$2" ]
}

# holds PID…: the recording has memory maps of each, which are read after a process was attached.
holds() {
	local pid
	python3 -S "$trial_lib/recording.py" "$(find "$dir" -name "*.crit" 2>&1)" maps >"$trial/maps" 2>&1
	for pid in "$@"; do
		grep -q "^$pid 1 " "$trial/maps" || return 1
	done
}

# attach NAME PID COMMAND-BEFORE…: records the tree below a process, then ends it.
attach() {
	local name=$1 root=$2 tree
	shift 2
	mapfile -t tree < <(below "$root")
	dir=$(mktemp -d -p "$trial" "$name.XXXX")/run
	report=$dir/report.json
	chmod 777 "${dir%/run}"
	env "CRIT_DIR=$dir" "$@" "$crit" run -p "$root" >"$trial/$name.out" 2>"$trial/$name.err" &
	wait_for 20 holds "$root" "${tree[@]}"
	point "$name: all ${#tree[@]} below it" $? "$(cut -d' ' -f1 "$trial/maps" | sort -u | paste -sd' ')"
	kill "$root" "${tree[@]}" 2>/dev/null
	wait $!
	has_last_report 20
	ask "len([t for t in r['threads'] if t['tid'] in {$(printf '%s,' "${tree[@]}")}]) == ${#tree[@]}" |
		grep -q True
	point "$name: a row for each in the report" $? "$(head -n 1 "$trial/$name.err")"
}

# shellcheck disable=SC2016 # for the inner shell
shell=(sh -c 'sleep 60 & sleep 60 & wait')
"${shell[@]}" &
wait_for 5 has_below $! 2 sleep
attach root $!
[ ! -s "$trial/root.err" ] || ! grep -q "^crit run:" "$trial/root.err"
point "root: nothing is said of processes left out, or of ranks" $? ""

as_user "$trial_nobody" "${shell[@]}"
"${command[@]}" &
wait_for 5 has_below $! 2 sleep
as_user "$trial_nobody"
attach user $! "${command[@]}"

sh -c "setpriv --reuid $trial_nobody --clear-groups sleep 60 & sleep 60 & wait" &
mixed=$!
wait_for 5 has_below "$mixed" 2 sleep
dir=$trial/mixed
CRIT_DIR=$dir "$crit" run -p "$mixed" 2>"$trial/mixed.err" >"$trial/mixed.out" &
wait_for 20 grep -q "below $mixed .*other users or may not be read: 1" "$trial/mixed.err"
point "a tree with another user's process: one is left out" $? "$(cat "$trial/mixed.err")"
# shellcheck disable=SC2046 # numbers
kill "$mixed" $(below "$mixed")
wait

# What it starts and becomes later has its own names and call paths.
sh -c "sleep 2; $apps/sampled steps 1000 & exec $apps/sampled lock 1500" >"$trial/later.told" &
dir=$trial/later
CRIT_DIR=$dir "$crit" run -p $! 2>"$trial/later.err" >"$trial/later.out"
"$crit" report --by=function "$dir" >"$trial/later.functions"
for function in serial_b both locked_b; do
	grep -q " $function (sampled)$" "$trial/later.functions"
	point "a fork and an exec after the attach: $function" $? "$(sed -n 2p "$trial/later.functions")"
done
in_window=$(ask 'r["job"]["window_s"] / r["job"]["elapsed_s"]' "$dir/report.json")
within "later: part of the recording that is the window" "$in_window" 0.9 1
within "later: complete call paths, per cent" "$(python3 -S "$trial_lib/paths.py" "$dir/report.json" complete)" 95 100

for flavour in "${flavours[@]}"; do
	"mpirun.$flavour" -np 2 "$apps/barrier_imbalance.$flavour" -n 100000 -m 30:10 >"$trial/ranks.out" 2>&1 &
	wait_for 20 has_below $! 2 barrier_imb
	attach "$flavour" $!
	grep -q "^crit run: ranks below process [0-9]*: 2; .*MPI calls are not seen" "$trial/$flavour.err"
	point "$flavour: two ranks, without calls" $? "$(grep -m 1 '^crit run' "$trial/$flavour.err")"
done
trial_end
