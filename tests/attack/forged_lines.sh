#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A program with a line feed and escape sequences in its name, its arguments and its directory forges no line of a
# report, a table, an archive, a comparison, a message or a log.
# usage: forged_lines.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
forged='forged: 0 ranks'
evil=$'ev\n'$forged$'\e[2K\r\xc2\x9b\xe2\x80\xae'
install "$apps/burn" "$trial/$evil"

# unforged NAME FILE…: no line of them begins as forged, and none has a control character or a mark of direction.
unforged() {
	local name=$1 count
	shift
	count=$(cat -- "$@" |
		LC_ALL=C grep -cP "^$forged"'|[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]')
	[ -s "$1" ] && [ "$count" -eq 0 ]
	point "$name" $? "$count lines, $(cat -- "$@" | wc -c) bytes"
}

# The name of the directory is made of the program's.
mkdir "$trial/named"
(cd "$trial/named" && "$crit" run -- "$trial/$evil" 50 "$evil") >"$trial/run.out" 2>"$trial/run.err"
find "$trial/named" -mindepth 1 -maxdepth 1 -printf '%f\n' >"$trial/names"
unforged "name of the directory" "$trial/names"
unforged "crit run's messages" "$trial/run.err"
dir=$(find "$trial/named" -mindepth 1 -maxdepth 1 -type d)
grep -q 'program: .*ev?forged' "$dir/report.txt"
point "the program is named" $? "$(grep -c '?forged' "$dir/report.txt") lines"
unforged "report.txt" "$dir/report.txt"
unforged "tables" "$dir"/*.csv
cp -r "$dir" "$trial/$evil.run"
"$crit" diff "$dir" "$trial/$evil.run" >"$trial/diff"
unforged "crit diff" "$trial/diff"
python3 - "$dir/report.json" "$forged" <<'END'
import json, sys
job = json.load(open(sys.argv[1]))["job"]
sys.exit(not ("\n" + sys.argv[2] in job["exe"] and "\n" + sys.argv[2] in job["args"]))
END
point "report.json has the names as they are" $? ""

# Messages about files.
"$crit" report "$trial/none$evil" 2>"$trial/none"
unforged "crit report of nothing" "$trial/none"
"$crit" diff "$trial/none$evil" "$dir" 2>"$trial/none"
unforged "crit diff of nothing" "$trial/none"
"$crit" gather "$dir" "$trial/named$evil" 2>"$trial/none"
unforged "crit gather of nothing" "$trial/none"
printf 'x' >"$trial/short$evil.crit"
"$crit" report "$trial/short$evil.crit" 2>"$trial/none"
unforged "crit report of no recording" "$trial/none"

# A preloaded program that cannot be recorded leaves a line in a log.
if [ "${#flavours[@]}" -gt 0 ]; then
	install "$apps/exchange_only.${flavours[0]}" "$trial/$evil"
	mkdir "$trial/logs"
	XDG_RUNTIME_DIR=$trial/logs CRIT_DIR=/proc/none "mpirun.${flavours[0]}" -np 1 \
		env LD_PRELOAD="$shim" "$trial/$evil" >"$trial/log.out" 2>&1
	mapfile -d '' logs < <(find "$trial/logs" -name '*.log' -print0)
	unforged "log" "${logs[@]}"
	printf '%s\n' "${logs[@]}" >"$trial/names"
	unforged "name of the log" "$trial/names"
fi

# The archive's texts.
if [ -d "$build/otf2" ] && command -v otf2-print >/dev/null; then
	"$crit" export otf2 -o "$trial/archive" "$dir" >"$trial/export" 2>&1
	otf2-print -G "$trial/archive/traces.otf2" >"$trial/printed" 2>&1
	unforged "archive" "$trial/printed"
fi
trial_end
