#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the report's first sentence says of programs with a known table of work, on two CPUs: it names the rank that
# has too much and nobody else, says what costs most, and promises no more than the CPUs can give.
# usage: verdicts.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
wants_cpus=1
rounds=10
more=2        # launches in a series, where strangers had the CPUs in all of these
patience_s=40 # to wait for quiet CPUs
cpus=2
mapfile -t allowed < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
if [ "${#allowed[@]}" -lt $cpus ]; then
	echo "skip: known answers need $cpus CPUs, here are ${#allowed[@]}"
	exit 77
fi
taskset -pc "${allowed[0]},${allowed[1]}" $$ >/dev/null

# A worker has 5 ms to do in a step, on average, so that all of them need 0.7 s of both CPUs.
ms=5
# steps WORKERS: their number, even, so that those that alternate have done the same in the end.
steps() {
	echo $((1400 / ms / $1 / 2 * 2 + ($1 > 8 ? 2 : 0)))
}

# table KIND WORKERS: arguments for the work of each.
table() {
	local list=() i
	case $1 in
	balanced) echo "-m $ms" ;;
	alternating) echo "-a -m 7.5:2.5" ;;
	heavy)
		for ((i = 0; i < $2; i++)); do
			list+=($((i == $2 / 2 ? 15 : 10))e-1)
		done
		echo "-m $(IFS=: && sed "s/10e-1/$ms/g; s/15e-1/7.5/" <<<"${list[*]}")"
		;;
	esac
}

# kind_of TABLE WORKERS: what costs most, in closed form.
#
# W is the work of a step, u a worker's least.  A step takes at least W / CPUs, as long as a free CPU finds work.
# balanced, as many CPUs as workers: nothing.  More workers: none waits for another, each for a CPU.
# alternating, half of the workers 3 u, the others u: with a CPU each a step takes 3 u, of which the mean works 2 u: the
# others wait.  With P >= 2 CPUs and equal parts of the CPUs it takes P / CPUs u until the light ones are done, then as
# long for the 2 u that the P / 2 heavy ones, at least as many as CPUs, have left: 2 P / CPUs u, which is W / CPUs.  No
# balance ends the run sooner, the CPUs are what it lacks; waiters that spin make it longer by the CPUs they take, as
# they do where the table is balanced.  (With fewer workers than 2 CPUs it would be both.)
# heavy, one does 1.5 u, the others u: with a CPU each a step takes 1.5 u, the mean works less: the others wait.  With
# more workers than CPUs a step takes W / CPUs, unless the heavy one is left alone: either may be the larger part.
kind_of() {
	case $1 in
	balanced) if [ "$2" -le $cpus ]; then echo even; else echo cpus; fi ;;
	alternating) if [ "$2" -le $cpus ]; then echo imbalance; else echo cpus; fi ;;
	heavy) if [ "$2" -le $cpus ]; then echo imbalance; else echo "cpus|imbalance"; fi ;;
	esac
}

# series NAME TABLE WORKERS COMMAND…: launches of it, each held against the program's own figures; COMMAND is what
# launch takes after the name.  Where strangers had the CPUs in each of them, there are some more, once it is quiet.
series() {
	local name=$1 table=$2 workers=$3 i kind right=0 as_named=0 above=0 alone=0 near=0 likely=0 wanted=none
	local said=() names=() excesses=() offs=() takens=() got named excess off foreign taken
	shift 3
	kind=$(kind_of "$table" "$workers")
	[ "$table" = heavy ] && wanted=heaviest
	for ((i = 0; i < rounds || (workers <= cpus && alone == 0 && i < rounds + more); i++)); do
		[ "$i" -lt "$rounds" ] || wait_for_quiet
		launch "$name-$i" "$@"
		read -r got named excess off foreign taken _ < <(python3 -S "$trial_lib/verdict_truth.py" \
			"$trial/$name-$i.out" "$report" 2>"$trial/$name-$i.judged") ||
			got="no answer: $(tail -n 1 "$trial/$name-$i.judged")"
		said+=("$got") names+=("$named") excesses+=("$excess") offs+=("$off") takens+=("$taken")
		is_right_kind "$got" "$kind" "$workers" "$foreign" && right=$((right + 1))
		[ "$named" = "$wanted" ] && as_named=$((as_named + 1))
		is_at_most "$excess" 0 && above=$((above + 1))
		[ "$workers" -gt $cpus ] && continue
		is_promise "$table" "$off" "$taken" && likely=$((likely + 1))
		is_at_most "$foreign" 0.02 || continue
		alone=$((alone + 1))
		is_promise "$table" "$off" 0 && near=$((near + 1))
	done
	point_of "$name: kind $kind" $((right * 10 >= i * 9)) "${said[*]}"
	point_of "$name: named $wanted" $((as_named == i)) "${names[*]}"
	point_of "$name: promise not below the floor" $((above == i)) "${excesses[*]}"
	if [ "$workers" -gt $cpus ]; then
		return
	elif [ "$alone" -gt 0 ]; then
		point_of "$name: promise is the work, 3 points" $((near == alone)) "${offs[*]}, $alone undisturbed"
	else
		point_of "$name: promise is the work, 3 points and what others took" $((likely == i)) \
			"${offs[*]}, taken ${takens[*]}"
	fi
}

# Until the CPUs were idle for a second, but for 5 %; not much longer than $patience_s in all of the script.
wait_for_quiet() {
	local began=$SECONDS before after
	while [ "$patience_s" -gt 0 ]; do
		mapfile -t before < <(idle_ticks)
		sleep 1
		mapfile -t after < <(idle_ticks)
		patience_s=$((patience_s - (SECONDS - began)))
		began=$SECONDS
		(((after[0] - before[0]) * 100 < (after[1] - before[1]) * 95)) || return
	done
}

# Ticks of all CPUs: idle, and altogether.
idle_ticks() {
	awk '/^cpu / { print $5; print $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 }' /proc/stat
}

# is_right_kind GOT WANTED WORKERS FOREIGN: with a CPU each, workers lack CPUs only where somebody else has them.
is_right_kind() {
	[[ $1 =~ ^($2)$ ]] && return
	[ "$1" = cpus ] && [ "$3" -le $cpus ] && ! is_at_most "$4" 0.02
}

# is_promise TABLE OFF TAKEN: an even run may promise nothing, one that others wait in must, but for one in which the
# report has seen, as the program has, that strangers took the CPUs.  That time may count as a worker's work, for no
# balance brings it back: the promise is smaller by that share at most.
is_promise() {
	case $2 in
	none) [ "$1" = balanced ] ;;
	foreign) [ "$1" = balanced ] || ! is_at_most "$3" 0.01 ;;
	*) is_at_most "$2" 0.03 && is_at_most -0.03 "$2" "$3" ;;
	esac
}

# is_at_most VALUE LIMIT [MORE]: with that added to the limit.
is_at_most() {
	python3 -S -c 'import sys; v, a, b = map(float, sys.argv[1:]); sys.exit(not v <= a + b)' \
		"$1" "$2" "${3:-0}" 2>/dev/null
}

# point_of NAME IS-RIGHT FIGURES…: one line of the table.
point_of() {
	local name=$1 is_right=$2
	shift 2
	point "$name" $((1 - is_right)) "$*"
}

# ranks TABLE FLAVOUR RANKS [LABEL [OPTION…]]: between barriers.
ranks() {
	local table=$1 flavour=$2 count=$3 label=${4:-spin} options
	read -ra options <<<"-v -n $(steps "$count") $(table "$table" "$count") ${*:5}"
	series "$table-$count-$flavour-$label" "$table" "$count" preload "$flavour" "$count" barrier_imbalance \
		"${options[@]}"
}

# hybrid TABLE FLAVOUR RANKS: with two OpenMP threads each.
hybrid() {
	local table=$1 flavour=$2 count=$3 options
	trial_has "hybrid_steps-gnu.$flavour" "gnu's OpenMP" || return 0
	read -ra options <<<"-t 2 -n $(steps $((2 * count))) $(table "$table" "$count")"
	series "$table-${count}x2-$flavour" "$table" $((2 * count)) preload "$flavour" "$count" hybrid_steps-gnu \
		"${options[@]}"
}

# crew TABLE [yield]: four threads and a main thread that waits for their end.
crew() {
	local table=$1 options
	read -ra options <<<"-t 4 -n $(steps 4) $(table "$table" 4) ${2:+-y}"
	series "$table-threads${2:+-$2}" "$table" 4 run none 0 "$apps/crew_steps" "${options[@]}"
}

for table in balanced alternating heavy; do
	for flavour in "${flavours[@]}"; do
		for count in 2 4 8 16; do
			ranks "$table" "$flavour" "$count"
		done
		ranks "$table" "$flavour" 4 polling -w test
		ranks "$table" "$flavour" 2 allreduce -w allreduce
		[ "$table" = heavy ] || hybrid "$table" "$flavour" 2
		[ "$table" = heavy ] || hybrid "$table" "$flavour" 4
	done
	crew "$table"
	# threads that ask again work all the time, as far as anybody can tell
	[ "$table" = heavy ] || crew "$table" yield
done
export OMPI_MCA_mpi_yield_when_idle=1
for table in balanced alternating heavy; do
	for count in 2 4 8 16; do
		[ ! -x "$apps/barrier_imbalance.openmpi" ] || ranks "$table" openmpi "$count" yield
	done
done
trial_end
