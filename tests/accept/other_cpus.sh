#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit what-if --cpus: recorded on one CPU, foretold for two, and run on two.
# usage: other_cpus.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "for the full kernel half"
wants_cpus=1
[ "$(nproc)" -ge 2 ] || {
	echo "skip: needs two CPUs"
	exit 77
}
first_cpus=$(taskset -cp $$ | sed 's/.*: //' | tr , '\n' | awk -F- '
	{ for (cpu = $1; cpu <= $NF && count < 2; cpu++) { printf "%s%d", count++ ? "," : "", cpu } }')

# start NAME CPUS COMMAND…
start() {
	dir=$trial/$1
	CRIT_DIR=$dir taskset -c "$2" setsid "$trial_lib/first_in_line" "$crit" run -- "${@:3}" \
		>"$trial/$1.out" 2>"$trial/$1.err"
}

# Runs all in $start on one CPU and on two, where others take no CPU.
both() {
	whole_cpus start "$name" "${first_cpus%,*}" "$@"
	whole_cpus start "$name-two" "$first_cpus" "$@"
	measured=$("$crit" what-if --json "$trial/$name-two" 2>/dev/null | ask 'r["recorded_s"]' /dev/stdin)
}

# end_on OPTION…: in seconds.
end_on() {
	"$crit" what-if --json --cpus=2 "$@" "$trial/$name" 2>"$trial/fixes.err" |
		ask 'r["recorded_s"] - r["fixes"][0]["gain_s"]' /dev/stdin
}

# measure PER-CENT LOW HIGH OF COMMAND…: both, and compares them.  A run of a second may stand still with its machine:
# if that is off, all is done once more, twice at most.
measure() {
	local runs range=("${@:1:4}")
	for ((runs = 0; runs < 3; runs++)); do
		both "${@:5}"
		awk -v kept="$(end_on)" -v blocked="$(end_on --waiters-block)" -v measured="$measured" \
			-v off="$1" -v low="$2" -v high="$3" -v of="$4" 'BEGIN {
				whole = of == "measured" ? measured : kept
				exit !(kept >= measured * (1 - off / 100) && kept <= measured * (1 + off / 100) &&
					100 * blocked >= low * whole && 100 * blocked <= high * whole)
			}' && break
	done
	compare "${range[@]}"
}

# foretold OPTION…: per cent of the end that was measured on two CPUs.
foretold() {
	"$crit" what-if --json "$@" "$trial/$name" >"$trial/fixes" 2>"$trial/fixes.err"
	[ $? -ne 1 ] # 3: the kernel lost a record, which is not what this is about
	point "$name: crit what-if $*" $? "$(cat "$trial/fixes.err")"
	said=$(ask 'round(100 * (r["recorded_s"] - r["fixes"][0]["gain_s"]) / '"$measured"', 2)' "$trial/fixes")
}

# compare PER-CENT LOW HIGH OF: as they waited, so far from what was measured; as if they had blocked, that part of what
# was foretold so (kept), or of what was measured (measured).
compare() {
	local whole=100
	foretold --cpus=2
	within "$name: foretold end on 2 CPUs, per cent of the measured one" "$said" $((100 - $1)) $((100 + $1))
	[ "$4" = measured ] || whole=$said
	foretold --cpus=2 --waiters-block
	within "$name: if waiters block, per cent of what was $4" \
		"$(ask "round(100 * $said / $whole, 2)" "$trial/fixes")" "$2" "$3"
}

# Threads that block in barriers: of 10, 20, 10 and 40 ms a step.
threads() {
	name=threads-$1
	measure 10 99 100.1 kept "$apps/crew_steps" -n 20 -t "$1" -m 10:20:10:40
}

# Ranks that give their CPU away while they wait: Open MPI's where there are more of them than CPUs.
yielding() {
	trial_has two_phases.openmpi "Open MPI" || return
	name=yielding-$1
	measure 10 98 100.1 kept mpirun.openmpi --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np "$1" \
		"$apps/two_phases.openmpi" 20 30 10 5 5
}

# Ranks that spin are a load for the others.  Of four on two CPUs, of 20 and 5 ms, the long one has half a CPU all the
# time, 40 ms; if the others block it has a whole one after 10 ms, and needs 25.  So many steps that the start of a
# launcher and its ranks, which is neither shorter nor longer, is little beside them.
spinning() {
	trial_has two_phases.mpich MPICH || return
	name=spinning-$1
	measure 25 "$2" "$3" "$4" mpirun.mpich -np "$1" "$apps/two_phases.mpich" 50 20 0 5 0
}

threads 4
yielding 4
spinning 4 57 68 measured
threads 2
yielding 2
spinning 2 99 100.1 kept

# Who has the CPU that a thread wants: a program beside it, or nobody.
strangers() {
	local stranger
	name=strangers
	whole_cpus start "$name-gone" "${first_cpus%,*}" "$apps/crew_steps" -n 20 -t 1 -m 20
	measured=$("$crit" what-if --json "$dir" | ask 'r["recorded_s"]' /dev/stdin)
	taskset -c "${first_cpus%,*}" setsid "$trial_lib/first_in_line" timeout 60 sh -c 'while :; do :; done' &
	stranger=$!
	whole_cpus start "$name" "${first_cpus%,*}" "$apps/crew_steps" -n 20 -t 1 -m 20
	kill "$stranger"
	wait "$stranger" 2>/dev/null
	foretold --without-preemption
	within "$name: foretold without others, per cent of the measured end" "$said" 90 110
	foretold --without-oversubscription
	within "$name: without oversubscription, per cent of it" "$said" 150 300
	"$crit" what-if "$dir" >"$trial/text"
	grep -q "nobody else on the run's CPUs" "$trial/text"
	point "$name: what-if lists it" $? "$(head -n 8 "$trial/text")"
	grep -q "nobody else on the run's CPUs" "$dir/report.txt"
	point "$name: the report lists it" $? "$(grep -A 10 'What would help' "$dir/report.txt")"
}
strangers

# More CPUs than threads, four and the one that starts them, gain nothing, and are what there is without
# oversubscription.
name=threads-4
foretold --cpus=5
kept=$said
foretold --cpus=64
within "$name: foretold end on 64 CPUs, per cent of that on 5" "$(ask "round(100 * $said / $kept, 2)" "$trial/fixes")" \
	99.99 100.01
foretold --without-queueing
alone=$said
within "$name: foretold end without queueing, per cent of that on 5" \
	"$(ask "round(100 * $alone / $kept, 2)" "$trial/fixes")" 97 103
foretold --without-oversubscription --without-preemption
within "$name: without both reasons for it, per cent of that without it" \
	"$(ask "round(100 * $said / $alone, 2)" "$trial/fixes")" 99 103
foretold --without-oversubscription
within "$name: without oversubscription, per cent of that without queueing" \
	"$(ask "round(100 * $said / $alone, 2)" "$trial/fixes")" 99 110
foretold --without-preemption
within "$name: without others, per cent of that on 5" "$(ask "round(100 * $said / $kept, 2)" "$trial/fixes")" 150 300
dir=$trial/$name
"$crit" what-if --cpus=2 --faster=nowhere.c,by=10 "$dir" >"$trial/out" 2>&1
[ $? -eq 1 ]
point "code that is not there" $? "$(cat "$trial/out")"
for wish in 0 -1 2x '' 1000001; do
	"$crit" what-if "--cpus=$wish" "$dir" >"$trial/out" 2>&1
	[ $? -eq 2 ] || break
done
point "wrong numbers of CPUs are refused" $? "$wish"
trial_end
