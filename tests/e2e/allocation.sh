#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Slurm's prolog and epilog by themselves: a user's ranks find the collector root started for their job, say which job
# they are of, and the epilog leaves reports and nothing else.
# usage: allocation.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
if [ "$(id -u)" -eq 0 ] && [ -z "${ALLOCATION_INSIDE:-}" ]; then
	# a /run of our own
	ALLOCATION_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"
fi
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
if [ "$(id -u)" -ne 0 ]; then
	echo "skip: needs root, as prologs do"
	exit 77
fi
mount -t tmpfs -o mode=755 run /run
prefix=$trial/crit
cmake --install "$build" --prefix "$prefix" >/dev/null
mkdir -p "$prefix/etc/crit"
log=$trial/log
echo "log=$log" >"$prefix/etc/crit/slurm.conf"
shim=$prefix/lib/libcrit_pmpi.so
user=$trial_nobody
job=4711

# as_slurm SCRIPT: with no more than Slurm gives it.
as_slurm() {
	env -i SLURM_JOB_ID="$job" SLURM_JOB_UID="$user" SLURM_JOB_GID="$user" SLURMD_NODENAME=node \
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

# The collector has attached, and is root no more.
is_users() {
	[ "$(awk '/^Uid:/ { print $2 $3 $4 $5 }' "/proc/$(cut -d' ' -f1 "/run/crit/$user/$job.pid")/status")" = \
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
[ "$(pgrep -fc "^$prefix/bin/critd")" = 1 ]
point "requeued: one collector" $? "$(pgrep -fc "^$prefix/bin/critd")"
as_slurm epilog
has_nothing_left
point "requeued: nothing left" $? "$(find /run/crit -mindepth 1)"

for setting in critd_options=--nonsense start=asked; do
	echo "$setting" >>"$prefix/etc/crit/slurm.conf"
	as_slurm prolog && [ ! -e "/run/crit/$user/$job.sock" ] && as_slurm epilog && has_nothing_left
	point "$setting: prolog and epilog succeed all the same" $? "$(tail -n 1 "$log")"
	sed -i '$d' "$prefix/etc/crit/slurm.conf"
done
trial_end
