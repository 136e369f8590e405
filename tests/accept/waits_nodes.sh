#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What waits between nodes cost, whose clocks are hours apart: a rank on each of two, with known work.
# usage: waits_nodes.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"
trial_begin "$1"
cluster_needs || exit 77
cluster_time=([n2]="7200 123456789")
cluster_up 2
point "two nodes" $? "$(cat "$cluster"/*.log)"

# launch_apart NAME PROGRAM ARGUMENT…: sets dir and report, and says what crit waits does in $trial/waits.
launch_apart() {
	local name=$1
	shift
	cluster_launch "$name" "$shim" "$flavour" 1 "$@"
	[ "$status" -eq 0 ] && has_last_report 30 && "$crit" waits --json "$dir" >"$trial/waits" 2>"$trial/waits.err"
	point "$name: program, report and waits" $? "status $status $(cat "$trial/waits.err")"
}

# delay_between BEFORE AFTER: of rank 0, in ms.
delay_between() {
	ask "round(1e3 * sum(c['delay_s'] for c in r['causes'] if c['kind'] == 'code' and c['rank'] == 0 and c['before']
		and c['after'] and (c['before']['call'], c['after']['call']) == ('MPI_$1', 'MPI_$2')))" "$trial/waits"
}

# merged NAME: crit-merge by two and by three processes writes what crit report does, to the byte.
merged() {
	local processes launch
	"$crit" report -o "$trial/serial" "$dir"/*.crit 2>"$trial/serial.err"
	for processes in 2 3; do
		launch=("mpirun.$flavour" -np "$processes")
		[ "$flavour" = mpich ] || launch+=(--oversubscribe)
		rm -rf "$trial/merged"
		"${launch[@]}" "$build/bin/crit-merge" -o "$trial/merged" "$dir"/*.crit \
			>"$trial/merge.out" 2>"$trial/merge.err" &&
			diff -r "$trial/serial" "$trial/merged" >"$trial/diff"
		point "$1: the same by $processes processes" $? "$(head -qn 1 "$trial/merge.err" "$trial/diff")"
	done
	rm -rf "$trial/serial"
}

for flavour in "${flavours[@]}"; do
	launch_apart "chain-$flavour" handover 40 20 2
	within "chain-$flavour: cost of what rank 0 does, of all waiting: 20 of 22 ms" \
		"$(ask 'round(sum(c["share"] for c in r["causes"]
			if c["rank"] == 0 and c["kind"] in ("code", "cpu")), 3)' "$trial/waits")" 0.85 0.97
	said=$(ask '[(knot["kind"], [who["rank"] for who in knot["members"]]) for knot in r["knots"]]' "$trial/waits")
	[ "$said" = "[('knot', [0])]" ]
	point "chain-$flavour: the knot" $? "$said"

	for case in "Barrier Sendrecv 30 20 25 10 25" "Sendrecv Barrier 30 25 20 25 10" \
		"Barrier Sendrecv 300 2 3 1 3"; do
		read -r before after steps times <<<"$case"
		name=$before-$steps-$flavour
		# shellcheck disable=SC2086
		launch_apart "$name" two_phases "$steps" $times 0 1
		within "$name: delay of what rank 0 does longer, in ms: 150" \
			"$(delay_between "$before" "$after")" 120 180
		within "$name: and of what it does not" "$(delay_between "$after" "$before")" 0 25
	done

	launch_apart "deputies-$flavour" deputies 30 20 5
	within "deputies-$flavour: cost of what rank 0's thread does, of all waiting" \
		"$(ask 'round(sum(c["share"] for c in r["causes"] if c["rank"] == 0 and c["kind"] in ("code", "cpu")
			and c["before"] is None and c["after"] is None), 3)' "$trial/waits")" 0.85 0.97
	merged "deputies-$flavour"

	export CRIT_SAMPLE_HZ=997
	for case in "assemble 30 20 30 10 30" "solve 30 30 20 30 10"; do
		read -r late steps times <<<"$case"
		# programs of the machine that have the CPUs come first in a verdict: then it is asked of another run
		for try in 1 2 3 4 5; do
			# shellcheck disable=SC2086
			launch_apart "$late-$flavour-$try" two_phases "$steps" $times
			said=$(ask 'r["verdict"]["sentence"]')
			[[ $said == *" had the CPUs for "* ]] || break
		done
		[[ $said =~ ank\ 0.*(excess|CMetric)\ in\ $late\ two_phases.c:[0-9]+ ]]
		point "$late is late, of $times ms, $flavour" $? "$said"
	done
	unset CRIT_SAMPLE_HZ
done
trial_end
