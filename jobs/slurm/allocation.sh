# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The collector of one Slurm allocation on this node: its files, how it starts and ends, and what it leaves to do.
# For prolog and epilog, which run as root, with hardly an environment and no PATH, and must always succeed: Slurm
# drains a node where they fail.

PATH=/usr/sbin:/usr/bin:/sbin:/bin
umask 022
cd / || exit 0

# Settings; /etc/crit/slurm.conf, or the same below the installation, may change them.
# shellcheck disable=SC2034
start=always   # or asked: only for jobs submitted with --crit
log=/var/log/crit-slurm.log
critd_options= # more options for critd, such as --ring-bytes 67108864
finish_s=60    # for the reports that are still missing when a job ends, all together

allocation_prefix=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
allocation_prefix=${allocation_prefix%/libexec/crit/slurm}
for allocation_file in "$allocation_prefix/etc/crit/slurm.conf" /etc/crit/slurm.conf; do
	if [ -r "$allocation_file" ]; then
		# shellcheck disable=SC1090
		. "$allocation_file"
		break
	fi
done

# allocation_say TEXT…: into the log; there may be no room, or no such directory.
allocation_say() {
	printf '%(%FT%TZ)T %s job %s: %s\n' -1 "${SLURMD_NODENAME:-$HOSTNAME}" "${SLURM_JOB_ID:-?}" "$*" \
		2>/dev/null >>"$log" || true
} 2>/dev/null

# Fills job, uid, gid, room (the user's sockets) and base (all files of the allocation begin so); fails where Slurm
# has not said whose job this is.
allocation_known() {
	job=${SLURM_JOB_ID:-}
	uid=${SLURM_JOB_UID:-}
	gid=${SLURM_JOB_GID:-}
	if ! [[ $job =~ ^[0-9]+$ && $uid =~ ^[0-9]+$ ]]; then
		allocation_say "Slurm names no job and user"
		return 1
	fi
	[[ $gid =~ ^[0-9]+$ ]] || gid=$(id -g "$uid" 2>/dev/null) || gid=$uid
	room=/run/crit/$uid
	base=$room/$job
}

# When a process started, in ticks since boot: tells it from a later one of the same number.
allocation_age() {
	local stat fields
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	read -ra fields <<<"${stat##*) }"
	echo "${fields[19]}"
}

# allocation_waits SECONDS COMMAND…: until it succeeds.
allocation_waits() {
	local tries=$(($1 * 50))
	shift
	until "$@"; do
		((tries-- > 0)) || return 1
		sleep 0.02
	done
}

# A session of its own: what is left in the prolog's process group is killed when the prolog ends, and who holds its
# output holds up the job.
allocation_begin() {
	local pid options
	mkdir -p "$room" 2>/dev/null
	if ! [ -d "$room" ] || ! [ -O "$room" ] || [ -L "$room" ]; then
		allocation_say "cannot make $room: the job has no collector"
		return
	fi
	allocation_end # what a node that went down has left of a job that is requeued
	read -ra options <<<"$critd_options"
	setsid "$allocation_prefix/bin/critd" --uid "$uid" --service --socket-path "$base.sock" --runs "$base.runs" \
		"${options[@]}" </dev/null >"$base.log" 2>&1 &
	pid=$!
	echo "$pid $(allocation_age "$pid")" >"$base.pid"
	if allocation_waits 10 allocation_serves "$pid" && [ -S "$base.sock" ]; then
		allocation_say "collector $pid serves user $uid"
	else
		allocation_say "no collector: $(tail -n 1 "$base.log" 2>/dev/null)"
		allocation_end
	fi
}

# It listens, or it has ended.
allocation_serves() {
	[ -S "$base.sock" ] || ! [ -e "/proc/$1" ]
}

allocation_is_over() {
	[ "$(allocation_age "$1")" != "$2" ]
}

# On SIGTERM critd completes all recordings; finishers then write the last reports.
allocation_end() {
	local pid age
	if read -r pid age 2>/dev/null <"$base.pid" && [ -n "$age" ] && ! allocation_is_over "$pid" "$age"; then
		kill -TERM "$pid"
		if ! allocation_waits 10 allocation_is_over "$pid" "$age"; then
			allocation_say "collector $pid does not end: killed"
			kill -KILL "$pid"
		fi
	fi
	if [ -s "$base.log" ]; then
		allocation_say "$(tail -n 20 "$base.log")"
	fi
	[ ! -s "$base.runs" ] || allocation_finish
	rm -f "$base.sock" "$base.log" "$base.pid" "$base.runs"
}

# allocation_as_user COMMAND…: with nothing of root's.
allocation_as_user() {
	local home groups=--init-groups
	home=$(getent passwd "$uid" | cut -d: -f6) && [ -n "$home" ] || groups=--clear-groups
	env -i PATH="$PATH" HOME="${home:-/}" CRIT_GATHER_S=5 \
		setpriv --reuid "$uid" --regid "$gid" "$groups" --no-new-privs "$@" </dev/null >/dev/null 2>&1
}

# Reports nobody has written: their finishers were killed with the job.  The names are the user's, and are opened as
# the user only.
allocation_finish() {
	local directory status ends=$((SECONDS + finish_s))
	while IFS= read -r -d '' directory; do
		((SECONDS < ends)) || break
		allocation_as_user test -d "$directory" || continue # moved to where rank 0's is
		status=0
		allocation_as_user timeout -k 2 "$((ends - SECONDS))" \
			"$allocation_prefix/bin/crit" finish --late --directory "$directory" || status=$?
		((status == 0)) || allocation_say "no report in $directory: crit finish ended with $status"
	done <"$base.runs"
}

# Sockets of collectors the job's processes started themselves, and that were killed: nobody listens there.
allocation_sweep() {
	local socket
	for socket in /run/user/"$uid"/crit /tmp/crit-"$uid" /dev/shm/crit-"$uid"; do
		# shellcheck disable=SC2016
		! [ -d "$socket" ] || allocation_as_user sh -c '
			for socket in "$1/$(uname -n)"-*.sock; do
				[ -S "$socket" ] || continue
				grep -q " $socket\$" /proc/net/unix || rm -f "$socket" "$socket.lock"
			done' sh "$socket"
	done
}
