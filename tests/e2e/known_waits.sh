#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit waits: who waits for whom, and how long, in programs that tell by their own clock when each came: one for each
# kind of wait.
# usage: known_waits.sh BUILD-DIRECTORY [full]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "for the full kernel half"
wants_cpus=1
is_full=${2:-}
rounds=20
[ -z "$is_full" ] || rounds=100

# is_known NAME BY EXPECTED COMMAND…: what known_waits.py says of the run that COMMAND leaves in $dir.  Wrong figures of
# a run that something else held up, by the program's own clock, tell nothing: it is done again, four times at most.
is_known() {
	local name=$1 by=$2 expected=$3 i laws said result
	shift 3
	for ((i = 0; i < 5; i++)); do
		[ "$i" -eq 0 ] || rm -rf "${dir:?}"
		"$@"
		"$crit" waits --json --by="$by" "$dir" >"$trial/waits" 2>"$trial/waits.err"
		[ $? -ne 1 ] # 3: the kernel lost a record, which is not what this is about
		laws=$?
		# shellcheck disable=SC2086
		said=$("$trial_lib/known_waits.py" "$trial/waits" "$trial/told" $rounds $expected 2>&1)
		result=$?
		[[ $laws -eq 0 && $result -eq 3 ]] || break
	done
	[ "$i" -eq 0 ] || said+="; something was in the way of $i runs"
	point "$name: the laws of waits hold" $laws "$(cat "$trial/waits.err")"
	point "$name: who waited for whom, and how long" $result "$said"
}

# play NAME FLAVOUR RANKS MODE: sets dir, and told.
play() {
	local options=()
	[[ $4 != write && $4 != open ]] || options=("$trial/file-$2")
	launch "$1" run "$2" "$3" known_waits "$4" $rounds 10 "${options[@]}"
	cp "$dir.out" "$trial/told"
}

in_quick=" sender waitall bcast fence window write scan iallreduce "
while read -r -u 3 mode ranks expected; do
	[[ $is_full || $in_quick == *" $mode "* ]] || continue
	take_turns
	[ "$mode" != write ] || turn=("${flavours[@]}")
	for flavour in "${turn[@]}"; do
		name=$mode-$flavour
		[ "$name" != write-openmpi ] || continue # who writes little there does not wait for others
		exchanged=
		[[ $name != *scan_back-mpich ]] || exchanged=" 0:1:1:1" # its ranks exchange what they have
		is_known "$name" rank "$expected$exchanged" play "$name" "$flavour" "$ranks" "$mode"
	done
done 3<<-'END'
	sender 2 0:1:1:1
	order 2 0:1:1:1
	waitall 2 0:1:1:2
	waitany 3 0:1:1:1 0:2:2:1
	sendrecv 2 0:1:1:1
	bcast 2 0:1:1:1
	reduce 2 0:1:1:1
	allreduce 2 0:1:1:1
	alltoall 2 0:1:1:1
	barrier 2 0:1:1:1
	fence 2 0:1:1:1
	split 2 0:1:1:1
	window 2 0:1:1:1 0:2:1:2
	open 2 0:1:1:1
	write 2 0:1:1:1
	scan 2 1:1:0:1
	scan_back 2 1:1:0:1
	iscan 2 1:1:0:1
	iscan_back 2 1:1:0:1
	iallreduce 2 0:1:1:1
END

# record PROGRAM MODE [OPTION]: sets dir, and told.
record() {
	dir=$trial/$1-$2${3:-}
	CRIT_DIR=$dir "$crit" run ${3:+"$3"} -- "$apps/$1" "$2" $rounds 10 >"$trial/told" 2>"$trial/err"
}

for runtime in gnu llvm; do
	trial_has "known_teams-$runtime" "OpenMP of $runtime" || continue
	for case in "barrier 0:1:1:1" "end 0:2:1:1" "idle 1:1:0:1+ 0:2:1:1"; do
		read -r mode expected <<<"$case"
		is_known "$mode-$runtime" thread "$expected" whole_cpus record "known_teams-$runtime" "$mode"
	done
done
if trial_has known_teams-gnu "OpenMP of gnu" && trial_has known_teams-llvm "OpenMP of llvm"; then
	is_known barrier-swapped thread 0:1:1:1 whole_cpus record known_teams-gnu barrier --omp=llvm
fi
for mode in cond pipe; do
	is_known $mode thread 0:1:1:1 whole_cpus record known_wakes $mode
done
record known_wakes timer
"$crit" waits --json --by=thread "$dir" >"$trial/waits" 2>"$trial/waits.err"
said=$(ask 'sorted(p["to"]["tid"] is None for p in r["pairs"] if p["waited_s"] > 0.001 * '$rounds')' "$trial/waits")
[ "$said" = "[True, True]" ]
point "timer: two threads wait for nobody of the run" $? "$said"
trial_end
