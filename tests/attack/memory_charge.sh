#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What ranks make a collector that root started allocate in its own memory cgroup: at most 64 KiB for each, whatever
# they do with the memory they share. Copies of stacks have a ring of 4 MiB in each run, which fills as time goes by:
# one rank or many, so ranks are compared without it, and it is looked at by itself.
# usage: memory_charge.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/collector.sh
. "$(dirname "$0")/../lib/collector.sh"
trial_begin "$1"
needs_root "to start a collector for another user"
few=2
many=18
ring=4096 # KiB: CRIT_STACKS_RING_BYTES

# Sets group, a memory cgroup of this test's, and fields, what counts in its memory.stat.
begin_group() {
	local root
	for root in /sys/fs/cgroup/memory /sys/fs/cgroup /sys/fs/cgroup/unified; do
		group=$root/crit-trial-$$
		if mkdir "$group" 2>/dev/null; then
			grep -q . "$group/memory.stat" 2>/dev/null && break
			rmdir "$group"
		fi
		group=
	done
	if [ -z "$group" ]; then
		echo "skip: no memory cgroup can be made here"
		exit 77
	fi
	fields='rss|shmem'
	grep -q '^anon ' "$group/memory.stat" && fields='anon|shmem'
}

charged_bytes() {
	awk -v fields="^($fields)\$" '$1 ~ fields { sum += $2 } END { printf "%.0f\n", sum }' "$group/memory.stat"
}

# charges MODE RANKS BUDGET: sets bytes, what is charged to the collector's group while there are so many such ranks.
charges() {
	local i ranks=()
	for ((i = 0; i < $2; i++)); do
		ranks+=("$apps/hostile '$socket' \"\$CRIT_RUN\" $1 60 &")
	done
	collector_runs "$1-$2-$3" sh -c "${ranks[*]} wait"
	CRIT_SAMPLE_BUDGET=$3 "${command[@]}" >"$trial/$1-$2-$3.out" 2>&1 &
	wait_for 10 are_in "$1-$2-$3" "$2"
	point "$1: in the run" $? "$2"
	sleep 3 # the kernel brings memory.stat up to date every 2 s
	bytes=$(charged_bytes)
	pkill -KILL -u "$trial_nobody" -f "^$apps/hostile $socket "
	wait $!
}

are_in() {
	[ "$(grep -c '^answered: [a-z]*: kind 5' "$trial/$1.out")" -ge "$2" ]
}

begin_group
collector_begin
echo "$collector" >"$group/cgroup.procs" # what it has by now stays charged elsewhere
grep -qx "$collector" "$group/cgroup.procs"
point "collector in a memory cgroup of its own" $? "$group"
charges honest 2 0 # what any run needs
for mode in reborn punched; do
	charges "$mode" "$few" 0
	least=$bytes
	charges "$mode" "$many" 0
	within "$mode: KiB charged for each rank" "$(((bytes - least) / 1024 / (many - few)))" -1000000 64
	within "$mode: KiB charged in all" "$((bytes / 1024))" 0 16384
	least=$bytes
	charges "$mode" "$many" 10
	within "$mode: KiB more with copies of stacks" "$(((bytes - least) / 1024))" -1000000 "$((ring + 64 * many))"
done
collector_end
rmdir "$group"
trial_end
