#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Slurm's prolog and epilog by themselves: a user's ranks find the collector root started for their jobs, say which job
# they are of, and the epilog leaves reports and nothing else, and waits for nobody.
# usage: allocation.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
if [ "$(id -u)" -eq 0 ] && [ -z "${ALLOCATION_INSIDE:-}" ]; then
	# a /run of our own
	ALLOCATION_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"
fi
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "as prologs do"
mount -t tmpfs -o mode=755 run /run
prefix=$trial/crit
cmake --install "$build" --prefix "$prefix" >/dev/null
mkdir -p "$prefix/etc/crit"
log=$trial/log
echo "log=$log" >"$prefix/etc/crit/slurm.conf"
shim=$prefix/lib/libcrit_pmpi.so
user=$trial_nobody
job=4711

asks=SPANK_CRIT=1 # what the plug-in says of a job submitted with --crit

# as_slurm SCRIPT: with no more than Slurm gives it.
as_slurm() {
	env -i SLURM_JOB_ID="$job" SLURM_JOB_UID="$user" SLURM_JOB_GID="$user" SLURMD_NODENAME=node ${asks:+"$asks"} \
		"$prefix/libexec/crit/slurm/$1" </dev/null >"$trial/$1.out" 2>&1
}

# step NAME FLAVOUR STEP PROGRAM…: two ranks as the tasks of a step.
step() {
	local name=$1 flavour=$2 step=$3
	shift 3
	as_user "$user" "mpirun.$flavour" -np 2 env LD_PRELOAD="$shim" SLURM_JOB_ID="$job" SLURM_STEP_ID="$step" \
		SLURM_ARRAY_JOB_ID=4700 SLURM_ARRAY_TASK_ID=9 SLURM_RESTART_COUNT=2 SLURM_PROCID=5 "$@"
	dir=$trial/home-$user/$name
	report=$dir/report.json
	CRIT_DIR=$dir "${command[@]}" >"$trial/$name.out" 2>&1
}

has_nothing_left() {
	[ -z "$(find /run/crit -mindepth 1)" ] && ! pgrep -f "^$prefix/bin/critd" >/dev/null
}

collectors() {
	pgrep -f "^$prefix/bin/critd" | paste -sd' '
}

has_collectors() {
	[ "$(collectors | wc -w)" = "$1" ]
}

# The collector has attached, and is root no more.
is_users() {
	[ "$(awk '/^Uid:/ { print $2 $3 $4 $5 }' "/proc/$(cut -d' ' -f1 "/run/crit/$user/critd.pid")/status")" = \
		"$user$user$user$user" ]
}

for flavour in "${flavours[@]}"; do
	as_slurm prolog
	point "$flavour: prolog" $? "$(cat "$trial/prolog.out")"
	[ -S "/run/crit/$user/$job.sock" ] && [ "$(stat -c %u "/run/crit/$user")" = 0 ] && wait_for 10 is_users
	point "$flavour: a collector that has become the user" $? "$(tail -n 1 "$log")"

	step "step-$flavour" "$flavour" 3 "$apps/barrier_imbalance.$flavour" -p -n 5 -m 20:10
	point "$flavour: program ends well" $? "$(tail -n 1 "$trial/step-$flavour.out")"
	has_last_report 20
	facts=$(ask '[r["job"]["scheduler"][k] for k in ("name", "job", "step", "array", "restarts")]')
	[ "$facts" = "['slurm', '4711', '3', '4700_9', 2]" ]
	point "$flavour: job in the report" $? "$facts"
	facts=$(ask 'len(r["ranks"]), r["job"]["mode"], [x["task"] for x in r["ranks"]], lacks()')
	[ "$facts" = "(2, 'full', [5, 5], [])" ] &&
		grep -q '; slurm 4700_9.3$' "$dir/report.txt" && [ "$(stat -c %u "$report")" = "$user" ]
	point "$flavour: whole, and the user's" $? "$facts $(sed -n 2p "$dir/report.txt")"

	# its finisher is killed as cgroups do it: with the job
	step "killed-$flavour" "$flavour" 4 "$apps/barrier_imbalance.$flavour" -p -n 60 -m 20:10 &
	dir=$trial/home-$user/killed-$flavour report=$dir/report.json
	wait_for 20 [ -e "$dir/.finish.lock" ]
	pkill -KILL -f "^crit finish --directory $dir"
	wait
	[ ! -e "$report" ]
	point "$flavour: killed finisher: no report" $? "$(ls -A "$dir")"
	as_slurm epilog
	point "$flavour: epilog" $? "$(cat "$trial/epilog.out")"
	[ "$(ask 'len(r["ranks"]), r["job"]["mode"], lacks()')" = "(2, 'full', [])" ] && [ ! -e "$dir/.finish.lock" ] &&
		[ "$(stat -c %u "$report")" = "$user" ]
	point "$flavour: killed finisher: report by the epilog" $? "$(ask 'r["missing"]') $(cat "$log")"
	wait_for 10 has_nothing_left
	point "$flavour: nothing left" $? "$(find /run/crit -mindepth 1)"
done

as_slurm prolog
as_slurm prolog # the job is requeued, and no epilog came between
has_collectors 1
point "requeued: one collector" $? "$(collectors)"
as_slurm epilog
has_nothing_left
point "requeued: nothing left" $? "$(find /run/crit -mindepth 1)"

asks=
for setting in critd_options=--nonsense start=asked; do
	printf '%s\n' start=always "$setting" >>"$prefix/etc/crit/slurm.conf"
	as_slurm prolog && [ ! -e "/run/crit/$user/$job.sock" ] && as_slurm epilog && has_nothing_left
	point "$setting: prolog and epilog succeed all the same" $? "$(tail -n 1 "$log")"
	sed -i '2,$d' "$prefix/etc/crit/slurm.conf"
done

# has_asked EXPECTED WORD…: the prolog of a job with this in its environment starts a collector, or does not.
has_asked() {
	local expected=$1
	asks=$2
	as_slurm prolog
	[ "$expected" -eq "$(collectors | wc -w)" ]
	point "a job with '$asks': $expected collectors" $? "$(collectors)"
	as_slurm epilog
	asks=SPANK_CRIT=1
}
has_asked 0 ""
has_asked 0 "SLURM_JOB_COMMENT=critical"
has_asked 1 "SLURM_JOB_COMMENT=water, crit"
has_asked 1 "SPANK_CRIT=1"

# Jobs of a user share a collector, and each has its own runs; another user has another.
ends_killed() { # NAME: a step whose finisher is killed with it
	step "$1" "$flavour" 1 "$apps/barrier_imbalance.$flavour" -p -n 60 -m 20:10 &
	wait_for 20 [ -e "$trial/home-$user/$1/.finish.lock" ]
	pkill -KILL -f "^crit finish --directory $trial/home-$user/$1"
	wait $!
}
flavour=${flavours[0]}
job=1 as_slurm prolog
job=2 as_slurm prolog
user=$(id -u games) job=3 as_slurm prolog
has_collectors 2
point "two jobs of a user, one of another: two collectors" $? "$(collectors)"
job=2 step second "$flavour" 1 "$apps/barrier_imbalance.$flavour" -p -n 200 -m 20:10 &
second=$!
job=1 ends_killed first
job=1 as_slurm epilog
[ -s "$trial/home-$user/first/report.json" ] && [ ! -e "$trial/home-$user/second/report.json" ] && has_collectors 2
point "the first job ends: its report, and no other" $? "$(ls "$trial/home-$user/first")"
listed=$(tr '\0' ' ' <"/run/crit/$user/critd.runs")
[ "$listed" = "2 $trial/home-$user/second " ]
point "the list has the runs of the other job alone" $? "$listed"
wait "$second"
report=$trial/home-$user/second/report.json dir=$trial/home-$user/second
has_last_report 20
facts=$(ask 'len(r["ranks"]), r["job"]["mode"], r["job"]["scheduler"]["job"], lacks()')
[ "$facts" = "(2, 'full', '2', [])" ]
point "the second job's report is whole" $? "$facts"
job=2 ends_killed third
job=2 as_slurm epilog
has_collectors 1 && [ -s "$trial/home-$user/third/report.json" ]
point "the last job ends: no collector of this user, its report" $? "$(collectors)"
user=$(id -u games) job=3 as_slurm epilog
has_nothing_left
point "two users: nothing left" $? "$(find /run/crit -mindepth 1)"

# A job's epilog never comes: a later prolog or epilog of any user sees from Slurm's answer that the job is gone.
mkdir "$trial/bin"
printf '#!/bin/sh\ncat "%s"\n' "$trial/jobs" >"$trial/bin/squeue"
chmod 755 "$trial/bin/squeue"
echo "PATH=$trial/bin:\$PATH" >>"$prefix/etc/crit/slurm.conf"
printf '%s\n' "1 RUNNING" "2 CONFIGURING" >"$trial/jobs"
job=1 as_slurm prolog
job=2 as_slurm prolog
job=1 ends_killed lost
user=$(id -u games) job=3 as_slurm epilog
has_collectors 1 && [ -S "/run/crit/$user/1.sock" ] && [ -S "/run/crit/$user/2.sock" ]
point "Slurm knows the jobs: their collector stays" $? "$(collectors) $(tail -n 1 "$log")"
echo "2 COMPLETING" >"$trial/jobs"
user=$(id -u games) job=3 as_slurm epilog
has_collectors 1 && [ ! -e "/run/crit/$user/1.sock" ] && [ -S "/run/crit/$user/2.sock" ]
point "Slurm forgot one of two: the other's stays" $? "$(collectors) $(tail -n 1 "$log")"
rm "$trial/jobs" # squeue fails
user=$(id -u games) job=3 as_slurm epilog
has_collectors 1 && [ -S "/run/crit/$user/2.sock" ]
point "Slurm does not answer: the collector stays" $? "$(collectors)"
printf '%s\n' "1 COMPLETED" "2 PENDING" >"$trial/jobs"
user=$(id -u games) job=3 asks='' as_slurm prolog
has_collectors 0 && grep -q "job 2 of user $user is gone, and its epilog never came" "$log"
point "both are gone: a prolog that asks for nothing ends the collector" $? "$(collectors) $(tail -n 1 "$log")"
user=$(id -u games) job=3 as_slurm epilog
has_nothing_left && [ -s "$trial/home-$user/lost/report.json" ]
point "an epilog writes the lost job's report" $? "$(ls "$trial/home-$user/lost") $(find /run/crit -mindepth 1)"
job=1 as_slurm prolog
echo 'jobs_command="echo 1; exit 0"' >>"$prefix/etc/crit/slurm.conf"
user=$(id -u games) job=3 as_slurm epilog
has_collectors 1
point "another scheduler's command knows the job" $? "$(collectors)"
echo 'jobs_command="sleep 60 & echo; wait"' >>"$prefix/etc/crit/slurm.conf"
user=$(id -u games) job=3 as_slurm epilog
has_collectors 1
point "the command hangs: the collector stays" $? "$(collectors)"
echo "jobs_command='[ \$1 = $user ]'" >>"$prefix/etc/crit/slurm.conf"
user=$(id -u games) job=3 as_slurm epilog
has_nothing_left
point "the command knows no job: nothing left" $? "$(find /run/crit -mindepth 1) $(collectors)"
sed -i '2,$d' "$prefix/etc/crit/slurm.conf"

# all_at_once SCRIPT JOB…
all_at_once() {
	local script=$1
	shift
	for job in "$@"; do
		as_slurm "$script" &
	done
	wait
}
all_at_once prolog {1..6}
has_collectors 1 && [ "$(find /run/crit -type l | wc -l)" = 6 ]
point "six prologs at once: one collector" $? "$(collectors)"
all_at_once epilog {1..5} &
all_at_once prolog {7..9}
wait
has_collectors 1 && [ "$(find /run/crit -name '?.sock' -printf '%f ' | tr ' ' '\n' | sort | paste -sd' ')" = \
	"6.sock 7.sock 8.sock 9.sock" ] && [ -S "/run/crit/$user/9.sock" ]
point "epilogs and prologs at once: one collector" $? "$(collectors): $(find /run/crit -type l -printf '%f ')"
all_at_once epilog {6..9} &
all_at_once prolog 10
wait
has_collectors 1 && [ -S "/run/crit/$user/10.sock" ]
point "the last epilogs and a prolog at once: one collector" $? "$(collectors): $(find /run/crit -type l -printf '%f ')"
pkill -KILL -f "^$prefix/bin/critd"
wait_for 10 has_collectors 0
job=11 as_slurm prolog
has_collectors 1 && [ -S "/run/crit/$user/10.sock" ]
point "the collector is killed: the next job starts one for all" $? "$(collectors)"
all_at_once epilog 10 11
has_nothing_left
point "all jobs have ended: nothing left" $? "$(find /run/crit -mindepth 1)"

# The prolog lies in the job's cgroup, and the collector does not.
group=/sys/fs/cgroup/pids/job_$job
if mkdir "$group" 2>/dev/null; then
	(echo 0 >"$group/cgroup.procs" && as_slurm prolog)
	[ -z "$(cat "$group/cgroup.procs")" ] && has_collectors 1
	point "the collector leaves the job's cgroup" $? "$(grep pids "/proc/$(collectors)/cgroup")"
	as_slurm epilog
	rmdir "$group" "${group%/*}/crit"
fi

# What a report may cost in the epilog: memory, and time.
as_slurm prolog
ends_killed poor
echo finish_mib=1 >>"$prefix/etc/crit/slurm.conf"
as_slurm epilog
[ ! -e "$trial/home-$user/poor/report.json" ] &&
	grep -q "home-$user/poor is left to its user: crit finish ended with" "$log"
point "without memory: no report, and the log says so" $? "$(tail -n 1 "$log")"
sed -i '$d' "$prefix/etc/crit/slurm.conf"
as_slurm prolog
ends_killed slow
mv "$prefix/bin/crit" "$prefix/bin/crit-itself"
printf '#!/bin/sh\nexec sleep 987654\n' >"$prefix/bin/crit"
chmod 755 "$prefix/bin/crit"
echo finish_s=2 >>"$prefix/etc/crit/slurm.conf"
as_slurm epilog
grep -q "home-$user/slow is left to its user: .* left behind" "$log" && ! pgrep -f "^sleep 987654" >/dev/null
point "what takes too long is left behind, and the log says so" $? "$(tail -n 1 "$log")"
mv "$prefix/bin/crit-itself" "$prefix/bin/crit"
has_nothing_left
point "left behind: nothing else is" $? "$(find /run/crit -mindepth 1)"

echo log_kib=0 >>"$prefix/etc/crit/slurm.conf"
as_slurm epilog
as_slurm prolog
[ -s "$log.1" ] && [ "$(wc -l <"$log")" = 1 ]
point "the log begins anew" $? "$(wc -l "$log")"
as_slurm epilog
trial_end
