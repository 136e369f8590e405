#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks with as many thread buffers as are allowed that deliver nothing, in every way there is: what they make a
# collector that
# root started spend is at most 2 % of a CPU for one, and 20 % for any number of them.
# usage: idle_buffers.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/collector.sh
. "$(dirname "$0")/../lib/collector.sh"
trial_begin "$1"
needs_root "to start a collector for another user"
seconds=4 # of which the 3 ms that a process may have saved up are next to nothing, and another run is little

# spends NAME SECONDS RANK…: sets percent, of a CPU, that the collector used while there were ranks of these modes,
# once what may be saved up is spent.
spends() {
	local name=$1 saved=$2 mode ranks=() before after begin end
	shift 2
	wait_for 20 is_served
	point "$name: the collector takes calls again" $? ""
	for mode in "$@"; do
		ranks+=("$apps/hostile '$socket' \"\$CRIT_RUN\" $mode 60 &")
	done
	collector_runs "$name" sh -c "${ranks[*]} wait"
	"${command[@]}" >"$trial/$name.out" 2>&1 &
	wait_for 10 are_in "$name" $#
	point "$name: in the run" $? "$#"
	sleep "$saved"
	before=$(collector_cpu_ns)
	begin=$(date +%s%N)
	sleep "$seconds"
	after=$(collector_cpu_ns)
	end=$(date +%s%N)
	[[ " $* " == *" calls "* ]] || ends_beside "$name"
	pkill -KILL -u "$trial_nobody" -f "^$apps/hostile $socket "
	wait $!
	percent=$(python3 -c "print(round(100 * ($after - $before) / ($end - $begin), 2))")
}

# The end of many hostile processes is charged to calls, at 6 % of a CPU: connections may have to wait for seconds.
is_served() {
	collector_runs served true
	"${command[@]}" >"$trial/served.out" 2>&1 && ! grep -q 'does not serve us' "$trial/served.out"
}

# ends_beside NAME: another run of the user ends meanwhile, and has its report before crit run gives it up.
ends_beside() {
	collector_runs "$1-beside" "$apps/burn" 20
	"${command[@]}" >"$trial/$1-beside.out" 2>&1
	[ -s "$trial/home-$trial_nobody/$1-beside/report.json" ]
	point "$1: another run has its report" $? "$(tail -n 1 "$trial/$1-beside.out")"
}

are_in() {
	[ "$(grep -c '^answered: [a-z]*: kind 5' "$trial/$1.out")" -ge "$2" ]
}

collector_begin
spends honest 0.3 honest
base=$percent
for mode in idle reborn; do
	spends "$mode" 0.5 "$mode"
	within "$mode: percent of a CPU, above an honest rank's $base" \
		"$(python3 -c "print($percent - $base)")" -10 2
done
still=()
for ((i = 0; i < 24; i++)); do
	still+=(idle)
done
spends still 2 "${still[@]}"
within "24 idle ranks: percent of a CPU" "$percent" 0 20
crowd=()
for mode in idle idle reborn hurried; do
	for ((i = 0; i < 6; i++)); do
		crowd+=("$mode")
	done
done
spends crowd 3 "${crowd[@]}" calls
within "25 ranks: percent of a CPU" "$percent" 0 20
chrt -p "$collector" >"$trial/policy"
grep -q 'SCHED_OTHER' "$trial/policy"
point "25 ranks: no real-time priority any more" $? "$(head -n 1 "$trial/policy")"
collector_end
trial_end
