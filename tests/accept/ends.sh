#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every way a run can end: the program sees what it saw without crit, and the figures survive.
# usage: ends.sh BUILD-DIRECTORY [quick]
# Ranks that never rest take every CPU, ahead of others: who waits for them and strikes is ahead, too.
[ -n "${ends_in_line:-}" ] ||
	ends_in_line=1 exec setsid --wait "$(dirname "$0")/../lib/first_in_line" "$0" "$@"
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
size=${2:-full}
is_full=1
cases="normal exit abort sigterm kill-one kill-all kill-in-test kill-critd full-disk unwritable"
modes="preload shim"
work_s=4 # of the ranks whose collector is killed
if [ "$size" = quick ]; then
	cases="normal abort kill-all"
	modes=preload
	is_full=
fi
needs_root "to mount small file systems and to become an ordinary user"

now_s() {
	date +%s.%N
}

has_pids() {
	[ -s "$pids/0.pid" ] && [ -s "$pids/1.pid" ]
}

rank_pid() {
	cat "$pids/$1.pid"
}

# Sets collector: the critd that has this run's recording open.  Built-ins only, for the ranks take every CPU, and a
# program of its own would look around when they are done.
find_collector() {
	local recording process name fd
	collector=
	for recording in "$place"/*.crit; do
		for process in /proc/[0-9]*; do
			name=
			{ read -r name <"$process/comm"; } 2>/dev/null # unless it is gone
			[ "$name" = critd ] || continue
			for fd in "$process"/fd/*; do
				[ "$fd" -ef "$recording" ] && collector=${process#/proc/} && return
			done
		done
	done
	return 1
}

# What the program is asked to do, and who is killed when.
program_of() {
	case $1 in
	exit | abort) echo "$1 1" ;;
	sigterm | kill-one | kill-all) echo "forever 0" ;;
	kill-in-test) echo "test-loop 0.5" ;;
	kill-critd) echo "normal $work_s" ;;
	*) echo "normal 1" ;;
	esac
}

strike() {
	case $1 in
	sigterm) kill -TERM "$2" ;;
	kill-one) kill -KILL "$(rank_pid 1)" ;;
	kill-all | kill-in-test) kill -KILL "$(rank_pid 0)" "$(rank_pid 1)" ;;
	kill-critd) find_collector && kill -KILL "$collector" && struck_s=$EPOCHREALTIME ;;
	esac
}

# Where the results go: usually a fresh name; else a place that fails.
place_of() {
	place=$trial/$2
	if mountpoint -q "$place"; then
		place=$place/results
		return
	fi
	case $1 in
	full-disk)
		mkdir -p "$place" && mount -t tmpfs -o size=96k,mode=1777 tmpfs "$place"
		place=$place/results
		;;
	unwritable)
		mkdir -p "$place" && mount -t tmpfs -o size=96k,ro tmpfs "$place"
		place=$place/results
		;;
	esac
}

# run_case CASE MODE FLAVOUR: sets status, return_s (from the blow, or from the start), place.
run_case() {
	local what=$1 mode=$2 flavour=$3 name=$1-$2-$3 launcher begin
	pids=$trial/pids-$name
	rm -rf "$pids"
	mkdir -m 1777 "$pids"
	place_of "$what" "$name"
	struck_s=
	# shellcheck disable=SC2046
	compose "$mode" "$flavour" 2 ends $(program_of "$what") "$pids"
	begin=$(now_s)
	CRIT_DIR=$place "${command[@]}" >"$trial/$name.out" 2>"$trial/$name.err" &
	launcher=$!
	[ "$mode" = shim ] && hurry_users &
	if [ "$what" != normal ] && wait_for 10 has_pids; then
		case $what in
		kill-critd) # its ranks go on: no blow to return from
			sleep 0.5
			strike "$what" "$launcher"
			;;
		sigterm | kill-*)
			sleep 1.5
			begin=$(now_s)
			strike "$what" "$launcher"
			;;
		esac
	fi
	wait "$launcher" 2>/dev/null
	status=$?
	return_s=$(python3 -c "print(round($(now_s) - $begin, 2))")
}

has_report() {
	python3 -m json.tool "$place/report.json" >/dev/null 2>&1
}

# Why there is no report: in the directory, or where that is full in the log beside the socket.
log_line() {
	grep -h 'no report' "$place/NO-REPORT.txt" 2>/dev/null ||
		grep -hF "$place" "$trial"/runtime/crit/crit.log "$trial"/home-*/crit/crit.log | tail -n 1
}

has_log_line() {
	[ -n "$(log_line)" ]
}

check_loss() {
	if has_report; then
		point "$1: report all the same" 0 ""
	else
		wait_for 10 has_log_line
		point "$1: loss is named" $? "$(log_line | sed "s|$trial|…|g")"
	fi
}

# The blow hit this run's collector, and rank 0, which decides when all end, was still at work.
check_blow() {
	local into_s=none
	[ -n "$struck_s" ] &&
		into_s=$(python3 -c "print(round($struck_s - $(stat -c %.Y "$pids/0.pid"), 3))")
	within "$1: its collector dies at work, s" "$into_s" 0 "$work_s"
}

# One more run without crit.  Launchers differ from run to run: hydra answers a SIGTERM with 0 or
# 15 by chance, and mpirun takes one of two times, a second apart.
run_bare() {
	run_case "$what" bare "$flavour"
	bare_statuses+=("$status")
	bare_seconds+=("$return_s")
}

# is_bare_status STATUS: has a bare run given it, of a few more if need be?
is_bare_status() {
	local runs_max=2
	[ "$what" = sigterm ] && runs_max=30
	until [[ " ${bare_statuses[*]} " == *" $1 "* ]]; do
		[ "${#bare_statuses[@]}" -lt "$runs_max" ] || return 1
		run_bare
	done
}

# is_bare_time SECONDS: within a second of what bare runs take, of a few more if need be?
is_bare_time() {
	until python3 -c "
import sys
at, *bare = map(float, sys.argv[1:])
sys.exit(not min(bare) - 1 <= at <= max(bare) + 1)" "$1" "${bare_seconds[@]}"; do
		[ "${#bare_seconds[@]}" -lt 12 ] || return 1
		run_bare
	done
}

check_report() {
	local what=$1 name=$2 seconds=10
	[ "$what" = normal ] && seconds=0
	wait_for $seconds has_report || has_report
	point "$name: report" $? "$(head -n 1 "$place/report.txt" 2>/dev/null)"
	report=$place/report.json
	within "$name: laws" "$(ask 'checks()')" 0 1e-9
	case $what in
	kill-in-test)
		within "$name: share(0)" "$(ask 'share(0)')" 0.80 1
		within "$name: seconds in the Test loop are inactive" \
			"$(ask 'round(rank(1)["mpi_wait_s"], 3)')" 0.7 3
		;;
	kill-critd)
		check_blow "$name"
		grep -q 'critd was killed' "$place/report.txt"
		point "$name: loss is named" $? "$(grep -m 1 'critd was killed' "$place/report.txt")"
		;;
	*) within "$name: share(0)" "$(ask 'share(0)')" 0.70 0.95 ;;
	esac
}

for what in $cases; do
	take_turns
	for flavour in "${turn[@]}"; do
		bare_statuses=()
		bare_seconds=()
		run_bare
		run_bare
		for mode in $modes; do
			run_case "$what" "$mode" "$flavour"
			name="$what $mode $flavour"
			its_status=$status
			its_s=$return_s
			case $what in
			full-disk | unwritable) check_loss "$name" ;;
			*) check_report "$what" "$name" ;;
			esac
			is_bare_time "$its_s" # these two last, for they may run bare again
			point "$name: return, seconds" $? "$its_s, bare ${bare_seconds[*]}"
			is_bare_status "$its_status"
			point "$name: exit status" $? "$its_status, bare ${bare_statuses[*]}"
		done
	done
done
trial_end
