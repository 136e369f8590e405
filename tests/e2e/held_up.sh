#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit waits: OpenMP workers that are idle while their rank receives wait for the rank that sends; who is late because
# another program has its CPU is late for want of a CPU, and the other program has a name.  A rank that sleeps, or a
# thread in a parallel region, is blocked: those that spin meanwhile, more than there are CPUs, lack none then, nor do
# ranks in a deadlock, which is told as one.
# usage: held_up.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "for the full kernel half"
wants_cpus=1

# costs CONDITION: of all waiting, per cent, in rows of causes c for which it holds.
costs() {
	ask "round(100 * sum(c['share'] for c in r['causes'] if $1), 1)" "$trial/waits"
}

# waits NAME: what crit waits says of the run in $dir.
waits() {
	"$crit" waits --json "$dir" >"$trial/waits" 2>"$trial/waits.err"
	[ $? -ne 1 ] # 3: the kernel lost a record, which is not what this is about
	point "$1: the laws of waits hold" $? "$(cat "$trial/waits.err")"
}

# begins TEXT ALTERNATIVE…: so does what the report says of the run in $dir.
begins() {
	local text
	said=$(ask 'r["verdict"]["sentence"]')
	for text in "$@"; do
		[[ $said = $text* ]] && return
	done
	return 1
}

export OMP_WAIT_POLICY=passive
# Of a team, and of two threads between barriers, one has far more to do, the other next to nothing.
for runtime in gnu llvm; do
	trial_has "uneven_loop-$runtime" "OpenMP of $runtime" || continue
	OMP_NUM_THREADS=2 launch "team-$runtime" run none 0 "$apps/uneven_loop-$runtime" 40 0.4 15
	begins "Thread * has 1.? times the mean work, "
	point "team-$runtime: who is named" $? "$said"
	[[ $said = *" in omp implicit barrier "* ]]
	point "team-$runtime: where it is waited for" $? ""
done
launch uneven-crew run none 0 "$apps/crew_steps" -n 40 -t 2 -m 20:0.4
begins "Only thread * (crew_steps) of process * has much to do; "
point "uneven-crew: who has all the work" $? "$said"
[[ $said = *" others wait "* ]]
point "uneven-crew: it is waited for" $? ""
for flavour in "${flavours[@]}"; do
	for runtime in gnu llvm; do
		trial_has "idle_workers-$runtime.$flavour" "OpenMP of $runtime" || continue
		name=idle-$runtime-$flavour
		mode=run
		[ "$runtime" = gnu ] || mode=llvm
		launch "$name" "$mode" "$flavour" 2 "idle_workers-$runtime" 30 20
		waits "$name"
		within "$name: share of rank 0's work and want of a CPU" \
			"$(costs 'c["rank"] == 0 and c["kind"] in ("code", "cpu")')" 95 100
		said=$(ask 'round(1000 * sum(p["waited_s"] for p in r["pairs"]
			if p["from"]["rank"] == 1 and p["to"]["rank"] == 1))' "$trial/waits")
		within "$name: its worker waits as long as it does, ms of 30 times 20" "$said" 540 690
		said=$(ask '(lambda act: (act["actor"]["rank"], act["waiter"]["rank"], act["waiters"]))(
			r["late_acts"][0])' "$trial/waits")
		[ "$said" = "(0, 1, 1)" ]
		point "$name: the act waited for most is rank 0's" $? "$said"
	done
done
unset OMP_WAIT_POLICY

# A thread sleeps in a region, and its team spins meanwhile, more than there are CPUs: more of these would gain nothing.
for runtime in gnu llvm; do
	trial_has "uneven_loop-$runtime" "OpenMP of $runtime" || continue
	name=asleep-team-$runtime
	OMP_NUM_THREADS=4 launch "$name" run none 0 "$apps/uneven_loop-$runtime" 30 0.1 -20
	begins "Thread * (uneven_loop-*) of process * is blocked in a parallel region for "
	point "$name: who is blocked" $? "$said"
	[[ $said = *"locks or sleep ("*"% in clock_nanosleep)"* ]]
	point "$name: in what" $? ""
	within "$name: lost for want of CPUs, of the time beyond 30 naps of 20 ms" \
		"$(ask 'round(r["lost_time"]["cpus_s"] - (r["job"]["window_s"] - 0.6), 3)')" -10 0.02
	for flavour in "${flavours[@]}"; do
		name=asleep-team-$runtime-$flavour
		mode=run
		[ "$runtime" = gnu ] || mode=llvm
		OMP_NUM_THREADS=2 launch "$name" "$mode" "$flavour" 2 "uneven_loop-$runtime" 30 0.1 -20
		said=$(ask 'r["verdict"]["sentence"]')
		[[ $said = *"ank 0 on "*" is blocked in a parallel region for "* ]]
		point "$name: whose thread is blocked" $? "$said"
	done
done

for flavour in "${flavours[@]}"; do
	for ranks in 2 5; do
		name=asleep-$ranks-$flavour
		launch "$name" preload "$flavour" "$ranks" naps late
		said=$(ask 'r["verdict"]["sentence"]')
		[[ $said = "Rank 0 on "*" is blocked outside MPI for "* ]]
		point "$name: who is blocked" $? "$said"
		# of ranks that do not yield one may want a CPU when rank 0 has come: of what the naps leave
		within "$name: lost for want of CPUs, of the time beyond 20 naps of 40 ms" \
			"$(ask 'round(r["lost_time"]["cpus_s"] - (r["job"]["window_s"] - 0.8), 3)')" -10 0.02
		check_laws "$name"
	done
done

# Rank 0 waits for a message, the others for rank 0, and rank 1 polls: no CPU ends that, but the limit does.
for flavour in "${flavours[@]}"; do
	for ranks in 2 5; do
		name=deadlock-$ranks-$flavour
		limit_s=6 launch "$name" run "$flavour" "$ranks" ends deadlock 0.2
		has_last_report 20
		point "$name: the last report" $? ""
		begins "For the last * all ranks wait in MPI, until they end without MPI_Finalize: rank 0 in MPI_Recv"
		point "$name: who waits where" $? "$said"
		[[ $said = *", rank 1 in MPI_Test at "*"; that is a deadlock, "* ]] &&
			[[ $ranks -eq 2 || $said = *", ranks 2, 3 and 4 in MPI_Barrier at "* ]]
		point "$name: so do the others" $? ""
		within "$name: lost for want of CPUs, of 6 s" "$(ask 'round(r["lost_time"]["cpus_s"], 3)')" 0 2.5
	done
done

# Threads that wait for each other until the limit ends them are in a deadlock; who waits for what comes from outside is
# not, nor is a program that goes on.
killed="[0-9.]+ s \\([0-9.]+% of the window\\), until SIGTERM ends them, no thread computes"
doomed="; nobody is left who could let one of them go on: that is a deadlock\\."
unwoken="; nobody is left who could wake one of them: that is a deadlock, unless they wait for a signal or a timeout\\."
outside="; what would let them go on is not recorded, as input, time or a signal"
thread="thread [0-9]+ \\(stalls\\)"
line="stalls\\.c:[0-9]+"
while IFS=';' read -r kind regex; do
	limit_s=3 launch "stalls-$kind" run none 0 "$apps/stalls" "$kind" 100 < <(sleep 5)
	has_last_report 20
	point "stalls-$kind: the last report" $? ""
	said=$(ask 'r["verdict"]["sentence"]')
	regex=${regex//KILLED/$killed} regex=${regex//DOOMED/$doomed} regex=${regex//UNWOKEN/$unwoken}
	regex=${regex//OUTSIDE/$outside} regex=${regex//THREAD/$thread}
	regex=${regex//LOCK/pthread_mutex_lock} regex=${regex//LINE/$line}
	[[ $said =~ ^$regex ]]
	point "stalls-$kind: the sentence" $? "$said"
done <<'END'
locks;For the last KILLED: THREAD is in LOCK at take_first LINE, .*threads .* in LOCK at take_both LINE.*DOOMED
self;For the last KILLED: THREAD is in LOCK at take_twice .*, THREAD in pthread_join at run .*DOOMED
wakeup;For the last KILLED: .*THREAD in pthread_cond_wait at await_change .*UNWOKEN
barrier;For the last KILLED: .*threads .* in pthread_barrier_wait at meet .*DOOMED
reporter;For the last KILLED but 1 that does now and then, for 0\.0.* in LOCK at .*; that is a deadlock, unless one
reads;For the last KILLED: .* in read.*OUTSIDE
server;For the last KILLED: .* in poll at run .*OUTSIDE
input;For the last KILLED: .* in read at read_input .*OUTSIDE
over;Thread.* blocked for
END

# A team likewise, whether its threads sleep in the runtime or spin there.
for runtime in gnu llvm; do
	trial_has "crossed_locks-$runtime" "OpenMP of $runtime" || continue
	while IFS=';' read -r kind place; do
		name=crossed-$kind-$runtime
		mode=run
		[ "$runtime" = gnu ] || mode=llvm
		limit_s=4 launch "$name" "$mode" none 0 "$apps/crossed_locks-$runtime" "$kind" 100
		has_last_report 20
		point "$name: the last report" $? ""
		said=$(ask 'r["verdict"]["sentence"]')
		regex=".* in omp $kind wait at $place crossed_locks.c:.* in omp implicit barrier"
		[[ $said =~ ^"For the last "$killed:$regex.*$doomed ]]
		point "$name: the sentence" $? "$said"
	done <<'END'
critical;enter_first
lock;lock_both
END
done

# Half of rank 0's CPU belongs to somebody else: the same work takes it twice as long.
is_in_line=
"$apps/duty" crit-hog 0 50 >/dev/null &
hog=$!
disown # launch waits for all jobs
trap 'kill "$hog"; trial_cleanup' EXIT
for flavour in "${flavours[@]}"; do
	name=hog-$flavour
	launch "$name" run "$flavour" 2 handover 40 20 1
	waits "$name"
	within "$name: share of rank 0's work and want of a CPU" \
		"$(costs 'c["rank"] == 0 and c["kind"] in ("code", "cpu")')" 90 100
	within "$name: share of its want of a CPU" "$(costs 'c["rank"] == 0 and c["kind"] == "cpu"')" 30 100
	within "$name: share of what is in calls" "$(costs 'c["kind"] == "call"')" 0 5
	said=$(ask '[p["by"] for p in r["preemptions"]][:1]')
	[[ $said = *crit-hog* ]]
	point "$name: who took the CPU" $? "$said"
done
trial_end
