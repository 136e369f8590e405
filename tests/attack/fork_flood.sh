#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A recording full of forks, 64 bytes each: what a report of it takes in memory is bounded by its size, what was left
# out is counted, and a recording with fewer threads is read whole.
# usage: fork_flood.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
free_bytes=$((96 << 20)) # of the program, and of 32768 threads; report.json is written row by row
ratio=16 # 2.5 kB for each 160 bytes

# measure NAME EXIT ARGUMENT…: crit report takes what is allowed, at most.
measure() {
	local name=$1 expected=$2 bytes rss status
	shift 2
	bytes=$(stat -c %s "$dir/node0.crit")
	rss=$(python3 - "$crit" report "$@" "$dir" <<'END'
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(code)
END
	)
	status=$?
	[ "$status" -eq "$expected" ]
	point "$name: exit code" $? "$status, expected $expected"
	[ "$rss" -le $((free_bytes + ratio * bytes)) ]
	point "$name: memory" $? "$((rss >> 20)) MB for a recording of $((bytes >> 20)) MB"
}

# flood FORKS EXIT: reports on so many; sets report.
flood() {
	dir=$trial/flood$1
	report=$dir.report/report.json
	"$build/bin/crit-synth" -f "$1" "$dir"
	measure "$1 forks, text" "$2"
	measure "$1 forks, all files" "$2" -o "$dir.report"
}

flood 20000 0
said=$(ask 'len(r["threads"]), r["losses"]["records_of_threads_without_room"]')
[ "$said" = "(20001, 0)" ]
point "20000 forks: all are there" $? "$said"
flood 300000 3
said=$(ask 'len(r["threads"]) + r["losses"]["records_of_threads_without_room"]')
[ "$said" = 300001 ]
point "300000 forks: all are there or counted" $? "$said"
ask 'checks()' | python3 -c 'import sys; sys.exit(float(sys.stdin.read()) > 1e-9)'
point "300000 forks: laws" $? "$(ask 'checks()')"
grep -q 'records of threads beyond the most' "$dir.report/report.txt"
point "300000 forks: says so" $? ""
trial_end
