#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit run -p of a process that cannot be watched: one line that says why, exit 1, and nothing is left behind.
# usage: attach.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "to become another user"
work=$trial/work
mkdir -m 777 "$work"
install -m 711 "$(command -v sleep)" "$trial/sleep-unreadable"

# attach PID COMMAND-BEFORE…: as an ordinary user or root; sets status.
attach() {
	local pid=$1
	shift
	timeout -s INT 20 "$@" env -C "$work" "$crit" run -p "$pid" >"$trial/out" 2>&1
	status=$?
}

# fails NAME WORDS: the last one did, with one line, and left nothing.
fails() {
	local left
	left=$(find "$work" -mindepth 1 | wc -l)
	[ "$status" -eq 1 ] && [ "$left" -eq 0 ] && [ "$(wc -l <"$trial/out")" -eq 1 ] &&
		grep -q "^crit run: cannot record process [0-9]*: .*$2" "$trial/out"
	point "$1" $? "exit $status, $left left, $(head -n 1 "$trial/out")"
	rm -rf "${work:?}"/*
}

as_user "$trial_nobody"
user=("${command[@]}")
sleep 60 &
other=$!
"${user[@]}" "$trial/sleep-unreadable" 60 &
unreadable=$!
"${user[@]}" sleep 60 &
own=$!
wait_for 5 grep -q sleep "/proc/$unreadable/comm" "/proc/$own/comm"

attach "$other" "${user[@]}"
fails "another user's" "it belongs to user 0, and critd serves user $trial_nobody; run crit as that user"
attach "$unreadable" "${user[@]}"
fails "execute-only" "it may not be read"
kernel=$(pgrep -x kthreadd) # in this pid namespace?
if [ -n "$kernel" ]; then
	attach "$kernel"
	fails "a thread of the kernel" "it is a thread of the kernel"
fi
attach "$own" "${user[@]}" "$apps/without_perf"
fails "neither kernel half nor perf events" "neither its kernel half nor perf events"
kill "$other"
wait "$other"
attach "$other"
fails "one that is over" "No such process"

# The same collector, with nothing to say against it.
(sleep 1 && kill "$own") &
attach "$own" "${user[@]}"
[ "$status" -eq 0 ] && [ "$(find "$work" -name report.txt | wc -l)" -eq 1 ]
point "an own process" $? "exit $status, $(head -n 1 "$trial/out")"
kill "$unreadable"
logs=$(find "$trial/home-$trial_nobody" "$XDG_RUNTIME_DIR" -name '*.log' ! -name critd.log | wc -l)
[ "$logs" -eq 0 ]
point "no log of a finisher" $? "$logs"
trial_end
