#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Real programs: hpcc and pbzip2 give the results they give without crit, and the figures make sense.
# usage: real.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/archive.sh
. "$(dirname "$0")/../lib/archive.sh"
trial_begin "$1"

# hpcc RANKS P Q MODE: in a directory of its own.
hpcc_run() {
	local ranks=$1 p=$2 q=$3 mode=$4 place=$trial/hpcc-$1-$4 example
	mkdir "$place"
	example=$(ls /usr/share/doc/hpcc/examples/_hpccinf.txt*)
	case $example in
	*.gz) gzip -dc "$example" ;;
	*) cat "$example" ;;
	esac | sed -E "s/^[0-9 ]+Ns\$/1600 Ns/; s/^[0-9 ]+Ps\$/$p Ps/; s/^[0-9 ]+Qs\$/$q Qs/" \
		>"$place/hpccinf.txt"
	export OMP_NUM_THREADS=1
	compose "$mode" openmpi "$ranks" "$(command -v hpcc)"
	dir=$place/crit
	report=$dir/report.json
	"$trial_lib/by_turns" "$(command -v hpcc)" &
	(cd "$place" && CRIT_DIR=$dir "${command[@]}" >hpcc.out 2>hpcc.err)
	status=$?
	kill $!
}

# What hpcc says about correctness, without times and rates.
hpcc_verdicts() {
	grep -hE '^Success=|tests? completed and' "$1/hpccoutf.txt"
	grep -hE 'FAILED|\.\.\. PASSED' "$1/hpccoutf.txt"
}

# Each "Single" test runs on one rank, which hpcc draws (never rank 0, so of two ranks always rank 1) and names, while
# the others wait: five phases to be seen over time.  What each rank computed apart from them, as max / mean, is added
# to spread[].
hpcc_phases() {
	local ranks=$1 selected said
	mapfile -t selected < <(sed -n 's/^Node selected //p' "$trial/hpcc-$ranks-preload/hpccoutf.txt")
	rm -rf "$trial/hpcc-$ranks-otf2"
	mkdir "$trial/hpcc-$ranks-otf2"
	"$crit" export otf2 -o "$trial/hpcc-$ranks-otf2" "$dir" >"$trial/export.out" 2>&1
	said=$("$trial_lib/solo_phases.py" "$trial/hpcc-$ranks-otf2/traces.otf2" "$dir"/*.crit "$report" 1 \
		"${selected[@]}" 2>&1) && [ "${#selected[@]}" -eq 5 ]
	point "hpcc on $ranks ranks: ${selected[*]} work alone" $? "${said:0:100}"
	spread+=("${said%% *}")
}

# hpcc_case RANKS P Q ROUNDS
hpcc_case() {
	local ranks=$1 p=$2 q=$3 rounds=$4 spread=() i
	hpcc_run "$ranks" "$p" "$q" bare
	hpcc_run "$ranks" "$p" "$q" preload
	point "hpcc on $ranks ranks: exit status" "$status" ""
	wait_for 60 [ -s "$report" ] # millions of switches take a while
	grep -q '^Success=1' "$trial/hpcc-$ranks-preload/hpccoutf.txt"
	point "hpcc on $ranks ranks: Success=1" $? ""
	diff <(hpcc_verdicts "$trial/hpcc-$ranks-bare") <(hpcc_verdicts "$trial/hpcc-$ranks-preload") \
		>"$trial/hpcc-$ranks.diff"
	point "hpcc on $ranks ranks: verdicts as without crit" $? "$(head -n 2 "$trial/hpcc-$ranks.diff")"
	check_laws "hpcc on $ranks ranks"
	hpcc_phases "$ranks"
	read_by "hpcc on $ranks ranks, archive" "$trial/hpcc-$ranks-otf2"
	for ((i = 1; i < rounds; i++)); do
		rm -r "$trial/hpcc-$ranks-preload"
		hpcc_run "$ranks" "$p" "$q" preload
		wait_for 60 [ -s "$report" ]
		hpcc_phases "$ranks"
	done
	within "hpcc on $ranks ranks: useful, Single apart, max / mean" "$(median "${spread[@]}")" 1 1.08
	echo "      of ${spread[*]}"
}

pbzip2_case() {
	local input=$trial/input
	python3 - "$input" <<-'PYTHON'
		import random, sys
		random.seed(1)
		words = [bytes(random.choices(b"abcdefghij", k=random.randint(2, 9))) for _ in range(5000)]
		with open(sys.argv[1], "wb") as f:
		    for _ in range(160):
		        f.write(b" ".join(random.choices(words, k=80000)))
	PYTHON
	pbzip2 -p4 -c -k "$input" >"$trial/bare.bz2"
	dir=$trial/pbzip2
	report=$dir/report.json
	CRIT_DIR=$dir "$crit" run -- pbzip2 -p4 -c -k "$input" >"$trial/crit.bz2" 2>"$trial/pbzip2.err"
	point "pbzip2: exit status" $? "$(stat -c %s "$input") bytes in"
	cmp "$trial/bare.bz2" "$trial/crit.bz2"
	point "pbzip2: output as without crit" $? ""
	workers='sorted((t["cmetric_s"] for t in role("app")), reverse=True)'
	within "pbzip2: workers, max / min" "$(ask "(lambda c: round(c[0] / c[3], 3))($workers)")" 1 1.10
	within "pbzip2: reader, writer and main, share of all" \
		"$(ask "(lambda c: round(sum(c[4:]) / sum(c), 3))($workers)")" 0 0.10
	check_laws "pbzip2"
	# BZ2_compressBlock sorts, by functions that are static and have no name in Debian's library, then codes
	below "pbzip2" 95 100 BZ2_bzBuffToBuffCompress
	below "pbzip2" 60 90 BZ2_compressBlock BZ2_blockSort
	hottest "pbzip2" 45 80 "libbz2.so.1.0.4+0x"
}

pbzip2_case
hpcc_case 2 1 2 3
hpcc_case 4 2 2 3
trial_end
