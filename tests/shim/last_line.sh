#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The one line on standard error at the end: where the report is, or why there is none; and when it must not come.
# usage: last_line.sh BUILD-DIRECTORY [full]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
is_full=${2:-}
three_on_any
ours='crit: ((no )?report|rank 0 is not recorded)'

# ends NAME PATTERN [STATUS]: that launch ended so, and wrote this one line of crit's; with "none" not any.
ends() {
	local name=$1 pattern=$2 count
	count=$(grep -cE "$ours" "$trial/$name.err")
	if [ "$pattern" = none ]; then
		[ "$status" -eq "${3:-0}" ] && [ "$count" -eq 0 ]
	else
		[ "$status" -eq "${3:-0}" ] && [ "$count" -eq 1 ] && grep -qE "$pattern" "$trial/$name.err"
	fi
	point "$name: $pattern" $? "status $status; $(grep -E "$ours" "$trial/$name.err")"
}

# keeps NAME: rank 0 found nothing changed; what errno is after MPI_Finalize, the bare program says.
keeps() {
	diff <(grep held "$trial/$1.out") <(grep held "$trial/bare-$flavour.out") >/dev/null
	point "$1: errno, signals and files as without crit" $? "$(cat "$trial/$1.out")"
}

# stop_finisher NAME: it gets no CPU while the rank of that launch waits for it.
stop_finisher() {
	wait_for 10 has_whole_finisher "$trial/$1"
	pkill -STOP -f "finish --directory $trial/$1"
	touch "$trial/stopped-$1"
}

# unwritable NAME PROGRAM [ARGUMENT…]: a run's directory that cannot be.
unwritable() {
	local name=$1
	shift
	compose preload "$flavour" 2 "$@"
	CRIT_DIR=/proc/nowhere "${command[@]}" >"$trial/$name.out" 2>"$trial/$name.err"
	status=$?
	ends "$name" '^crit: rank 0 is not recorded: cannot write the recording in /proc/nowhere: .*; set CRIT_DIR$'
}

plain() {
	launch "bare-$flavour" bare "$flavour" 2 last_line plain
	launch "plain-$flavour" preload "$flavour" 2 last_line plain
	ends "plain-$flavour" "^crit: report in $dir/report.txt\$"
	[ -s "$dir/report.txt" ]
	point "plain-$flavour: it is there" $?
	keeps "plain-$flavour"
}

silent() {
	for mode in closed full gone read; do
		launch "$mode-$flavour" preload "$flavour" 2 last_line "$mode"
		ends "$mode-$flavour" none
		keeps "$mode-$flavour"
	done
	launch "data-$flavour" preload "$flavour" 2 last_line data "$trial/data"
	ends "data-$flavour" none
	[ "$(cat "$trial/data")" = dataend ]
	point "data-$flavour: the program's own file is unchanged" $? "$(cat "$trial/data")"
}

settings() {
	CRIT_QUIET=1 launch "quiet-$flavour" preload "$flavour" 2 last_line plain
	ends "quiet-$flavour" none
	CRIT_DISABLE=1 launch "disabled-$flavour" preload "$flavour" 2 last_line plain
	ends "disabled-$flavour" none
	CRIT_LEVEL=foo launch "level-$flavour" preload "$flavour" 2 last_line plain
	ends "level-$flavour" \
		"^crit: report in .*; CRIT_LEVEL=foo is ignored, as it is not one of: trace profile; the default "
	CRIT_FINISH_S=0 launch "hasty-$flavour" preload "$flavour" 2 last_line plain
	ends "hasty-$flavour" "^crit: report follows in $dir\$"
	launch "run-$flavour" run "$flavour" 2 last_line plain
	ends "run-$flavour" "^crit: report in $dir/report.txt\$"
}

# ends without MPI_Finalize: the report is there all the same; the rank's own status counts, for what the
# launcher of MPICH makes of a rank that left so is a race: 1 in 8 of 100 bare launches on a busy machine
no_finalize() {
	# shellcheck disable=SC2016 # for the shell that it is handed to
	launch "exit-$flavour" preload "$flavour" 1 /bin/sh -c '"$@"; echo $? >"$0"' "$trial/exit-$flavour.status" \
		"$apps/last_line.$flavour" exit
	status=$(cat "$trial/exit-$flavour.status")
	ends "exit-$flavour" none
	wait_for 10 test -s "$dir/report.txt"
	point "exit-$flavour: report" $?
	launch "abort-$flavour" preload "$flavour" 2 last_line abort
	ends "abort-$flavour" none 7 # what it gave MPI_Abort
	wait_for 10 test -s "$dir/report.txt"
	point "abort-$flavour: report" $? "status $status"
}

unwritables() {
	unwritable "unwritable-$flavour" last_line plain
	trial_has "all_kinds_usempif08.$flavour" "gfortran and its MPI modules" &&
		unwritable "fortran-$flavour" "$apps/all_kinds_usempif08.$flavour" "$trial/fortran-$flavour.rank"
}

slow() {
	for seconds in 1 ''; do # without a value a fraction of one
		name=slow${seconds}-$flavour
		stop_finisher "$name" &
		begin=$SECONDS
		CRIT_FINISH_S=$seconds launch "$name" preload "$flavour" 2 last_line slow "$trial/stopped-$name"
		took=$((SECONDS - begin))
		ends "$name" "^crit: report follows in $dir\$"
		[ "$took" -lt 10 ]
		point "$name: the wait has an end" $? "$took s"
		pkill -CONT -f "finish --directory $dir"
		wait_for 10 test -s "$dir/report.txt"
		point "$name: the report follows" $?
		wait
	done
}

worlds() {
	for _ in 1 2; do # worlds of one run, one after the other: to each its answer
		CRIT_RUN=$trial-$flavour launch "worlds-$flavour" preload "$flavour" 2 last_line plain
		ends "worlds-$flavour" "^crit: report in $trial/worlds-$flavour(-2)?/report.txt\$"
	done
}

for flavour in "${flavours[@]}"; do
	plain
done
for case in silent settings no_finalize unwritables slow worlds; do
	take_turns
	for flavour in "${turn[@]}"; do
		"$case"
	done
done

if trial_has last_line.openmpi "Open MPI" && trial_has spawn.openmpi "Open MPI"; then
	launch spawn preload openmpi 1 spawn
	ends spawn "^crit: report in $dir/report.txt\$"
	dir=$trial/tagged
	CRIT_DIR=$dir mpirun.openmpi --tag-output -np 2 -x CRIT_DIR -x "LD_PRELOAD=$shim" \
		"$apps/last_line.openmpi" plain >"$trial/tagged.out" 2>"$trial/tagged.err"
	status=$?
	ends tagged "^\[1,0\]<stderr>: ?crit: report in $dir/report.txt\$"
fi
if trial_has session.mpich MPICH; then
	launch session preload mpich 2 "$apps/session.mpich"
	ends session "^crit: report in $dir/report.txt\$"
	launch session-and-world preload mpich 2 "$apps/session.mpich" too
	ends session-and-world "^crit: report in $dir/report.txt\$"
fi
trial_end
