#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Memory maps of programs without a shim: at first, after dlopen, in a forked child, and after its exec.
# usage: maps.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"

# has_versions NAME FILES…: versions of the maps of $pid with (+) and without (-) these files, one after the other,
# and few others: the first reading may come while the program is being linked.
has_versions() {
	local name=$1
	shift
	python3 -S "$trial_lib/recording.py" "$(find "$dir" -name '*.crit')" maps >"$trial/maps"
	grep "^$pid 1 " "$trial/maps" >"$trial/maps.pid"
	python3 -S - "$trial/maps.pid" "$@" <<-'END'
		import sys
		versions = [line.split()[3:] for line in open(sys.argv[1])]
		wanted = [words.split(",") for words in sys.argv[2:]]
		few = len(versions) <= len(wanted) + 2
		for version in versions:
		    if wanted and all((word[1:] in version) == (word[0] == "+") for word in wanted[0]):
		        wanted.pop(0)
		sys.exit(bool(wanted) or not few)
	END
	point "$name" $? "$(cut -d' ' -f 4- "$trial/maps.pid" | paste -sd';')"
}

# record NAME COMMAND…: runs it, which runs images; sets dir, pid, child.
record() {
	local name=$1
	shift
	dir=$(mktemp -d -p "$trial" "$name.XXXX")/run
	report=$dir/report.json
	chmod 777 "${dir%/run}"
	env "CRIT_DIR=$dir" "$@" >"$trial/$name.out" 2>"$trial/$name.err"
	read -r pid child < <(sed -n 's/^pid \([0-9]*\) child \([0-9]*\)$/\1 \2/p' "$trial/$name.out")
	has_last_report 20
	point "$name: a report, nothing is missing" $? "$(grep -m 1 ^losses "$dir/report.txt")"
}

# finds NAME: what the program became, and what its child.
finds() {
	has_versions "$1: program, then with its library" +images,-libresolv.so.2 +images,+libresolv.so.2
	pid=$child
	has_versions "$1: a child, then another program" +images,+libresolv.so.2,-sleep +sleep,-images
}

record root "$crit" run -- "$apps/images"
finds root
needs_root "to become another user and to give critd capabilities"

# critd with capabilities, with perf events alone, and with neither.
make_capable
as_user "$trial_nobody" "$trial/capable/bin/crit" run -- "$apps/images"
record capable "${command[@]}"
finds capable
as_user "$trial_nobody" "$crit" run -- "$apps/images"
record perf "${command[@]}"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then # else no exec is told of
	finds perf
fi
as_user "$trial_nobody" "$apps/without_perf" "$crit" run -- "$apps/images"
record neither "${command[@]}"
has_versions "neither: program, then with its library" +images,-libresolv.so.2 +images,+libresolv.so.2
trial_end
