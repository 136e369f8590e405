#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# FIFOs and links where crit's commands look for files: one line says what is wrong, nothing waits, no link is followed.
# usage: fifos.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
CRIT_DIR=$trial/run "$crit" run -- "$apps/burn" 20 >"$trial/run.out" 2>"$trial/run.err" &&
	"$crit" export otf2 "$trial/run" >"$trial/export.out" 2>&1
point "a run and its archive" $? "$(cd "$trial/run" && echo *)"
recording=$(cd "$trial/run" && echo *.crit)

# try NAME FILE CODE COMMAND…: with a FIFO in place of FILE of a copy ($copy); ends with CODE, and unless that is 0 or
# 3 with a line that names the file.  The limit of time is only there for those who wait for ever.
try() {
	local name=$1 file=$2 code=$3 said
	shift 3
	rm -rf "$copy"
	cp -r "$trial/run" "$copy"
	rm -f "$copy/$file"
	mkfifo "$copy/$file"
	timeout 20 "$@" >"$trial/try.out" 2>"$trial/try.err"
	status=$?
	said=$(grep -m 1 "${file##*/}" "$trial/try.err")
	[ "$status" -eq "$code" ] && { [ "$code" -eq 0 ] || [[ $said == *"not a regular file"* ]]; }
	point "$name" $? "status $status: $said"
}
copy=$trial/copy
try "crit report, its lock" .finish.lock 0 "$crit" report "$copy"
try "crit report, a recording" "$recording" 1 "$crit" report "$copy"
try "crit gather, a recording" "$recording" 1 "$crit" gather "$trial/run" "$copy/$recording"
try "crit diff, a report" report.json 1 "$crit" diff "$trial/run" "$copy"
try "crit verify, the report beside it" report.json 0 "$crit" verify "$copy"
try "crit verify, the anchor" traces.otf2 1 "$crit" verify "$copy/traces.otf2"
try "crit verify, the definitions" traces.def 1 "$crit" verify "$copy/traces.otf2"
events=$(cd "$trial/run" && find traces -name '*.evt' | head -n 1)
try "crit verify, events" "$events" 1 "$crit" verify "$copy/traces.otf2"

# What is left of an export is removed, but for what a link leads to.
mkdir -p "$trial/elsewhere/deep" "$trial/run/.traces.tmp/traces"
touch "$trial/elsewhere/file" "$trial/elsewhere/deep/file"
ln -s "$trial/elsewhere" "$trial/run/.traces.tmp/link"
ln -s "$trial/elsewhere/deep" "$trial/run/.traces.tmp/traces/link"
"$crit" export otf2 "$trial/run" >"$trial/export.out" 2>&1
status=$?
[ "$status" -eq 0 ] && [ -e "$trial/elsewhere/file" ] && [ -e "$trial/elsewhere/deep/file" ] &&
	[ ! -e "$trial/run/.traces.tmp" ]
point "crit export, links in what another left" $? "status $status, $(find "$trial/elsewhere" -type f | wc -l) files"
trial_end
