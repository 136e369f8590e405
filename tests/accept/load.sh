#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Floods of switches and of MPI calls: nothing is lost, or what is lost is counted and shown.
# usage: load.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
is_in_line= # the collector has its share of the CPUs
pipes=300000
calls=10000000

# bench NAME ARGUMENT…: perf bench as a member of a run.
bench() {
	local name=$1
	shift
	dir=$trial/$name
	report=$dir/report.json
	CRIT_DIR=$dir "$crit" run -- perf bench "$@" >"$trial/$name.out" 2>&1
	status=$?
}

switches() {
	ask 'sum(t.get("switches", 0) for t in r["threads"])'
}

floods() {
	bench pipe sched pipe -l "$pipes"
	point "perf bench sched pipe: exit status" "$status" "$(switches) switches"
	check_laws "perf bench sched pipe"
	bench messaging sched messaging -g 4 -l 500
	point "perf bench sched messaging: exit status" "$status" "$(switches) switches"
	check_laws "perf bench sched messaging"
}

# collectors: those of this build.
collectors() {
	local pid
	for pid in $(pgrep -x critd); do
		[ "$(readlink "/proc/$pid/exe")" != "$build/bin/critd" ] || echo "$pid"
	done
}

# critd keeps up with a ring of a page for each CPU, but not while it is stopped.
tiny_ring() {
	local pid
	export CRIT_RING_BYTES=4096
	bench tiny sched pipe -l "$pipes" &
	pid=$!
	sleep 1
	mapfile -t stopped < <(collectors)
	kill -STOP "${stopped[@]}"
	sleep 0.3
	kill -CONT "${stopped[@]}"
	wait "$pid"
	unset CRIT_RING_BYTES
	dir=$trial/tiny
	report=$dir/report.json
	[ "$(ask 'lost() > 0')" = True ]
	point "tiny ring: losses are counted" $? "$(ask 'lost()') lost"
	grep -qi 'lost' "$dir/report.txt"
	point "tiny ring: losses are shown" $? "$(grep -i -m 1 lost "$dir/report.txt")"
	"$crit" report "$dir" >/dev/null 2>&1
	status=$?
	[ $status -eq 3 ]
	point "tiny ring: crit report answers 3" $? "$status"
	within "tiny ring: laws" "$(ask 'checks()')" 0 1e-9
}

# Ranks that yield while they wait for one of them switch 100,000 times a second, and more.
yields() {
	OMPI_MCA_mpi_yield_when_idle=1 launch "yields-$1" preload "$1" 8 barrier_imbalance -n 4 -p -m 400:1:1:1:1:1:1:1
	check_laws "8 ranks that yield $1"
	within "8 ranks that yield $1: records per second" \
		"$(ask 'sum(n["kernel_records"] for n in r["nodes"]) / r["job"]["elapsed_s"]')" 1 20000
}

# Ten million calls in 16 MiB, beside the same without a cap.  What was folded is known when the ranks are gone.
capped() {
	local flavour=$1 full bound
	launch "uncapped-$flavour" preload "$flavour" 2 ping_pong "$calls" 1000
	has_last_report 10
	full=$(ask 'share(0)')
	check_laws "ping-pong uncapped $flavour"
	export CRIT_MAX_BYTES=16M
	launch "capped-$flavour" preload "$flavour" 2 ping_pong "$calls" 1000
	has_last_report 10
	unset CRIT_MAX_BYTES
	check_laws "ping-pong in 16 MiB $flavour"
	point "ping-pong in 16 MiB $flavour: exit status" "$status" ""
	within "ping-pong in 16 MiB $flavour: bytes" "$(stat -c %s "$dir"/*.crit)" 1 $((16 << 20))
	grep -qiE 'profile' "$dir/report.txt"
	point "ping-pong in 16 MiB $flavour: report says when" $? "$(grep -i -m 1 profile "$dir/report.txt")"
	# folded waits count as active: a share moves by no more than their part of all CMetric
	bound=$(ask 'round(r["losses"]["folded_s"] / sum(x["cmetric_s"] for x in r["ranks"]), 4)')
	within "ping-pong in 16 MiB $flavour: share(0) - $full, bound $bound" \
		"$(python3 -c "print(round($(ask 'share(0)') - $full, 4))")" "-$bound" "$bound"
}

# Twice as many calls: what is left near the cap lasts, as long as what the kernel records leaves room.
outlasts() {
	export CRIT_MAX_BYTES=16M
	launch "outlasts-$1" preload "$1" 2 ping_pong $((2 * calls)) 1000
	has_last_report 10
	unset CRIT_MAX_BYTES
	check_laws "long ping-pong in 16 MiB $1"
	within "long ping-pong in 16 MiB $1: bytes" "$(stat -c %s "$dir"/*.crit)" 1 $((16 << 20))
	[ "$(ask '[n["cap_s"] for n in r["nodes"] if n["cap_s"]]')" = "[]" ]
	point "long ping-pong in 16 MiB $1: to its end" $? "$(grep -i -m 1 'its cap' "$dir/report.txt")"
}

# Ranks that spin on all CPUs, and fill a ring in 10 ms when they make messages.
storms() {
	local flavour=$1 run lost=()
	for run in 1 2 3 4 5; do
		launch "storm-$flavour-$run" preload "$flavour" 2 message_storm
		lost+=("$(ask 'lost()')")
	done
	[ "${lost[*]}" = "0 0 0 0 0" ]
	point "storms of messages $flavour: nothing lost" $? "${lost[*]}"
}

floods
tiny_ring
for case in yields capped outlasts storms; do
	for flavour in "${flavours[@]}"; do
		"$case" "$flavour"
	done
done
trial_end
