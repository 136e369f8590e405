#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Call paths from the copied stacks of samples: who called what, with and without MPI, as root and as another user.
# usage: paths.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "for the full kernel half and to become another user"
export CRIT_SAMPLE_HZ=499
export CRIT_SAMPLE_BUDGET=100 # where memory is slow a copy for each of these samples takes more than the usual 1 %

path() {
	python3 -S "$trial_lib/paths.py" "$report" "$@" 2>&1
}

# has_paths NAME: the report of $dir, once it is there
has_paths() {
	report=$dir/report.json
	wait_for 30 test -s "$report"
	said=$(path sums)
	point "$1: sums over paths are sums over lines" $? "$said"
	within "$1: complete chains, per cent" "$(path complete)" 95 100
}

# record NAME COMMAND...
record() {
	dir=$trial/$1
	shift
	CRIT_DIR=$dir "$@" >"$dir.out" 2>"$dir.err"
}

record steps "$crit" run -- "$apps/sampled" steps 2000
has_paths steps
within "steps: all work is called by take_steps, per cent" "$(path chain take_steps)" 95 100
said="$(path chain main take_steps serial_a) $(path chain '!main' take_steps both)"
awk '{ exit !($1 > 3 && $2 > 10) }' <<<"$said"
point "steps: main's chain, and that of a thread" $? "$said"
grep -q "^ *main sampled.c" <("$crit" report --by path "$dir")
point "steps: crit report --by path names callers" $?
"$crit" export collapsed "$dir" >"$trial/export" 2>&1
grep -q "main;take_steps;serial_a " "$dir/cmetric.collapsed"
point "steps: collapsed" $? "$(head -n 2 "$trial/export")"

for flavour in "${flavours[@]}"; do
	launch "mpi-$flavour" run "$flavour" 2 barrier_imbalance -n 30 -p -m 40:10
	has_paths "$flavour"
	within "$flavour: below main, per cent" "$(path chain main)" 90 100
	trial_has "hybrid_steps-gnu.$flavour" "GNU's OpenMP" || continue
	# regions are begun through a library that comes after MPI_Init
	launch "late-$flavour" run "$flavour" 2 hybrid_steps-gnu -n 60 -t 1 -m 40:10
	has_paths "late-$flavour"
	within "late-$flavour: below main, per cent" "$(path chain main)" 90 100
done

make_capable
mkdir -m 777 "$trial/user"
as_user "$trial_nobody" "CRIT_DIR=$trial/user/run" "$trial/capable/bin/crit" run -- "$apps/sampled" lock 2000
"${command[@]}" >"$trial/user.out" 2>"$trial/user.err"
dir=$trial/user/run
has_paths "user"

record none env CRIT_SAMPLE_BUDGET=0 "$crit" run -- "$apps/sampled" steps 500
report=$dir/report.json
wait_for 30 test -s "$report"
said=$(ask '"paths" in r, len(r["hot"]) > 0, r["missing"]')
[ "$said" = "(False, True, [])" ]
point "CRIT_SAMPLE_BUDGET=0: lines, no paths, nothing missing" $? "$said"
trial_end
