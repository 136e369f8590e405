# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A collector that root starts for an ordinary user, as a prolog does, and what it uses; trial.sh with it.
# usage: . collector.sh; trial_begin BUILD-DIRECTORY; collector_begin; …; collector_end
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "${BASH_SOURCE[0]}")/trial.sh"

# Sets collector (its pid) and socket, in a directory that anybody may enter.
collector_begin() {
	local room
	room=$(mktemp -d "$trial/room.XXXX") && chmod 755 "$room"
	socket=$room/node.sock
	"$build/bin/critd" --uid "$trial_nobody" --service --socket-path "$socket" >"$trial/collector.log" 2>&1 &
	collector=$!
	wait_for 20 collector_is_confined
	point "collector of user $trial_nobody" $? "$(tail -n 1 "$trial/collector.log")"
}

# The system call filter is the last thing before it serves.
collector_is_confined() {
	grep -q '^Seccomp:[[:space:]]*2' "/proc/$collector/status" 2>/dev/null
}

collector_end() {
	kill "$collector"
	wait "$collector"
	point "collector ends well" $? ""
}

# CPU time of all its threads so far, in ns.
collector_cpu_ns() {
	awk '{ sum += $1 } END { printf "%.0f\n", sum }' "/proc/$collector/task"/*/schedstat
}

# collector_runs NAME PROGRAM…: fills command[] with that program, by the collector's user, as a run in NAME.
collector_runs() {
	local name=$1
	shift
	as_user "$trial_nobody" env "CRIT_SOCKET=$socket" "CRIT_DIR=$trial/home-$trial_nobody/$name" "$crit" run -- "$@"
}
