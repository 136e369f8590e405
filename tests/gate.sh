#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Run one test; its skip (77) is a failure unless CRIT_MAY_SKIP lists its label.
#
# A hypervisor that takes the CPUs away for seconds makes programs run into their own time limits, and known shares
# something else.  A test that failed, hung or skipped while that happened tells nothing: it is run again, twice at
# most, each time once the CPUs have been whole for a second.  GATE_STAT is what tells of them, for the test of this.
#
# Not all hypervisors tell.  Of tests that compare what was measured with what is known (e2e) one whose points failed
# without that is run again as well, and has failed unless it passes twice then.
# usage: gate.sh LABEL SECONDS PROGRAM [ARG]...
label=$1
seconds=$2
shift 2
stat=${GATE_STAT:-/proc/stat}
attempts=3
calm_s=60 # to wait for whole CPUs

# what the host took of all CPUs (steal in proc(5)), and their time, in ticks
ticks() {
	awk '/^cpu / { print $9, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 }' "$stat"
}

# whole_since TICKS: the host took less than 1 %.
whole_since() {
	local begin stolen all
	read -r -a begin <<<"$1"
	read -r stolen all <<<"$(ticks)"
	stolen=$((stolen - begin[0]))
	all=$((all - begin[1]))
	taken="$((all ? 100 * stolen / all : 0)) %"
	((100 * stolen < all || stolen == 0))
}

run() {
	# without a terminal's signals ignored, as those of a shell's background jobs would be
	env --default-signal=INT,QUIT timeout --kill-after=10 "$seconds" "$@" <&0 &
	child=$!
	trap 'kill "$child"' INT TERM
	wait "$child"
	status=$?
	trap - INT TERM
}

wait_for_whole_cpus() {
	local i before
	for ((i = 0; i < calm_s; i++)); do
		before=$(ticks)
		sleep 1
		whole_since "$before" && return
	done
}

for ((i = 1, to_pass = 1; i <= attempts && to_pass > 0; i++)); do
	((i == 1)) || wait_for_whole_cpus
	before=$(ticks)
	run "$@"
	if [ "$status" -eq 0 ]; then
		((to_pass--))
	elif ! whole_since "$before"; then
		printf 'gate: the host took %s of the CPUs meanwhile: exit %d tells nothing\n' "$taken" "$status" >&2
	elif [ "$label" = e2e ] && [ "$status" -eq 1 ] && [ "$i" -eq 1 ]; then
		printf 'gate: points failed: it has to pass twice now\n' >&2
		to_pass=2
	else
		break
	fi
done
((status || !to_pass)) || status=1
if ((status == 77)) && [[ " ${CRIT_MAY_SKIP//,/ } " != *" $label "* ]]; then
	printf 'gate: skipped, and CRIT_MAY_SKIP does not list "%s": a failure\n' "$label" >&2
	exit 1
fi
exit "$status"
