#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Samples of where threads are: shares of functions where threads are many or few, how many are kept, whose they are,
# and what is said where there are none.
# usage: samples.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "for the full kernel half and to become other users"
cpus=$(nproc)

# record NAME COMMAND…: sets dir, report and status.
record() {
	dir=$trial/$1
	report=$dir/report.json
	local name=$1
	shift
	CRIT_DIR=$dir "$@" >"$trial/$name.out" 2>"$trial/$name.err"
	status=$?
}

# is_right NAME RUN WHAT: what samples.py says of a run.
is_right() {
	local said result
	grep ' 0x' "$trial/$2.out" >"$trial/$2.told"
	said=$(python3 -S "$trial_lib/samples.py" "$(find "$trial/$2" -name '*.crit')" "$trial/$2.told" "$3" 2>&1)
	result=$?
	point "$1" $result "$said"
}

# count RUN: its samples, and threads they are of.
count() {
	python3 -S "$trial_lib/samples.py" "$(find "$trial/$1" -name '*.crit')" - count
}

# Two threads, of which one works for 40 % of the run, which are 25 % of its CPU time.
export CRIT_SAMPLE_HZ=499
record steps "$crit" run -- "$apps/sampled" steps 4000
is_right "steps: shares of functions" steps shares
is_right "steps: the time that samples stand for" steps time
said=$(python3 -S "$trial_lib/hot.py" "$dir" "$trial/steps.told" "$crit" 2>&1)
point "steps: tables of lines, functions, libraries; annotate" $? "$said"

# The same without lines: instructions of a function stand for them.
cp "$apps/sampled" "$trial/bare" && strip -g "$trial/bare"
CRIT_DIR=$trial/bare.d "$crit" run -- "$trial/bare" steps 1000 >/dev/null 2>"$trial/run.err"
function=$(ask 'next(x["function"] for x in r["hot"] if x["function"] and not x["line"])' "$trial/bare.d/report.json")
"$crit" annotate "$trial/bare.d" "$function" >"$trial/code.out"
grep -qE '^ +[0-9.]+ +[0-9.]+% +[0-9]+ +[0-9a-f]+  [a-z]+ ' "$trial/code.out"
point "without lines: instructions with their CMetric" $? "$function: $(wc -l <"$trial/code.out") lines"
PATH=$trial "$crit" annotate "$trial/bare.d" "$function" | grep -q 'no disassembly: .*No such file.*; install binutils'
point "without objdump: one line says so" $? ""
said=$(ask 'lost(), r["missing"]')
[ "$said" = "(0, [])" ]
point "steps: nothing is lost, nothing missing" $? "$said"

# With one active thread at most rows have the time with one, T1: all have T1 + T2, and two threads work T1 + 2 T2, but
# for what a program does before its begin.
"$crit" report --by=function --n-min=1 "$dir" >"$trial/gated"
said=$(awk '{ all += $1 } END { printf "%.4f", all }' "$trial/gated")
one_s=$(ask 'sum(2 * t["cmetric_s"] - t["cells"]["running_user_s"] - t["cells"]["runnable_user_s"]
	for t in r["threads"])')
within "steps: --n-min=1, sum of rows, s" "$said" \
	"$(python3 -S -c "print($one_s - 0.002)")" "$(python3 -S -c "print($one_s + 0.002)")"
cmp -s <("$crit" report --by=function "$dir") <("$crit" report --by=function --n-min=2 "$dir")
point "steps: --n-min=2 is all" $?
! "$crit" report --n-min=1 "$dir" 2>"$trial/n-min.err" && grep -q 'goes with --by' "$trial/n-min.err"
point "--n-min without --by is refused" $? "$(cat "$trial/n-min.err")"

# Profiles: what all stacks have is the CMetric of all threads.
for format in collapsed speedscope pprof; do
	"$crit" export $format -o "$trial/profiles" "$dir" >"$trial/export.out" 2>"$trial/export.err"
	point "steps: export $format" $? "$(cat "$trial/export.err")"
done
all_us=$(ask 'round(1e6 * next(c["cmetric_sum_s"] for c in r["checks"]
	if (c["unit"], c["scope"]) == ("threads", "run")))')
collapsed_us=$(awk '{ sum += $NF } END { print sum }' "$trial/profiles/cmetric.collapsed")
within "steps: microseconds of all stacks" "$collapsed_us" $((all_us - 1)) $((all_us + 1))
python3 -S -c 'import json, sys; json.load(open(sys.argv[1]))' "$trial/profiles/cmetric.speedscope.json" &&
	gzip -t "$trial/profiles/cmetric.pb.gz"
point "steps: speedscope and pprof can be read" $?

# One of two has the lock: it alone is active.
record lock "$crit" run -- "$apps/sampled" lock 3000
is_right "lock: shares of functions" lock shares
within "lock: ticks for a sample" "$(python3 -S "$trial_lib/samples.py" "$dir"/*.crit - kept)" 1 1.2

unset CRIT_SAMPLE_HZ

# As many samples as one CPU has ticks, however many threads there are.
record crowd "$crit" run -- "$apps/sampled" crowd 40 128
within "crowd: ticks for a sample, $cpus CPUs" "$(python3 -S "$trial_lib/samples.py" "$dir"/*.crit - kept)" \
	"$(python3 -S -c "print(0.9 * min($cpus, 128))")" "$cpus"
is_right "crowd: the time that samples stand for" crowd time

record off env CRIT_SAMPLE=0 "$crit" run -- "$apps/sampled" steps 500
said=$(count off)
[ "$said" = "0 0" ] && [ "$(ask 'r["missing"]')" = "[]" ]
point "CRIT_SAMPLE=0: none, and none is missing" $? "$said"
record rate env CRIT_SAMPLE_HZ=997 "$crit" run -- "$apps/sampled" steps 1000
is_right "CRIT_SAMPLE_HZ=997: the time that samples stand for" rate time
said=$(count rate)
[ "${said% *}" -gt 500 ]
point "CRIT_SAMPLE_HZ=997: more of them" $? "$said"

for flavour in "${flavours[@]}"; do
	CRIT_SAMPLE_HZ=997 launch "mpi-$flavour" run "$flavour" 2 barrier_imbalance -n 30 -p -m 40:10
	: >"$trial/mpi-$flavour.out"
	is_right "waits in MPI, $flavour" "mpi-$flavour" waits
done

# Two ordinary users at a time, each with a collector of his own.
make_capable
users=("$trial_nobody" $((trial_nobody - 1)))
for uid in "${users[@]}"; do
	mkdir -m 777 "$trial/user-$uid"
	as_user "$uid" "CRIT_DIR=$trial/user-$uid/run" "$trial/capable/bin/crit" run -- "$apps/sampled" crowd 1000 2
	"${command[@]}" >"$trial/user-$uid.out" 2>"$trial/user-$uid.err" &
done
wait
for uid in "${users[@]}"; do
	is_right "user $uid beside another: own samples only" "user-$uid" strangers
	is_right "user $uid beside another: the time that samples stand for" "user-$uid" time
done

# with_critd OPTION: CRIT_SOCKET is one of a collector with this option; sets critd.
with_critd() {
	export CRIT_SOCKET=$trial/critd$1.sock
	"$build/bin/critd" --service --socket-path "$CRIT_SOCKET" ${1:+"$1"} 2>"$trial/critd.err" &
	critd=$!
	wait_for 20 test -S "$CRIT_SOCKET"
}

# Runs side by side in one collector: each has its own, and one that wants none has none.
with_critd ""
CRIT_RUN=a CRIT_DIR=$trial/a "$crit" run -- "$apps/sampled" crowd 1000 2 >"$trial/a.out" 2>"$trial/a.err" &
first=$!
CRIT_RUN=b CRIT_DIR=$trial/b CRIT_SAMPLE_HZ=499 "$crit" run -- "$apps/sampled" crowd 1000 2 >"$trial/b.out" \
	2>"$trial/b.err" &
second=$!
CRIT_RUN=c CRIT_DIR=$trial/c CRIT_SAMPLE=0 "$crit" run -- "$apps/sampled" crowd 1000 2 >"$trial/c.out" 2>"$trial/c.err"
wait "$first" "$second"
for run in a b; do
	is_right "side by side, $run: own samples only" $run strangers
	is_right "side by side, $run: the time that samples stand for" $run time
done
said=$(count c)
[ "$said" = "0 0" ]
point "side by side, CRIT_SAMPLE=0: none" $? "$said"
kill "$critd"

with_critd --no-task-storage
CRIT_SAMPLE_HZ=499 record steps-by-tid "$crit" run -- "$apps/sampled" steps 2000
is_right "without task storage: shares of functions" steps-by-tid shares
kill "$critd"

with_critd --no-sampling
record refused "$crit" run -- "$apps/sampled" steps 500
said=$(count refused)
[ "$said" = "0 0" ] && [ "$status" -eq 0 ] && grep -q '^missing: samples on .*: no perf events' "$dir/report.txt"
point "clocks refused: none, and the report says so" $? "$(grep '^missing' "$dir/report.txt")"
grep -q 'no samples' "$trial/critd.err"
point "clocks refused: critd says so" $? "$(cat "$trial/critd.err")"
"$crit" doctor >"$trial/doctor.out" 2>&1
grep -q '^MISSING samples ' "$trial/doctor.out"
point "clocks refused: doctor says so" $? "$(grep samples "$trial/doctor.out")"
kill "$critd"
trial_end
