#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit report: text, JSON, tables, other rules, cut recordings, bad input; and files whole or absent.
# usage: report.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"

# expect NAME STATUS PATTERN COMMAND…: exit status, and a pattern in what it says on stderr.
expect() {
	local name=$1 expected=$2 pattern=$3 got
	shift 3
	"$@" >"$trial/expect.out" 2>"$trial/expect.err"
	got=$?
	[ "$got" -eq "$expected" ] && grep -q -- "$pattern" "$trial/expect.err" <(echo)
	point "$name" $? "status $got, expected $expected: $(head -n 1 "$trial/expect.err")"
}

dir=$trial/run
CRIT_DIR=$dir "$crit" run -- "$apps/mutex_equal" 2 40 >/dev/null 2>"$trial/run.err"
report=$dir/report.json
recording=$(echo "$dir"/*.crit)
check_laws "threads"
[ "$(ask 'len(role("app")) >= 3')" = True ]
point "threads are seen" $? "$(ask '[(x["name"], round(x["cmetric_s"], 3)) for x in role("app")]')"
said=$(ask 'r["verdict"]["sentence"]')
[[ $said == *"are blocked for "*": I/O, locks or sleep ("*"% in futex)"* ]]
point "the verdict names the system call" $? "$said"

unset COLUMNS
before=$(cat "$dir"/*.txt "$dir"/*.json "$dir"/*.csv | md5sum)
expect "text" 0 "" "$crit" report "$dir"
cmp -s "$trial/expect.out" "$dir/report.txt"
point "text equals report.txt" $? ""
expect "json" 0 "" "$crit" report --json "$recording"
cmp -s "$trial/expect.out" "$dir/report.json"
point "json equals report.json" $? ""
for table in ranks threads regions calls sites messages collectives; do
	expect "table of $table" 0 "" "$crit" report --csv="$table" "$dir"
	cmp -s "$trial/expect.out" "$dir/$table.csv"
	point "table equals $table.csv" $? ""
done
expect "colours" 0 "" "$crit" report --color=always "$dir"
grep -q $'\033\\[31m' "$trial/expect.out"
point "colours when asked for" $? ""
sed -i $'s/\033\\[[0-9]*m//g' "$trial/expect.out"
cmp -s "$trial/expect.out" "$dir/report.txt"
point "colours change no word" $? ""
expect "kernel rule" 0 "" "$crit" report --active=kernel "$dir"
grep -q "active: kernel" "$trial/expect.out"
point "kernel rule is named" $? ""
[ "$before" = "$(cat "$dir"/*.txt "$dir"/*.json "$dir"/*.csv | md5sum)" ]
point "report changes no file" $? ""
expect "output elsewhere" 0 "" "$crit" report -o "$trial/else" "$dir"
cmp -s "$trial/else/report.txt" "$dir/report.txt"
point "output elsewhere is the same" $? ""

# Cut in the middle: a result all the same, and exit code 3.
mkdir "$trial/cut"
head -c $(($(stat -c %s "$recording") * 3 / 4 - 3)) "$recording" >"$trial/cut/node.crit"
expect "cut recording" 3 "" "$crit" report "$trial/cut"
grep -q "^lost: " "$trial/expect.out"
point "cut recording is said" $? "$(grep -m 1 "^lost: " "$trial/expect.out")"
expect "finish by hand" 0 "" "$crit" finish --directory "$trial/cut"
[ -s "$trial/cut/report.json" ]
point "finish writes the report of a cut recording" $? ""

mkdir "$trial/empty"
: >"$trial/empty/node.crit"
head -c 10000 /dev/urandom >"$trial/noise.crit"
expect "no such directory" 1 "cannot open" "$crit" report "$trial/nothing"
expect "no recording" 1 "holds no recording" "$crit" report "$apps"
expect "empty file" 1 "crit report: " "$crit" report "$trial/empty"
expect "noise" 1 "crit report: " "$crit" report "$trial/noise.crit"
expect "no argument" 2 "no recording given" "$crit" report
expect "unknown rule" 2 "no activity rule" "$crit" report --active=x "$dir"
expect "unknown colour" 2 "no choice of colour" "$crit" report --color=red "$dir"
COLUMNS=60 "$crit" report "$dir" | sed '/^Run$/,$d' | awk 'length > 60 { wide = 1 } END { exit wide || !NR }'
point "a page of 60 columns" $? ""
COLUMNS=140 "$crit" report "$dir" | awk 'length > 80 { wide = 1 } /^Run$/ { exit } END { exit !wide }'
point "a page of 140 columns" $? ""
expect "summary" 0 "" "$crit" report --summary "$dir"
[ -z "$(cut -d: -f1 "$trial/expect.out" | sort | uniq -d)" ] &&
	[ "$(grep -cE '^(verdict: [a-z_]+|window_s: [0-9.]+)$' "$trial/expect.out")" = 2 ]
point "summary: each key once, each with a value" $? "$(wc -l <"$trial/expect.out") lines"
expect "misspelt option" 2 "no option --jsn; did you mean --json?" "$crit" report --jsn "$dir"
expect "option without its value" 2 "no value after --output" "$crit" report "$dir" --output
expect "value of an option that takes none" 2 "no value is taken by --json" "$crit" report --json=x "$dir"
expect "unknown letter" 2 "no option -x" "$crit" report -x "$dir"
expect "misspelt option of the finisher" 2 "no option --directry; did you mean --directory?" \
	"$crit" finish --directry "$dir"
expect "misspelt command" 2 "did you mean crit report?" "$crit" rpeort
expect "an option that prints, with --output" 2 "redirect what --json" "$crit" report --json -o "$trial/x.json" "$dir"
expect "unknown table" 2 "no table named" "$crit" report --csv=x "$dir"
for command in "report $dir" "waits --json $dir" config "export collapsed -o $trial/else $dir" --version; do
	expect "full device: ${command%% *}" 1 "cannot write to stdout: " bash -c "'$crit' $command >/dev/full"
	expect "closed stdout: ${command%% *}" 1 "cannot write to stdout: " bash -c "'$crit' $command >&-"
done
# shellcheck disable=SC2016 # the program expands it
expect "a program finds closed what crit run found closed" 0 "" bash -c 'exec <&- >&-; exec "$@"' - \
	"$crit" run -o "$trial/closed" -- bash -c '! [ -e /proc/$$/fd/0 -o -e /proc/$$/fd/1 ]'
expect "unwritable output" 1 "cannot" "$crit" report -o /proc/nothing "$dir"
trial_end
