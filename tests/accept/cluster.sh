#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Nodes that are elsewhere in time: one result all the same, as far as comparing their clocks can know.
# usage: cluster.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/archive.sh
. "$(dirname "$0")/../lib/archive.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"
trial_begin "$1"
cluster_needs || exit 77
skewed=$build/tests/skewed/lib/libcrit_pmpi.so
ms=1000:1000:1000:2500:1750:1750 # a slow rank on the second node, and a slow third node
early='r["messages"]["losses"]["received_before_sent"]'

# run_some NAME COUNT LIBRARY FLAVOUR MS: fills reports[].
run_some() {
	local i
	reports=()
	for ((i = 0; i < $2; i++)); do
		cluster_launch "$1-$i" "$3" "$4" 2 deadlines -n 1 -m "$5"
		has_last_report 20
		[ "$status" -eq 0 ] && [ "$(ask 'len(r["ranks"]), lacks()')" = "(6, [])" ]
		point "$1-$i: program and report" $? "status $status"
		reports+=("$report")
	done
}

# check_order FLAVOUR: messages that are faster than clocks are known, in ten launches.  Nodes that
# share a kernel have one clock, so the true offset is 0.
check_order() {
	local i moved=0 faults=""
	unset CRIT_OTF2
	for ((i = 0; i < 10; i++)); do
		cluster_launch "order-$1-$i" "$shim" "$1" 2 deadlines -n 3 -m 100:100:100:250:175:175
		has_last_report 20 && wait_for 15 test -s "$dir/traces.otf2"
		said="$(figure_of early "$dir") $(ask "$early") $(ask 'r["messages"]["is_whole"] and \
			all(abs(n["clock_offset_s"]) <= n["clock_bound_s"] < 200e-6 for n in r["nodes"])')"
		[ "$said" = "0 0 True" ] || faults+="$said; "
		moved=$((moved + $(ask 'any(n["clock_shift_s"] for n in r["nodes"])+0')))
	done
	export CRIT_OTF2=0
	[ -z "$faults" ]
	point "$1: messages in order in 10 of 10, clocks moved in $moved" $? "$faults"
}

# Known shares over three nodes, one archive of them.
cluster_up 3
for flavour in "${flavours[@]}"; do
	run_some "$flavour" 4 "$shim" "$flavour" "$ms"
	unset CRIT_OTF2
	cluster_launch "$flavour-last" "$shim" "$flavour" 2 deadlines -n 1 -m "$ms"
	export CRIT_OTF2=0
	reports+=("$report")
	read -r _ error < <("$trial_lib/deadlines.py" 1 "$ms" "${reports[@]}")
	within "$flavour: CMetric of a rank, relative error, median of 5" "${error:-none}" 0 0.03
	wait_for 15 test -s "$dir/traces.otf2"
	wait_for 5 [ ! -e "$dir/.finish.lock" ]
	read_by "$flavour" "$dir"
	said="$(figure_of early "$dir") $(ask "$early")"
	[ "$said" = "0 0" ]
	point "$flavour: received before sent, archive and report" $? "$said"
	check_order "$flavour"
done
cluster_down

# Time namespaces: all stamps are the host's.
cluster_time=([n2]="5000 0" [n3]="-2 300000000")
cluster_up 3
for flavour in "${flavours[@]}"; do
	cluster_launch "naps-$flavour" "$shim" "$flavour" 2 naps
	has_last_report 20
	for node in n1 n2 n3; do
		read -r away back _ < <("$trial_lib/clock_truth.py" stamps "$dir/$node.crit")
		within "$flavour on $node: from the call to the switch out, us" "${away:-none}" -10 100
		within "$flavour on $node: from the switch in to the call, us" "${back:-none}" -10 100
	done
	said=$(ask '[abs(n["clock_offset_s"]) <= n["clock_bound_s"] for n in r["nodes"]], lost(), lacks()')
	[ "$said" = "([True, True, True], 0, [])" ]
	point "$flavour: time namespaces" $? "$said"
done
cluster_down
cluster_time=()

# check_skewed NAME COUNT: n2 and n3 against their truth, in all of the runs.
check_skewed() {
	local i node worst bounds found=0
	for node in n2 n3; do
		worst=
		for ((i = 0; i < $2; i++)); do
			# shellcheck disable=SC2086
			said=$("$trial_lib/clock_truth.py" skewed "$trial/$1-$i/$node.crit" \
				${cluster_clock[$node]/,/ }) && found=$((found + 1))
			worst+="${said% *}; "
		done
		mapfile -t bounds < <(tr ';' '\n' <<<"$worst" | awk 'NF { print $2 }')
		point "$1 on $node: error and bound, us" 0 "$worst"
		[ "$node" != n2 ] || within "$1: bound of a clock, us, largest" \
			"$(printf '%s\n' "${bounds[@]}" | sort -g | tail -n 1)" 0 200
	done
	[ "$found" -eq $((2 * $2)) ]
	point "$1: errors within their bounds" $? "$found of $((2 * $2))"
}

# Clocks skewed where they are read; the third node's answers are under way for 20 ms.
if [ -x "$apps/ends.openmpi" ]; then
	cluster_clock=([n2]="5000000000000,50" [n3]="-300000000,0")
	cluster_delay=([n3]="20000 0")
	cluster_up 3
	run_some skewed 20 "$skewed" openmpi 400:400:400:1000:700:700
	check_skewed skewed 20
	read -r error _ < <("$trial_lib/deadlines.py" 1 400:400:400:1000:700:700 "${reports[@]}")
	within "skewed: error of the shares" "${error:-none}" 0 0.02
	said=$(ask '[x["active_time_s"] for x in r["checks"] if x["scope"] == "run" and x["unit"] == "ranks"][0]')
	within "skewed: CMetric of the run, s" "$said" 0.99 1.01
	cluster_down
fi
trial_end
