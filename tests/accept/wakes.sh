#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Wakeups are complete, and one that is missing is seen: storms of switches, quiet and beside programs that take the
# CPUs; and recordings of a storm at mutexes from which wakes were taken away.
# usage: wakes.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "for the full kernel half"
for program in perf sysbench; do
	if ! command -v "$program" >/dev/null; then
		echo "skip: needs $program: cmake/deps.sh accept installs it"
		exit 77
	fi
done

# record NAME COMMAND…: sets dir and report, which may follow after the run where others have the CPUs.
record() {
	dir=$trial/$1
	report=$dir/report.json
	shift
	CRIT_DIR=$dir "$crit" run --no-otf2 -- "$@" >"$trial/out" 2>"$trial/err"
	wait_for 60 test -s "$report"
}

# fits NAME MOST: of all switches at most so many parts in a million are into a thread that nobody has woken.  A switch
# of which no hook was run is told later, when the thread leaves its CPU: these fit.
fits() {
	local switches ran
	read -r switches ran < <("$trial_lib/recording.py" "$dir"/*.crit kernel |
		awk '{ n[$3]++ } END { print n["SWITCH"] + 0, n["RAN"] + 0 }')
	within "$1: switches" "$switches" 10000 1000000000
	within "$1: of a million switches told later" "$((1000000 * ran / switches))" 0 2000
	within "$1: of a million switches without a wake" \
		"$(ask "round(1e6 * (r['losses']['unmatched_switches'] - $ran) / $switches, 1)")" 0 "$2"
	within "$1: records lost" "$(ask 'r["losses"]["kernel_records"]')" 0 0
}

pipe=(perf bench sched pipe -l 200000)
messaging=(perf bench sched messaging -g 4 -l 1000)
storm=(sysbench threads --threads=32 --thread-locks=4 --time=2 run)
record pipe "${pipe[@]}"
fits "pipe, quiet" 0
record messaging "${messaging[@]}"
fits "messaging, quiet" 0
burners=()
for ((i = 0; i < 2 * $(nproc); i++)); do
	(while :; do :; done) &
	burners+=("$!")
done
record pipe-loaded "${pipe[@]}"
fits "pipe, loaded" 2000
record messaging-loaded "${messaging[@]}"
fits "messaging, loaded" 2000
kill "${burners[@]}"
wait "${burners[@]}" 2>"$trial/killed"

record storm "${storm[@]}"
fits "storm at mutexes" 0
whole=$(ask 'r["losses"]["unmatched_switches"]')
mkdir "$trial/unwoken"
gone=0
seen=0
for ((first = 0; first < 10; first++)); do
	number=$("$build/tests/crit-unwake" "$dir"/*.crit "$trial/unwoken/node.crit" 500 $((50 * first)))
	"$crit" report --json "$trial/unwoken" >"$trial/unwoken.json" 2>"$trial/unwoken.err"
	gone=$((gone + number))
	seen=$((seen + $(ask 'r["losses"]["unmatched_switches"]' "$trial/unwoken.json") - whole))
done
within "wakes taken away" "$gone" 1000 100000000
within "of these seen, per cent" "$(awk "BEGIN { print 100 * $seen / $gone }")" 98 100
trial_end
