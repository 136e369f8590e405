#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The archive of real runs: every reader reads it, it says what the report says, crit verify finds what is planted.
# usage: otf2.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/archive.sh
. "$(dirname "$0")/../lib/archive.sh"
trial_begin "$1"
unset CRIT_OTF2

if "$crit" --version | grep -q 'built without OTF2'; then
	echo "skipped: crit was built without libotf2"
	exit 77
fi

for flavour in "${flavours[@]}"; do
	for mode in run preload shim; do
		name=$mode-$flavour
		launch "$name" "$mode" "$flavour" 2 barrier_imbalance -n 20 -m 6:2
		[ "$status" -eq 0 ] && wait_for 15 test -s "$dir/traces.otf2"
		point "$name: an archive follows the report" $? "status $status"
		wait_for 5 [ ! -e "$dir/.finish.lock" ]
		read_by "$name" "$dir"
		said=$(figure_of programs "$dir")
		[[ $said = "barrier_imbalance.$flavour -n 20 -m 6"* ]] # which the program has cut by then
		point "$name: each rank's program and its arguments" $? "$said"
		said=$(figure_of setup "$dir")
		[ "$said" = "MPI_Init 2 MPI_Finalize 2" ]
		point "$name: MPI_Init and MPI_Finalize of each rank" $? "$said"
	done
done
[ "$(figure_of locations "$dir")" -ge 2 ] && [ "$(figure_of sites "$dir")" -ge 2 ]
point "call sites have names" $? "$(figure_of sites "$dir") sites"

# How long a thread ran is told only where the kernel's half was there, in whatever form.
for mode in run shim; do
	place=$trial/$mode-${flavours[0]}
	told=$(timeout 60 otf2-print "$place/traces.otf2" | grep -c '"running_ns"')
	half=$(ask 'r["nodes"][0]["kernel_half"]' "$place/report.json")
	if [ "$half" = none ]; then [ "$told" -eq 0 ]; else [ "$told" -gt 40 ]; fi
	point "$mode: time on a CPU" $? "$told times, kernel half $half"
done

# Messages: every kind of them, whole, as the report has them.
options=$dir
for flavour in "${flavours[@]}"; do
	for ranks in 2 3; do
		name=messages-$flavour-$ranks
		launch "$name" run "$flavour" "$ranks" messages
		read_by "$name" "$dir"
		[ "$(figure_of complete "$dir")" = True ] && [ "$(figure_of messages "$dir")" -gt 100 ]
		point "$name: all messages are there" $? "$(figure_of messages "$dir")"
		"$crit" export otf2 -o "$trial/again-$name" "$dir" >/dev/null 2>"$trial/export.err"
		[ ! -s "$trial/export.err" ]
		point "$name: export has nothing to add" $? "$(cat "$trial/export.err")"
	done

	if [ "$flavour" = mpich ]; then
		launch sessions run "$flavour" 2 session
		read_by sessions "$dir"
		[ -z "$(figure_of setup "$dir")" ]
		point "sessions alone: neither MPI_Init nor MPI_Finalize" $? "$(figure_of setup "$dir")"
	fi

	# who dies inside a call leaves its part of it untold: nothing is claimed then
	name=abort-$flavour
	launch "$name" run "$flavour" 2 ends abort
	wait_for 15 test -s "$dir/traces.otf2"
	wait_for 5 [ ! -e "$dir/.finish.lock" ]
	read_by "$name" "$dir"
	[ "$(figure_of complete "$dir")" = False ]
	point "$name: not claimed to be whole" $? ""
	"$crit" export otf2 -o "$trial/again-$name" "$dir" >/dev/null 2>"$trial/export.err"
	grep -q 'messages are missing' "$trial/export.err"
	point "$name: export says so" $? "$(cat "$trial/export.err")"
done

# OpenMP: each round forks 8 times, 7 times two threads; a critical section and a lock are had once by each of them.
pmpi=$shim shim=$shim:$build/lib/libcrit_ompt.so
for runtime in gnu llvm; do
	dir=$trial/tasks-$runtime report=$trial/tasks-$runtime/report.json
	CRIT_DIR=$dir "$crit" run -- "$apps/omp_kinds-$runtime" tasks >"$trial/tasks.out" 2>"$trial/run.err"
	read_by "tasks-$runtime" "$dir"
	said="$(figure_of tasks "$dir") $(figure_of all_forks "$dir")"
	[ "$said" = "$(sed -n 's/^expect count task //p' "$trial/tasks.out") True" ]
	point "tasks-$runtime: each is made and complete" $? "$said"

	flavour=${flavours[0]} name=openmp-$runtime
	[ "$runtime" = gnu ] || flavour=${flavours[-1]}
	OMP_WAIT_POLICY=passive launch "$name" preload "$flavour" 2 "hybrid-$runtime" -n 3 -u 1
	wait_for 15 test -s "$dir/traces.otf2"
	wait_for 5 [ ! -e "$dir/.finish.lock" ]
	read_by "$name" "$dir"
	said="$(figure_of forks "$dir") $(figure_of teams "$dir") $(figure_of locks "$dir")"
	[ "$said" = "48 90 24" ]
	point "$name: forks, members of teams, locks" $? "$said"
	said="$(figure_of all_forks "$dir") $(figure_of all_locks "$dir")"
	[ "$said" = "True True" ]
	point "$name: claimed to be whole" $? "$said"
	timeout 60 otf2-print -G "$dir/traces.otf2" | grep -q 'Name: "omp parallel @hybrid.c:[1-9].*Role: PARALLEL'
	point "$name: regions have lines" $? ""
done
shim=$pmpi
dir=$options report=$options/report.json

# Options, on the last run before.
"$crit" export otf2 --metrics -o "$trial/metrics" "$dir" >"$trial/export.out" 2>"$trial/export.err"
point "export --metrics" $? "$(cat "$trial/export.err")"
[ "$(cat "$trial/export.out")" = "$trial/metrics/traces.otf2" ] && [ "$(figure_of metrics "$trial/metrics")" -gt 80 ]
point "metrics are there" $? "$(figure_of metrics "$trial/metrics")"
read_by "metrics" "$trial/metrics"
said=$(figure_of cmetric "$trial/metrics") wanted=$(ask 'round(1e9 * sum(x["cmetric_s"] for x in r["threads"]))')
within "metrics: CMetric of all threads, ns" "$said" "$((wanted - 100))" "$((wanted + 100))"
# What each thread waited adds up to all waiting, whatever else is in the archive: calls, messages, idle workers, locks.
for name in "messages-${flavours[0]}-3" "openmp-llvm" "tasks-gnu" "run-${flavours[-1]}"; do
	dir=$trial/$name report=$trial/$name/report.json waits=$trial/waits-$name
	"$crit" export otf2 --waits -o "$waits" "$dir" >/dev/null 2>"$trial/export.err"
	point "waits of $name: export" $? "$(cat "$trial/export.err")"
	read_by "waits of $name" "$waits"
	"$crit" waits --json "$dir" >"$trial/waits.json" 2>"$trial/waits.err"
	wanted=$(ask 'round(1e9 * r["waiting_s"])' "$trial/waits.json") said=$(figure_of waiting "$waits")
	[ "${wanted:-0}" -gt 0 ] && [ "$said" = "$wanted" ]
	point "waits of $name: as much as crit waits has, ns" $? "$said, $wanted"
	[ "$(figure_of cmetric "$waits")" = 0 ]
	point "waits of $name: no other metric" $? ""
done
dir=$options report=$options/report.json
name=all dir=$trial/run-${flavours[0]} report=$trial/run-${flavours[0]}/report.json
"$crit" export otf2 --all -o "$trial/all" "$dir" >/dev/null 2>"$trial/export.err"
point "export --all" $? "$(cat "$trial/export.err")"
[ "$(figure_of locations "$trial/all")" -gt "$(figure_of locations "$dir")" ]
point "all: more locations" $? "$(figure_of locations "$trial/all"), not $(figure_of locations "$dir")"
"$crit" verify "$trial/all" >"$trial/verify.out"
point "all: crit verify" $? "$(cat "$trial/verify.out")"
before=$(stat -c %i "$dir/traces.otf2")
"$crit" export otf2 "$dir" >/dev/null 2>"$trial/export.err" && [ "$(stat -c %i "$dir/traces.otf2")" != "$before" ]
point "an older archive is replaced" $? "$(cat "$trial/export.err")"
read_by "again" "$dir"

# Without ranks: processes are the groups.
dir=$trial/threads report=$trial/threads/report.json
CRIT_DIR=$dir "$crit" run -- "$apps/mutex_equal" 2 40 >/dev/null 2>"$trial/run.err"
read_by "threads only" "$dir"
said=$(figure_of states "$dir") half=$(ask 'r["nodes"][0]["kernel_half"]' "$report")
if [ "$half" = none ]; then [ "$said" -eq 0 ]; else [ "$said" -ge 2 ]; fi
point "threads only: they are seen blocked" $? "$said threads, kernel half $half"

# Samples: as many as the report has, and every other event where it is without them.
events_of() {
	timeout 60 otf2-print "$1/traces.otf2" |
		awk 'sub("^CALLING_CONTEXT_", "") + 1 && /^[A-Z]/ && $1 != "SAMPLE" { print $1, $2, $3 }'
}
for name in messages-${flavours[0]}-3 threads tasks-gnu openmp-gnu; do
	dir=$trial/$name report=$trial/$name/report.json samples=$trial/samples-$name
	"$crit" export otf2 --samples -o "$samples" "$dir" >/dev/null 2>"$trial/export.err"
	point "samples of $name: export" $? "$(cat "$trial/export.err")"
	read_by "samples of $name" "$samples"
	said=$(figure_of samples "$samples") wanted=$(ask 'sum(x["samples"] for x in r["hot"])' "$report")
	[ "$said" = "$wanted" ]
	point "samples of $name: as many as the report has" $? "$said, $wanted"
	events_of "$samples" >"$trial/with"
	events_of "$dir" >"$trial/without"
	[ -s "$trial/with" ] && cmp -s "$trial/with" "$trial/without"
	point "samples of $name: all else keeps its place" $? "$(wc -l <"$trial/with") lines"
done

# Not wanted, and not possible.
CRIT_DIR=$trial/none "$crit" run --no-otf2 -- true 2>"$trial/run.err"
[ -s "$trial/none/report.json" ] && [ ! -e "$trial/none/traces.otf2" ]
point "--no-otf2" $? ""
CRIT_DIR=$trial/profile "$crit" run --level=profile -- mpirun."${flavours[0]}" -np 2 \
	"$apps/barrier_imbalance.${flavours[0]}" -n 5 -m 2 >/dev/null 2>"$trial/run.err"
[ -s "$trial/profile/report.json" ] && [ ! -e "$trial/profile/traces.otf2" ]
point "level profile: no archive" $? ""
"$crit" export otf2 "$trial/profile" >"$trial/export.out" 2>"$trial/export.err"
[ $? -eq 1 ] && grep -q 'level profile.*CRIT_LEVEL=trace' "$trial/export.err"
point "level profile: export says why" $? "$(cat "$trial/export.err")"

CRIT_DIR=$trial/fallback CRIT_MAX_BYTES=8M "$crit" run -- mpirun."${flavours[0]}" -np 2 \
	"$apps/ping_pong.${flavours[0]}" 100000 5 >/dev/null 2>"$trial/run.err"
"$crit" verify "$trial/fallback" >"$trial/verify.out"
point "fallback to profile: a sound archive of the part before" $? "$(cat "$trial/verify.out")"
"$crit" export otf2 "$trial/fallback" >"$trial/export.out" 2>"$trial/export.err"
[ $? -eq 3 ] && [ "$(grep -c 'the archive ends after .* fell back' "$trial/export.err")" -eq 1 ]
point "fallback to profile: export says where it ends" $? "$(cat "$trial/export.err")"

# expect NAME STATUS PATTERN COMMAND…
expect() {
	local name=$1 expected=$2 pattern=$3 got
	shift 3
	timeout 60 "$@" >"$trial/expect.out" 2>"$trial/expect.err"
	got=$?
	[ "$got" -eq "$expected" ] && cat "$trial/expect.out" "$trial/expect.err" | grep -q -- "$pattern"
	point "$name" $? "status $got: $(cat "$trial/expect.out" "$trial/expect.err" | head -n 1)"
}

# plant NAME PATTERN COMMAND…: the command spoils a copy of the archive, crit verify names it.
plant() {
	local name=$1 pattern=$2
	shift 2
	rm -rf "$trial/spoilt"
	mkdir "$trial/spoilt"
	cp -r "$trial/metrics"/traces* "$trial/spoilt"
	(cd "$trial/spoilt/traces" && "$@")
	expect "verify: $name" 3 "$pattern" "$crit" verify "$trial/spoilt"
}
plant "a cut file" "location 1" truncate -s -40 1.evt
plant "a missing file" "1.evt is missing" rm 1.evt
plant "missing definitions" "0.def is missing" rm 0.def
plant "two files exchanged" "location" sh -c 'mv 0.def x; cp 1.evt 0.def; rm x'
plant "noise" "location 1" sh -c 'head -c 3000 /dev/urandom | dd of=1.evt bs=1 seek=100 conv=notrunc status=none'
plant "visits that are not the report's" "MPI_.* is entered .* visits in report.json" python3 -c 'if 1:
	import json, sys
	report = json.load(open(sys.argv[1]))
	report["mpi_calls"][0]["visits"] += 1
	json.dump(report, open("../report.json", "w"))' "$options/report.json"
plant "no global definitions" "global definitions" rm ../traces.def
expect "verify: no such directory" 1 "cannot open" "$crit" verify "$trial/nothing"
expect "verify: no archive there" 1 "crit export otf2" "$crit" verify "$trial/profile"
expect "verify: no argument" 2 "no archive given" "$crit" verify
expect "verify: not an anchor" 1 "no anchor" "$crit" verify "$report"
expect "export: no format" 2 "no format given; otf2, collapsed, speedscope or pprof" "$crit" export
expect "export: unknown format" 2 "no format named" "$crit" export ctf "$dir"
expect "export: samples are of otf2" 2 "samples and --all are for otf2" "$crit" export collapsed --samples "$dir"
expect "export: no recording given" 2 "no recording" "$crit" export otf2
expect "export: no recording there" 1 "holds no recording" "$crit" export otf2 "$apps"
expect "export: unwritable" 1 "cannot" "$crit" export otf2 -o /proc/nothing "$dir"

# What a killed export left is cleared away; two at a time are one too many.
mkdir -p "$dir/.traces.tmp/traces"
echo junk | tee "$dir/.traces.tmp/traces.otf2" >"$dir/.traces.tmp/traces/0.evt"
expect "export: after a killed one" 0 "traces.otf2" "$crit" export otf2 "$dir"
[ ! -e "$dir/.traces.tmp" ] && "$crit" verify "$dir" >"$trial/verify.out"
point "after a killed one: crit verify" $? "$(cat "$trial/verify.out")"
mkdir "$dir/.traces.tmp"
flock "$dir/.traces.tmp" sh -c "echo >'$trial/locked'; sleep 5" &
wait_for 5 test -s "$trial/locked"
expect "export: another is at work" 1 "another export" "$crit" export otf2 "$dir"
kill $! 2>/dev/null
wait
rmdir "$dir/.traces.tmp"

# Threads that end at once: libotf2 clears the 256 KiB of each, which do not stay in memory.
mkdir "$trial/alive"
"$build/bin/crit-synth" -r 1 -t 2000 -e 10 -s 1 "$trial/alive" >/dev/null
peak_kib=$(/usr/bin/python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$crit" export otf2 "$trial/alive")
[ "${peak_kib:-0}" -gt 0 ] && [ "$peak_kib" -lt 200000 ]
point "export: memory for 2000 threads alive at once" $? "$peak_kib KiB"
# They are more than one reader of libotf2 is shown.
"$crit" verify "$trial/alive/traces.otf2" >"$trial/out" && grep -q ': 200[0-9] locations, .* no fault' "$trial/out"
point "verify: 2000 threads" $? "$(tail -n 1 "$trial/out")"
last=$(find "$trial/alive/traces" -name '*.evt' -printf '%f\n' | sort -n | tail -n 1)
truncate -s 64 "$trial/alive/traces/$last"
"$crit" verify "$trial/alive/traces.otf2" >"$trial/out"
[ $? -eq 3 ] && grep -q "location ${last%.evt}" "$trial/out"
point "verify: the last file of 2000 is cut" $? "$(head -n 1 "$trial/out")"

# A full disk leaves the older archive as it was, and nothing else: at the end, and in the middle.
mkdir "$trial/small" "$trial/synthetic"
# Of more threads than waits are followed for there is no archive with their metric.
"$build/bin/crit-synth" -b 66000 "$trial/short" >/dev/null
"$crit" export otf2 --waits -o "$trial/short/otf2" "$trial/short/node0.crit" >"$trial/out" 2>"$trial/err"
[ $? -eq 1 ] && [ ! -e "$trial/short/otf2/traces.otf2" ] && [ "$(wc -l <"$trial/err")" -eq 1 ] &&
	grep -q 'more than 65536 threads; export without --waits' "$trial/err"
point "a metric of waits that are not followed is refused" $? "$(cat "$trial/err")"

"$build/bin/crit-synth" -r 2 -e 400000 -s 1 "$trial/synthetic" >/dev/null
for size in 12k 1m; do
	mount -t tmpfs -o size=$size tmpfs "$trial/small" 2>/dev/null || continue
	[ "$size" = 12k ] || dir=$trial/synthetic
	expect "export: full disk of $size" 1 "cannot write.*No space" "$crit" export otf2 -o "$trial/small" "$dir"
	[ -z "$(ls -A "$trial/small")" ]
	point "full disk of $size: nothing is left" $? "$(ls -A "$trial/small")"
	umount "$trial/small"
done
trial_end
