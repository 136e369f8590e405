# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The collector of a user's Slurm jobs on this node: its files, how a job joins and leaves it, and what it leaves to do.
# For prolog and epilog, which run as root, with hardly an environment and no PATH, and must always succeed: Slurm
# drains a node where they fail.
#
# A user has one collector on a node, however many jobs.  The files lie in /run/crit/<uid>, which is root's: critd.sock,
# .pid, .log and .runs of the collector, and for each job the link <job>.sock to its socket.  Who adds or removes a link
# holds a lock on the directory.  The first job starts the collector, the last one ends it.

PATH=/usr/sbin:/usr/bin:/sbin:/bin
umask 022
cd / || exit 0

# Settings; /etc/crit/slurm.conf, or the same below the installation, may change them.
# shellcheck disable=SC2034
start=asked    # or always: for all jobs, not only those submitted with --crit or --comment=crit
log=/var/log/crit-slurm.log
log_kib=1024   # beyond it a new log begins; the one before stays as .1
critd_options= # more options for critd, such as --ring-bytes 67108864
finish_s=60    # for the reports that are still missing when a job ends, all together
finish_mib=2048 # of memory for each of them
jobs_command=  # prints the numbers of the jobs of user $1 that have not ended; by default squeue is asked

allocation_prefix=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
allocation_prefix=${allocation_prefix%/libexec/crit/slurm}
for allocation_file in "$allocation_prefix/etc/crit/slurm.conf" /etc/crit/slurm.conf; do
	if [ -r "$allocation_file" ]; then
		# shellcheck disable=SC1090
		. "$allocation_file"
		break
	fi
done

export PATH # slurmd gives none, and the file may add to it

declare -A allocation_children=() # what runs as the user, by process

# allocation_say TEXT…: one line of the log; there may be no room, or no such directory.
allocation_say() {
	local text=$*
	TZ=UTC0 printf '%(%FT%TZ)T %s job %s: %s\n' -1 "${SLURMD_NODENAME:-$HOSTNAME}" "${SLURM_JOB_ID:-?}" \
		"${text//[[:cntrl:]]/?}" 2>/dev/null >>"$log" || true
} 2>/dev/null

# Keeps the log from growing without end.
allocation_rotate() {
	if (($(stat -c %s "$log" 2>/dev/null || echo 0) > log_kib * 1024)); then
		mv -f "$log" "$log.1"
	fi
} 2>/dev/null

# Fills job, uid and gid, and what allocation_of does; fails where Slurm has not said whose job this is.
allocation_known() {
	job=${SLURM_JOB_ID:-}
	uid=${SLURM_JOB_UID:-}
	gid=${SLURM_JOB_GID:-}
	allocation_rotate
	if ! [[ $job =~ ^[0-9]+$ && $uid =~ ^[0-9]+$ ]]; then
		allocation_say "Slurm names no job and user"
		return 1
	fi
	allocation_of "$uid" "$gid"
}

# allocation_of UID [GID]: fills uid, gid, room (the user's files) and base (the collector's files begin so).
allocation_of() {
	uid=$1 gid=${2:-}
	[[ $gid =~ ^[0-9]+$ ]] || gid=$(id -g "$uid" 2>/dev/null) || gid=$uid
	room=/run/crit/$uid
	base=$room/critd
}

# Does the job want a collector?  The plug-in tells prologs SPANK_CRIT=1 of a job submitted with --crit; without it, a
# comment with the word crit says the same.
allocation_asked() {
	[[ $start = always || -n ${SPANK_CRIT:-} ]] ||
		[[ ${SLURM_JOB_COMMENT:-} =~ (^|[^[:alnum:]_])crit($|[^[:alnum:]_]) ]]
}

# Takes the lock on the user's files, as descriptor 9.  Who ends the last job removes the directory.
allocation_lock() {
	local tries
	for tries in 1 2 3 4 5; do
		mkdir -p "$room"
		if ! [ -d "$room" ] || ! [ -O "$room" ] || [ -L "$room" ] || ! exec 9<"$room" || ! flock -w 30 9; then
			break
		fi
		[ /proc/self/fd/9 -ef "$room" ] && return
	done
	allocation_say "cannot make and lock $room (try $tries)"
	return 1
} 2>/dev/null

# When a process started, in ticks since boot: tells it from a later one of the same number.
allocation_age() {
	local stat fields
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
	read -ra fields <<<"${stat##*) }"
	[[ ${fields[0]} != [ZX] ]] || return 1
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

# The job gets the user's collector, which is started if there is none.
allocation_begin() {
	local pid age
	if ! allocation_lock; then
		allocation_say "the job has no collector"
	elif allocation_lives pid age && [ -S "$base.sock" ]; then
		allocation_say "collector $pid of user $uid serves this job as well"
		ln -sfn critd.sock "$room/$job.sock"
	elif allocation_start; then
		ln -sfn critd.sock "$room/$job.sock"
	fi
	exec 9<&-
}

# allocation_lives PID AGE: does the user's collector?  Fills the variables so named.
allocation_lives() {
	read -r "$1" "$2" 2>/dev/null <"$base.pid" && [ -n "${!2}" ] && ! allocation_is_over "${!1}" "${!2}"
}

# A session of its own: what is left in the prolog's process group is killed when the prolog ends, and who holds its
# output holds up the job.
allocation_start() {
	local pid options
	allocation_clear # what is left of one that was killed; the list of its runs stays
	read -ra options <<<"$critd_options"
	{
		exec 9<&-
		allocation_leave_job
		exec setsid "$allocation_prefix/bin/critd" --uid "$uid" --service --socket-path "$base.sock" \
			--runs "$base.runs" "${options[@]}"
	} </dev/null >"$base.log" 2>&1 &
	pid=$!
	echo "$pid $(allocation_age "$pid")" >"$base.pid"
	if allocation_waits 10 allocation_serves "$pid" && [ -S "$base.sock" ]; then
		allocation_say "collector $pid serves user $uid"
		return
	fi
	allocation_say "no collector: $(tail -n 1 "$base.log" 2>/dev/null)"
	kill -KILL "$pid" 2>/dev/null
	: >"$base.log"
	allocation_clear
	[ -s "$base.runs" ] || rm -f "$base.runs"
	rmdir "$room" 2>/dev/null
	return 1
}

# With PrologFlags=RunInJob a prolog lies in the job's cgroups, which end with the job: the collector moves beside them.
allocation_leave_job() {
	local controllers path root
	while IFS=: read -r _ controllers path; do
		[[ $path = */job_* ]] || continue
		root=/sys/fs/cgroup/${controllers#name=}
		[ -n "$controllers" ] || [ -e /sys/fs/cgroup/cgroup.controllers ] || root=/sys/fs/cgroup/unified
		path=$root${path%%/job_*}
		path=${path%/uid_*}/crit
		mkdir -p "$path" 2>/dev/null && echo 0 2>/dev/null >"$path/cgroup.procs" ||
			echo "cannot leave the job's cgroup for $path: ends with job $job"
	done </proc/self/cgroup
}

# It listens, or it has ended.
allocation_serves() {
	[ -S "$base.sock" ] || ! [ -e "/proc/$1" ]
}

allocation_is_over() {
	[ "$(allocation_age "$1")" != "$2" ]
}

# The job leaves the collector, which ends with the last one; then the reports that are missing are written, also those
# of jobs whose epilog never ran.
allocation_end() {
	local uid=$uid gid=$gid room=$room base=$base user
	ends=$((SECONDS + finish_s))
	allocation_sweep
	allocation_leave
	for user in /run/crit/[0-9]*; do
		[ ! -d "$user" ] || {
			allocation_of "${user##*/}"
			allocation_drop_lost && allocation_leave
		}
	done
	allocation_settle
}

# Collectors of jobs that ended without an epilog would stay, and cost all that runs here, until the node boots.
allocation_end_lost() {
	local uid=$uid gid=$gid room=$room base=$base user
	for user in /run/crit/[0-9]*; do
		[ ! -d "$user" ] || {
			allocation_of "${user##*/}"
			allocation_drop_lost
		}
	done
}

# The job leaves the collector of user $uid; the job may have none there.
allocation_leave() {
	local runs=() others=()
	if ! [ -d "$room" ] || ! allocation_lock; then
		return
	fi
	rm -f "$room/$job.sock"
	allocation_others
	if ((${#others[@]} == 0)); then
		allocation_stop
		allocation_take_runs
		rm -f "$base.runs"
		rmdir "$room" 2>/dev/null
	elif [ -s "$base.runs" ]; then
		sleep 0.5 # the collector sees at its next tick that the job's processes are gone
		allocation_take_runs "$job"
	fi
	exec 9<&-
	allocation_finish "${runs[@]}"
}

# Fills others, the links of jobs of user $uid.
allocation_others() {
	mapfile -d '' others < <(find "$room" -maxdepth 1 -type l -name '*.sock' -print0)
}

# Removes links of jobs that Slurm no longer knows, and ends the collector after the last one; its list of runs stays.
# Fails where there is nothing to end.
allocation_drop_lost() {
	local others=() lost=() link name living
	compgen -G "$room/critd.*" >/dev/null || return # nothing of a job's, but perhaps of the systemd unit
	allocation_others
	for link in "${others[@]}"; do
		name=${link##*/} name=${name%.sock}
		[ "$name" = "$job" ] || allocation_has_step "$name" || lost+=("$name")
	done
	if ((${#lost[@]} > 0)) && [ -z "$is_unanswered" ] && ! living=$(allocation_jobs); then
		is_unanswered=1 # nor would it be for the next user: a prolog has a few seconds
	elif ((${#lost[@]} > 0)) && [ -z "$is_unanswered" ] && allocation_lock; then
		for name in "${lost[@]}"; do
			if [[ $living = *" $name "* ]] || ! [ -L "$room/$name.sock" ]; then
				continue
			fi
			allocation_say "job $name of user $uid is gone, and its epilog never came"
			rm -f "$room/$name.sock"
		done
		allocation_others
		((${#others[@]} > 0)) || allocation_stop
		rmdir "$room" 2>/dev/null
		exec 9<&-
	fi
	((${#others[@]} == 0))
}

# Does a step of job $1 run here?  Costs no question to Slurm.  Names of processes do not wait for their memory.
allocation_has_step() {
	local pid
	for pid in $(pgrep -u 0 -x slurmstepd); do
		! grep -qsE "^slurmstepd: \[$1[].]" "/proc/$pid/cmdline" || return 0
	done
	return 1
}

# Prints the numbers of user $uid's jobs that have not ended, a space around each; fails where that is not known.
allocation_jobs() {
	local jobs number state
	id -- "$uid" >/dev/null || return 1 # of a user that is not known at the moment, squeue lists nothing
	if [ -n "$jobs_command" ]; then
		jobs=$(timeout -k 1 5 bash -c "$jobs_command" jobs "$uid") || return 1
	else
		jobs=$(timeout -k 1 5 squeue -h -a -u "$uid" -t all -o '%A %T') || return 1
	fi
	while read -r number state; do
		case $state in
		PENDING | COMPLETED | CANCELLED | FAILED | TIMEOUT | NODE_FAIL | PREEMPTED | BOOT_FAIL | DEADLINE | \
			OUT_OF_MEMORY) ;;
		*) printf ' %s ' "${number%%[!0-9]*}" ;;
		esac
	done <<<"$jobs"
} </dev/null 2>/dev/null

# allocation_take_runs [JOB]: moves what the collector has listed, all or that of one job, into runs, and this off the
# list.  critd adds to it under the same lock, and tries again where it does not get it.
allocation_take_runs() {
	local all=() rest=() i
	exec 8<>"$base.runs" || return
	if flock -w 5 8; then
		mapfile -d '' all <"$base.runs"
		for ((i = 0; i + 1 < ${#all[@]}; i += 2)); do
			if (($# > 0)) && [ "${all[i]%%[!0-9]*}" != "$1" ]; then
				rest+=("${all[@]:i:2}")
			else
				runs+=("${all[i + 1]}")
			fi
		done
		: >"$base.runs"
		((${#rest[@]} == 0)) || printf '%s\0' "${rest[@]}" >>"$base.runs"
	fi
	exec 8<&-
}

# On SIGTERM critd completes all recordings; finishers then write the last reports.
allocation_stop() {
	local pid age
	if allocation_lives pid age; then
		kill -TERM "$pid"
		if ! allocation_waits 10 allocation_is_over "$pid" "$age"; then
			allocation_say "collector $pid does not end: killed"
			kill -KILL "$pid"
		fi
	fi
	allocation_clear
}

# Removes what is the collector's alone; its last words go into the log.
allocation_clear() {
	local line
	while IFS= read -r line; do
		allocation_say "$line"
	done < <(tail -n 20 "$base.log" 2>/dev/null)
	rm -f "$base.sock" "$base.log" "$base.pid"
}

# allocation_try NAME COMMAND…: begins it as the user, with nothing of root's.  Where names are the user's, a file
# system may make any system call wait for ever: nothing here waits for what these commands do.
allocation_try() {
	while allocation_reap; ((${#allocation_children[@]} >= 8)); do
		((SECONDS < ends)) || return 1
		sleep 0.05
	done
	{
		exec 8<&- 9<&-
		local home groups=--init-groups
		home=$(getent passwd "$uid" | cut -d: -f6) && [ -n "$home" ] || groups=--clear-groups
		ulimit -d "$((finish_mib * 1024))"
		exec setsid env -i PATH="$PATH" HOME="${home:-/}" CRIT_GATHER_S=5 \
			setpriv --reuid "$uid" --regid "$gid" "$groups" --no-new-privs "${@:2}"
	} </dev/null >/dev/null 2>&1 &
	allocation_children[$!]=$1
}

# Forgets those that have ended, and says which failed.
allocation_reap() {
	local pid status running
	running=" $(jobs -pr | tr '\n' ' ')"
	for pid in "${!allocation_children[@]}"; do
		[[ $running != *" $pid "* ]] || continue
		status=0
		wait "$pid" || status=$?
		((status == 0)) || allocation_say "${allocation_children[$pid]} ended with $status"
		unset "allocation_children[$pid]"
	done
}

# At the deadline those that still run are killed, and left behind: a file system that does not answer keeps them.
allocation_settle() {
	local pid
	while allocation_reap; ((${#allocation_children[@]} > 0 && SECONDS < ends)); do
		sleep 0.05
	done
	for pid in "${!allocation_children[@]}"; do
		disown "$pid" # bash need not tell of its end
		kill -KILL "$pid" "-$pid" 2>/dev/null
		allocation_say "${allocation_children[$pid]} was not done after $finish_s s: left behind"
	done
}

# allocation_finish DIRECTORY…: reports nobody has written: their finishers were killed with the job.
allocation_finish() {
	local directory
	while (($# > 0)); do
		directory=$1
		shift
		# a directory that moved is where rank 0's is
		# shellcheck disable=SC2016
		allocation_try "crit report $directory is left to its user: crit finish" \
			sh -c '[ ! -d "$2" ] || exec "$1" finish --late --directory "$2"' sh \
			"$allocation_prefix/bin/crit" "$directory" && continue
		allocation_say "crit report is left to the user for $directory and up to $# more: no time"
		return
	done
}

# Sockets of collectors the job's processes started themselves, and that were killed: nobody listens there.
allocation_sweep() {
	local directory
	for directory in /run/user/"$uid"/crit /tmp/crit-"$uid" /tmp/crit-"$uid"-[1-9] /dev/shm/crit-"$uid"; do
		# shellcheck disable=SC2016
		allocation_try "removing dead sockets in $directory" sh -c '
			[ -d "$1" ] || exit 0
			for socket in "$1/$(uname -n)"-*.sock; do
				[ -S "$socket" ] || continue
				grep -q " $socket\$" /proc/net/unix || rm -f "$socket" "$socket.lock"
			done' sh "$directory"
	done
}
