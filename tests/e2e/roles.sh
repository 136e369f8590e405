#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Whose a thread is, the program's or the MPI library's, whatever comes first: the collector, the launcher, MPI_Init.
# usage: roles.sh BUILD-DIRECTORY [quick]
# shellcheck source-path=SCRIPTDIR source=../lib/collector.sh
. "$(dirname "$0")/../lib/collector.sh"
trial_begin "$1"
needs_root "to start a collector for another user"
launches=20
[ "${2:-full}" = quick ] && launches=2

# roles: of each rank, how many threads it has of each role, without those that end before MPI_Init does.
roles() {
	ask 'tally((x["rank"], x["role"])
		for x in r["threads"] if x["rank"] is not None and x["life_s"] > x["setup_s"])'
}

# A collector of root that is there before the ranks, as a prolog leaves it.
keep() {
	socket=$trial/kept.sock
	"$build/bin/critd" --uid 0 --service --socket-path "$socket" >"$trial/collector.log" 2>&1 &
	collector=$!
	disown "$collector" # launch waits for all children
	wait_for 20 collector_is_confined
	point "collector" $? "$(tail -n 1 "$trial/collector.log")"
}

# expect NAME: the last launch tells the roles there should be, and lost nothing.
expect() {
	has_last_report 10
	[ "$status" -eq 0 ] && [ "$(roles)" = "$expected" ] && [ "$(ask 'r["job"]["mode"]')" = "$mode" ]
	point "$1" $? "$(roles)"
}

keep
for flavour in "${flavours[@]}"; do
	helpers=1
	[ "$flavour" != openmpi ] || mpirun.openmpi --version | grep -qF '(Open MPI) 5' || helpers=2
	expected="[((0, 'app'), 2), ((0, 'service'), $helpers), ((1, 'app'), 2), ((1, 'service'), $helpers)]"
	for when in early late; do
		mode=full
		for ((i = 1; i <= launches; i++)); do
			launch "started-$flavour-$when-$i" preload "$flavour" 2 born_around_init "$when"
			expect "$flavour, $when: collector started by the rank"
			CRIT_SOCKET=$socket \
				launch "kept-$flavour-$when-$i" preload "$flavour" 2 born_around_init "$when"
			expect "$flavour, $when: collector of a prolog"
		done
		launch "run-$flavour-$when" run "$flavour" 2 born_around_init "$when"
		expect "$flavour, $when: crit run"
		mode=approximate
		launch "shim-$flavour-$when" shim "$flavour" 2 born_around_init "$when"
		expect "$flavour, $when: perf events"
	done
done
kill "$collector"
trial_end
