#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Constructs on the same lines of eight source files: in the archive each is a region of its own, entered as often as
# the report and the program say, under both runtimes and under LLVM's in place of GNU's.
# usage: regions.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/archive.sh
. "$(dirname "$0")/../lib/archive.sh"
trial_begin "$1"
unset CRIT_OTF2

if "$crit" --version | grep -q 'built without OTF2'; then
	echo "skipped: crit was built without libotf2"
	exit 77
fi

# The region names otf2-print gives the enters, each with its count.
entered() {
	timeout 60 otf2-print "$1/traces.otf2" | sed -n 's/^ENTER .*Region: "\(.*\)" <.*/\1/p' | sort | uniq -c |
		sed 's/^ *\([0-9]*\) \(.*\)/\2 = \1/' >"$trial/entered"
}

# enters CONSTRUCT PLACE: how many, of one region or none.
enters() {
	sed -n "s/^omp $1 @$2.* = //p" "$trial/entered" | awk '{ sum += $1 } END { print (NR > 1 ? -1 : sum + 0) }'
}

# files NAME PROGRAM [OPTION…]: crit run with these options.  In GNU's place LLVM's runtime tells about one critical
# section of 8000 at a place of its own, its GOMP_critical_start: that one is counted there, and at most one is.
files() {
	local name=$1 program=$2 wrong='' strays line file construct count said
	shift 2
	trial_has "$program" "that OpenMP runtime" || return 0
	dir=$trial/$name report=$trial/$name/report.json
	CRIT_DIR=$dir "$crit" run "$@" -- "$apps/$program" >"$trial/$name.out" 2>"$trial/run.err"
	read_by "$name" "$dir"
	entered "$dir"
	strays=$(enters critical GOMP_critical_start)
	while read -r _ file line; do
		# shellcheck disable=SC2086 # pairs of a construct and its count
		set -- $line
		[[ $name = gnu ]] && set -- "${@:1:4}" # libgomp does not tell singles
		while [ $# -gt 0 ]; do
			construct=$1 count=$2
			shift 2
			said=$(enters "$construct" "$file:")
			[ "$said" -eq "$count" ] && continue
			[ "$said" -eq "$((count - strays))" ] && [ "$construct" = critical ] && strays=0 && continue
			wrong+=" $construct @$file $count, not $said"
		done
	done <"$trial/$name.out"
	[ -s "$trial/$name.out" ] && [ -z "$wrong" ] && [ "$strays" -eq 0 ]
	point "$name: each file's constructs, as the program says" $? "$wrong"
	said=$(figure_of barriers "$dir")
	[ "$said" = "[$barriers, $barriers]" ]
	point "$name: as many barriers on each thread of the team" $? "$said"
	timeout 60 otf2-print "$dir/traces.otf2" | sed -n 's/^THREAD_FORK.*Threads: //p' | sort | uniq -c \
		>"$trial/forks"
	[[ $(<"$trial/forks") =~ ^\ *$rounds\ 2$ ]]
	point "$name: each fork asks for two threads" $? "$(<"$trial/forks")"
	said=$(timeout 60 otf2-print -G "$dir/traces.otf2" | grep -c '^COMM .*"Team of 2, ')
	[ "$said" -eq 1 ]
	point "$name: one team, of two" $? "$said"
}

rounds=52                # of all files
barriers=$((4 * rounds)) # of a loop, a single, an explicit one, and of the region
files gnu omp_files-gnu
files llvm omp_files-llvm
files stand-in omp_files-gnu --omp=llvm
trial_end
