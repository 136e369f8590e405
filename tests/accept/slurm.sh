#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs of ordinary users under a real Slurm of two nodes, whose collectors a prolog starts: whatever launches the ranks
# and however they end, a report in the user's directory, and nothing is left behind.
# usage: slurm.sh BUILD-DIRECTORY [FUNCTION…]; all of them if none is named
# shellcheck source-path=SCRIPTDIR source=../lib/slurm.sh
. "$(dirname "$0")/../lib/slurm.sh"
trial_begin "$1"
exec 3>&1 # past what a program says
wanted=("${@:2}")
slurm_needs || exit 77
first=$trial_nobody # numbers of users that have names
second=$(id -u games)
work=(-p -n 20 -m 30:10)
uneven=$apps/barrier_imbalance

# has_report NAME DIRECTORY RANKS NODES [UID]: complete, the user's own, from both halves.
has_report() {
	local name=$1 owner=${5:-$first} facts want
	dir=$2 report=$2/report.json
	has_last_report 30
	facts=$(ask 'len(r["ranks"]), r["job"]["nodes"], r["job"]["mode"], lacks()')
	want="($3, $4, 'full', [])"
	[ "$facts" = "$want" ] && [ "$(stat -c %u "$dir" "$report" "$dir"/*.crit | sort -u)" = "$owner" ]
	point "$name" $? "$facts, owner $(stat -c %u "$report" 2>/dev/null)"
}

# of_user UID GLOB: the directories in the user's home.
of_user() {
	compgen -G "$trial/home-$1/$2" | sort
}

# After each job: nodes idle, no process of crit, no file below /run/crit, no socket in the users' own directories.
is_clean() {
	local node
	slurm_is_idle || return 1
	for node in n1 n2; do
		[ -z "$(on_node "$node" find /run/crit /dev/shm -mindepth 1 -path '*/crit*' 2>/dev/null)" ] || return 1
	done
	! pgrep -f "^[^ ]*(critd|crit) .*$trial" >/dev/null &&
		[ -z "$(find "$trial"/home-*/crit -name '*.sock*' 2>/dev/null)" ]
}

has_left_nothing() {
	wait_for 40 is_clean
	point "$1: nodes idle, nothing left" $? "$(on_node n1 sinfo -h -N -o '%N=%T' | paste -sd' ') $(
		on_node n1 find /run/crit -mindepth 1 2>/dev/null | paste -sd' ') $(
		pgrep -af "^[^ ]*(critd|crit) .*$trial" | head -n 3)"
}

# batch NAME OPTIONS LINE…: a batch script of $user, on both nodes if nothing else is said; sets job.
batch() {
	local name=$1 options
	read -ra options <<<"$2"
	shift 2
	{
		echo '#!/bin/bash'
		printf '%s\n' "$@"
	} >"$trial/$name.sh"
	job=$(slurm_as "${user:-$first}" sbatch --parsable -N2 -n2 -o "$name.out" "${options[@]}" "$trial/$name.sh" \
		2>"$trial/$name.said")
}

# ends_as STATE SECONDS: the job is over, and so.
ends_as() {
	wait_for "$2" has_ended && [[ $state = "$1" ]]
}

has_ended() {
	state=$(on_node n1 squeue -h -j "$job" -t all -o %T 2>/dev/null)
	[[ $state =~ ^(COMPLETED|CANCELLED|TIMEOUT|FAILED|NODE_FAIL)$ ]]
}

# is_recording DIRECTORY: a rank of each node has come out of MPI_Init.
is_recording() {
	local recording
	for recording in "$trial/home-$first/$1"/n{1,2}.crit; do
		[ "$(python3 "$trial_lib/recording.py" "$recording" ranks 2>/dev/null)" = 1 ] || return 1
	done
}

# Between nodes that UCX joins by TCP, MPICH's own MPI_Finalize hangs now and then, with crit and without it
# (docs/architecture.md): every rank is in there, and not in crit.
hangs_in_mpich() {
	local pid pids
	pids=$(pgrep -f "^$uneven.mpich") || return 1
	for pid in $pids; do
		eu-stack -m -p "$pid" 2>/dev/null | sed '/ PMPI_Finalize/q' >"$trial/stack"
		grep -q ' PMPI_Finalize' "$trial/stack" && ! grep -q libcrit "$trial/stack" || return 1
	done
}

end_what_hangs() {
	local seconds=0
	while sleep 1; do
		hangs_in_mpich && seconds=$((seconds + 1)) || seconds=0
		[ "$seconds" -lt 15 ] && continue
		hangs_in_mpich && touch "$trial/hung" && slurm_as "$first" scancel -u "$(id -un "$first")"
		return
	done
}

# unless_mpich_hangs DIRECTORY COMMAND…: which starts a job and waits for its end; again when MPICH hung, twice at most.
unless_mpich_hangs() {
	local directory=$1 attempt watch status
	shift
	for attempt in 1 2 3; do
		rm -f "$trial/hung"
		end_what_hangs &
		watch=$!
		"$@"
		status=$?
		kill "$watch" 2>/dev/null
		wait "$watch" 2>/dev/null
		[ -e "$trial/hung" ] || break
		echo "      MPICH hung in its own MPI_Finalize, attempt $attempt" >&3
		wait_for 60 is_clean
		rm -rf "$directory"
	done
	return "$status"
}

by_srun() {
	local flavour=$1 pmi=$2
	unless_mpich_hangs "$trial/home-$first/srun-$flavour" slurm_as "$first" timeout 100 \
		srun -l "--crit=srun-$flavour" -N2 -n2 "--mpi=$pmi" "$uneven.$flavour" "${work[@]}" \
		>"$trial/srun-$flavour.out" 2>&1
	point "srun --mpi=$pmi, $flavour: program ends well" $? "$(tail -n 1 "$trial/srun-$flavour.out")"
	[ "$(grep -E 'crit: (no )?report' "$trial/srun-$flavour.out")" = \
		"0: crit: report in $trial/home-$first/srun-$flavour/report.txt" ]
	point "srun -l --mpi=$pmi, $flavour: rank 0 says where it is" $? "$(grep 'crit: ' "$trial/srun-$flavour.out")"
	has_report "srun --mpi=$pmi, $flavour: report" "$trial/home-$first/srun-$flavour" 2 2
	facts=$(ask '(lambda s: (s["name"], s["step"]))(r["job"]["scheduler"]), [x["task"] for x in r["ranks"]]')
	[ "$facts" = "(('slurm', '0'), [0, 1])" ]
	point "srun --mpi=$pmi, $flavour: job, step, tasks" $? "$facts"
	has_left_nothing "srun --mpi=$pmi, $flavour"
}

# One line for a step whose program loads no shim.
static_program() {
	local said="crit: $apps/phases_static is statically linked: .*; link it dynamically"
	slurm_as "$first" timeout 60 srun --crit=static -N2 -n2 "$apps/phases_static" >"$trial/static.out" 2>&1
	[ "$(grep -c "$said" "$trial/static.out")" = 1 ]
	point "srun --crit of a static program: one line" $? "$(grep -m 1 crit: "$trial/static.out")"
	has_left_nothing "srun --crit of a static program"
}

# batch_completes NAME LINE…
batch_completes() {
	batch "$1" --comment=crit "${@:2}"
	ends_as COMPLETED 120
}

by_mpirun() {
	local flavour=$1 each=(-ppn 1)
	[ "$flavour" = mpich ] || each=(--map-by ppr:1:node)
	CRIT_DIR=mpirun-$flavour unless_mpich_hangs "$trial/home-$first/mpirun-$flavour" batch_completes \
		"mpirun-$flavour" "mpirun.$flavour \$($prefix/bin/crit env --mpi=$flavour) -np 2 ${each[*]} \\" \
		"$uneven.$flavour ${work[*]}"
	point "sbatch, mpirun, $flavour: program ends well" $? "$state"
	has_report "sbatch, mpirun, $flavour: report" "$trial/home-$first/mpirun-$flavour" 2 2
	has_left_nothing "sbatch, mpirun, $flavour"
}

# Two steps side by side, ten in a row: twelve runs.
many_steps() {
	local step="srun -N2 -n2 --exact --mpi=pmix" program="$uneven.openmpi -p -n 5 -m 20:10" i right=0
	batch steps "-n4 --ntasks-per-node=2" "for i in 1 2; do $step --crit=many-%s $program & done; wait" \
		"for i in {1..10}; do $step --crit=many-%s $program; done"
	ends_as COMPLETED 200
	point "twelve steps: job ends well" $? "$state $(tail -n 1 "$trial/home-$first/steps.out")"
	for i in {0..11}; do
		report=$trial/home-$first/many-$i/report.json
		[ "$(ask 'len(r["ranks"]), r["job"]["nodes"], lacks()')" = "(2, 2, [])" ] &&
			[ "$(ask 'r["job"]["scheduler"]["job"] + "." + r["job"]["scheduler"]["step"]')" = "$job.$i" ] &&
			[ "$(ask 'checks() < 1e-9')" = True ] && right=$((right + 1))
	done
	[ "$right" -eq 12 ] && [ "$(of_user "$first" 'many-*' | wc -l)" -eq 12 ]
	point "twelve steps: twelve directories" $? "$right right of $(of_user "$first" 'many-*' | wc -l)"
	has_left_nothing "twelve steps"
}

# says_partial NAME DIRECTORY RANKS REGEX: a report of what there was, that says what is missing.
says_partial() {
	local facts
	dir=$2 report=$2/report.json
	has_last_report 30
	facts=$(ask '[x["what"] for x in r["missing"]]')
	[ "$(ask 'len(r["ranks"])')" = "$3" ] && [[ $facts =~ $4 ]] && [ "$(stat -c %u "$report")" = "$first" ]
	point "$1: partial report" $? "$(ask 'len(r["ranks"])') ranks, $facts $(
		[ -s "$report" ] || paste -sd' ' <(ls -A "$dir") "$trial/crit-slurm.log" 2>&1)"
	has_left_nothing "$1"
}

cancelled() {
	batch cancelled "" "srun --mpi=pmix --crit=cancelled $uneven.openmpi -p -n 3000 -m 30:10"
	wait_for 60 is_recording cancelled
	slurm_as "$first" scancel "$job"
	ends_as CANCELLED 60
	point "scancel: job" $? "$state"
	says_partial scancel "$trial/home-$first/cancelled" 2 "the end of 2 of 2 ranks"
}

timed_out() {
	batch timed "-t 1" "srun --mpi=pmix --crit=timed $uneven.openmpi -p -n 9000 -m 30:10"
	ends_as TIMEOUT 180
	point "time limit: job" $? "$state"
	says_partial "time limit" "$trial/home-$first/timed" 2 "the end of 2 of 2 ranks"
}

# The collector does not start; the ranks start one of their own.
prolog_fails() {
	echo critd_options=--nonsense >>"$prefix/etc/crit/slurm.conf"
	batch unserved "" "srun --mpi=pmix --crit=unserved $uneven.openmpi ${work[*]}"
	ends_as COMPLETED 100
	point "failing prolog: program ends well" $? "$state"
	says_partial "failing prolog" "$trial/home-$first/unserved" 2 "on n1.*on n2"
	grep -q "no collector: critd: unknown" "$trial/crit-slurm.log"
	point "failing prolog: log" $? "$(grep -m 1 'no collector' "$trial/crit-slurm.log")"
	sed -i '/nonsense/d' "$prefix/etc/crit/slurm.conf"
}

# The site's own prolog fails on the second node, after crit's: Slurm drains the node and holds the job, which runs
# when it is let go.
site_prolog_fails() {
	touch "$trial/fails-n2"
	batch site "" "srun --mpi=pmix --crit=site $uneven.openmpi ${work[*]}"
	wait_for 60 is_drained
	point "site's prolog fails: node and job" $? "$(on_node n1 sinfo -h -n n2 -o %T) $(
		on_node n1 squeue -h -j "$job" -o '%T %r')"
	rm "$trial/fails-n2"
	on_node n1 scontrol update nodename=n2 state=resume
	has_left_nothing "site's prolog fails"
	on_node n1 scontrol release "$job"
	on_node n1 scontrol update "jobid=$job" starttime=now
	ends_as COMPLETED 100
	point "site's prolog fails, then not: program ends well" $? "$state"
	has_report "site's prolog fails, then not: report" "$trial/home-$first/site" 2 2
	has_left_nothing "site's prolog fails, then not"
}

is_drained() {
	[ "$(on_node n1 sinfo -h -n n2 -o %T)" = drained ] && [ "$(on_node n1 squeue -h -j "$job" -o %T)" = PENDING ]
}

# A job that runs is put back and starts again: a directory for each time.
requeued() {
	batch requeued --requeue "[ \"\${SLURM_RESTART_COUNT:-0}\" = 0 ] && count=3000 || count=20" \
		"srun --mpi=pmix --crit=requeued $uneven.openmpi -p -n \$count -m 30:10"
	wait_for 60 is_recording requeued
	on_node n1 scontrol requeue "$job"
	wait_for 60 is_waiting
	point "requeue: job" $? "$(on_node n1 squeue -h -j "$job" -o '%T %r')"
	says_partial requeue "$trial/home-$first/requeued" 2 "the end of 2 of 2 ranks"
	on_node n1 scontrol update "jobid=$job" starttime=now # else in two minutes
	ends_as COMPLETED 100
	point "requeued: program ends well" $? "$state"
	has_report "requeued: report" "$trial/home-$first/requeued-2" 2 2
	[ "$(ask 'r["job"]["scheduler"]["restarts"]')" = 1 ]
	point "requeued: second time" $? "$(ask 'r["job"]["scheduler"]')"
	has_left_nothing requeued
}

is_waiting() {
	[ "$(on_node n1 squeue -h -j "$job" -o %T)" = PENDING ] && slurm_is_idle
}

# Nothing of crit is on the second node.
missing_on_one() {
	local flavour=$1 pmi=$2
	on_node n2 mount -t tmpfs nothing "$prefix"
	unless_mpich_hangs "$trial/home-$first/half-$flavour" batch_completes "half-$flavour" \
		"srun --mpi=$pmi --crit=half-$flavour $uneven.$flavour ${work[*]}"
	point "crit missing on n2, $flavour: program ends well" $? "$state"
	on_node n2 umount "$prefix"
	says_partial "crit missing on n2, $flavour" "$trial/home-$first/half-$flavour" 1 "1 of 2 ranks, not recorded"
}

# The finisher is killed with the ranks: the epilog writes the report.
finisher_killed() {
	batch unfinished "" "srun --mpi=pmix --crit=unfinished $uneven.openmpi -p -n 100 -m 30:10 &" \
		"until [ -e unfinished/.finish.lock ]; do sleep 0.1; done; sleep 1" \
		"pkill -KILL -f 'crit finish --directory $trial'" wait
	ends_as COMPLETED 100
	point "finisher killed: program ends well" $? "$state"
	has_report "finisher killed: report by the epilog" "$trial/home-$first/unfinished" 2 2
	has_left_nothing "finisher killed"
}

two_users() {
	local one two
	batch users "-N1 -n2 -w n1" "srun --mpi=pmix --crit=users $uneven.openmpi ${work[*]}"
	one=$job
	user=$second batch users-2 "-N1 -n2 -w n1" "srun --mpi=pmix --crit=users $uneven.openmpi ${work[*]}"
	two=$job
	job=$one
	ends_as COMPLETED 100
	job=$two
	ends_as COMPLETED 100
	has_report "two users on a node: the first's report" "$trial/home-$first/users" 2 1 "$first"
	has_report "two users on a node: the second's report" "$trial/home-$second/users" 2 1 "$second"
	has_left_nothing "two users on a node"
}

# A collector is there where a job, a step of it, or its comment asks for one, and nowhere else.
asked() {
	local look="sleep 1; pgrep -fc '^$prefix/bin/critd'; ls /run/crit/$first"
	batch plain "-N1 -n1 -w n1" "$look"
	ends_as COMPLETED 60
	[ "$(head -n 1 "$trial/home-$first/plain.out")" = 0 ]
	point "a job that does not ask: no collector" $? "$(paste -sd' ' "$trial/home-$first/plain.out")"
	batch comment "-N1 -n2 -w n1 --comment=test,crit" "$look" \
		"srun --mpi=pmix \$($prefix/bin/crit env --mpi=slurm) $uneven.openmpi ${work[*]}"
	ends_as COMPLETED 100
	[ "$(head -n 1 "$trial/home-$first/comment.out")" = 1 ]
	point "a job with a comment: one collector" $? "$(paste -sd' ' "$trial/home-$first/comment.out")"
	has_report "a job with a comment: report" "$(of_user "$first" "crit-barrier_imbalance.openmpi-*")" 2 1
	has_left_nothing "asked"
}

# Two jobs of a user on a node: one collector, and the end of the first is not that of the second's recording.
shared() {
	local one two
	batch one "-N1 -n2 -w n1" "srun --mpi=pmix --crit=one $uneven.openmpi -p -n 60 -m 30:10"
	one=$job
	batch two "-N1 -n2 -w n1" "srun --mpi=pmix --crit=two $uneven.openmpi -p -n 400 -m 30:10"
	two=$job
	wait_for 60 both_record "$one" "$two"
	point "two jobs of a user on a node: one collector" $? "$(pgrep -fc "^$prefix/bin/critd") $(
		on_node n1 find /run/crit -mindepth 1 -printf '%f ')"
	job=$one
	ends_as COMPLETED 100
	has_report "the first job's report" "$trial/home-$first/one" 2 1
	job=$two
	ends_as COMPLETED 100
	has_report "the second job's report" "$trial/home-$first/two" 2 1
	has_left_nothing "two jobs of a user on a node"
}

both_record() {
	[ "$(on_node n1 find /run/crit -name "$1.sock" -o -name "$2.sock" | wc -l)" = 2 ] &&
		[ "$(pgrep -fc "^$prefix/bin/critd")" = 1 ] && [ -e "$trial/home-$first/one/n1.crit" ] &&
		[ -e "$trial/home-$first/two/n1.crit" ]
}

# Slurm never runs crit's epilog for a job: another user's job ends what it left, and not while Slurm knows it.
lost_epilog() {
	local one
	touch "$trial/loses-n1"
	batch lost "-N1 -n2 -w n1 --crit" "sleep 2"
	ends_as COMPLETED 60
	wait_for 30 slurm_is_idle
	rm "$trial/loses-n1"
	[ "$(pgrep -fc "^$prefix/bin/critd")" = 1 ]
	point "lost epilog: its collector stays behind" $? "$state"
	one=$(slurm_as "$first" salloc --no-shell -N1 -n1 -w n1 --crit 2>&1 | grep -om1 '[0-9]*')
	user=$second batch other "-N1 -n1 -w n1" true
	ends_as COMPLETED 60
	wait_for 30 lost_is_gone "$one"
	point "lost epilog: gone, and not for a job without a step" $? "$(on_node n1 find /run/crit -type l) $(
		tail -n 1 "$trial/crit-slurm.log")"
	slurm_as "$first" scancel "$one"
	has_left_nothing "lost epilog"
}

lost_is_gone() {
	[ "$(on_node n1 find /run/crit -type l -printf '%f')" = "$1.sock" ] &&
		[ "$(pgrep -fc "^$prefix/bin/critd")" = 1 ]
}

# Elements of an array; a job that runs twice; the option for all of a script; no option, no effect.
other_jobs() {
	batch array "--array=3,5 -N1 -n1" "srun --mpi=pmix --crit=array-%A_%a $uneven.openmpi -p -n 5 -m 20"
	wait_for 100 has_array
	point "array: both elements named" $? "$arrays"
	batch whole "--crit=whole-%s" "srun --mpi=pmix $uneven.openmpi ${work[*]}" \
		"mpirun.openmpi -np 2 --map-by ppr:1:node $uneven.openmpi ${work[*]}"
	ends_as COMPLETED 100
	[ "$(of_user "$first" 'whole-*' | wc -l)" -eq 2 ]
	point "sbatch --crit: srun and mpirun" $? "$(of_user "$first" 'whole-*' | paste -sd' ')"
	# shellcheck disable=SC2016
	[ "$(slurm_as "$first" srun -N2 -n2 sh -c 'echo ${LD_PRELOAD:-none}' | sort -u)" = none ]
	point "without --crit: nothing is preloaded" $? ""
	# shellcheck disable=SC2016
	[ "$(slurm_as "$first" env CRIT_TASKS=1 srun -N2 -n2 sh -c 'echo $LD_PRELOAD' | sort -u)" = \
		"$prefix/lib/libcrit_pmpi.so" ]
	point "task prolog: preloaded" $? ""
	has_left_nothing "array, sbatch --crit, task prolog"
}

has_array() {
	local report
	arrays=$(for report in "$trial/home-$first"/array-*/report.json; do
		ask 'r["job"]["scheduler"]["array"]' "$report" 2>/dev/null
	done | sort | paste -sd' ')
	[[ $arrays =~ ^[0-9]+_3\ [0-9]+_5$ ]] &&
		[ "$(of_user "$first" 'array-*' | sed 's,.*/array-,,' | paste -sd' ')" = "$arrays" ]
}

slurm_install
mkdir -p "$prefix/etc/crit"
echo "log=$trial/crit-slurm.log" >"$prefix/etc/crit/slurm.conf"
# the site's own, since Slurm drains a node where a prolog is missing
for script in prolog epilog task-prolog; do
	printf '#!/bin/sh\n[ ! -x "%s" ] || "%s"\n' "$prefix/libexec/crit/slurm/$script"{,} >"$trial/$script"
	[ "$script" != epilog ] || sed -i "1a [ ! -e $trial/loses-\$SLURMD_NODENAME ] || exit 0" "$trial/$script"
	[ "$script" != prolog ] || echo "[ ! -e $trial/fails-\$SLURMD_NODENAME ]" >>"$trial/$script"
	chmod 755 "$trial/$script"
done
slurm_up 2 "Prolog=$trial/prolog" "Epilog=$trial/epilog" "TaskProlog=$trial/task-prolog" || {
	point "Slurm starts" 1 "$(tail -n 3 "$slurm"/*.log)"
	trial_end
	exit 1
}
if [ ${#wanted[@]} -eq 0 ]; then
	wanted=("by_srun openmpi pmix" "by_srun mpich pmi2" "by_mpirun openmpi" "by_mpirun mpich" many_steps
		static_program cancelled finisher_killed prolog_fails site_prolog_fails requeued
		"missing_on_one openmpi pmix" "missing_on_one mpich pmi2"
		asked shared lost_epilog two_users other_jobs timed_out)
fi
for one in "${wanted[@]}"; do
	read -ra one <<<"$one"
	[[ -n ${one[1]:-} && " ${flavours[*]} " != *" ${one[1]} "* ]] || "${one[@]}"
done
trial_end
