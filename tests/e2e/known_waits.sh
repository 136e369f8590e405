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

# is_known NAME BY EXPECTED…: what known_waits.py says of the run in $dir.
is_known() {
	local name=$1 by=$2 said result
	shift 2
	"$crit" waits --json --by="$by" "$dir" >"$trial/waits" 2>"$trial/waits.err"
	[ $? -ne 1 ] # 3: the kernel lost a record, which is not what this is about
	point "$name: the laws of waits hold" $? "$(cat "$trial/waits.err")"
	said=$("$trial_lib/known_waits.py" "$trial/waits" "$trial/told" "$@" 2>&1)
	result=$?
	point "$name: who waited for whom, and how long" $result "$said"
}

while read -r -u 3 mode ranks expected; do
	take_turns
	[ "$mode" != write ] || turn=("${flavours[@]}")
	for flavour in "${turn[@]}"; do
		name=$mode-$flavour
		[ "$name" != write-openmpi ] || continue # who writes little there does not wait for others
		options=()
		[[ $mode != write && $mode != open ]] || options=("$trial/file-$flavour")
		launch "$name" run "$flavour" "$ranks" known_waits "$mode" $rounds 10 "${options[@]}"
		cp "$dir.out" "$trial/told"
		# shellcheck disable=SC2086
		is_known "$name" rank $expected
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
	for case in "barrier 0:1:1:1" "end 0:1:1:1" "idle 1:1:0:1+"; do
		read -r mode expected <<<"$case"
		whole_cpus record "known_teams-$runtime" "$mode"
		is_known "$mode-$runtime" thread "$expected"
	done
done
if trial_has known_teams-gnu "OpenMP of gnu" && trial_has known_teams-llvm "OpenMP of llvm"; then
	whole_cpus record known_teams-gnu barrier --omp=llvm
	is_known barrier-swapped thread 0:1:1:1
fi
for mode in cond pipe; do
	whole_cpus record known_wakes $mode
	is_known $mode thread 0:1:1:1
done
record known_wakes timer
"$crit" waits --json --by=thread "$dir" >"$trial/waits" 2>"$trial/waits.err"
said=$(ask 'sorted(p["to"]["tid"] is None for p in r["pairs"] if p["waited_s"] > 0.001 * '$rounds')' "$trial/waits")
[ "$said" = "[True, True]" ]
point "timer: two threads wait for nobody of the run" $? "$said"
trial_end
