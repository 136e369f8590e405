#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The finisher: a renamed directory gets its report, one that dies is replaced, and where there is no report, the
# reason is said in one place: by crit run, in NO-REPORT.txt, or in the log, which does not grow for ever.
# usage: finisher.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
shopt -s nullglob dotglob
log=$XDG_RUNTIME_DIR/crit/crit.log

# begin NAME [COMMAND…]: crit run in the background, by its own or that command, until its program reads an end of
# file; sets dir, program.
begin() {
	dir=$trial/$1
	mkfifo "$dir.end"
	CRIT_DIR=$dir "${@:2}" "$crit" run -- cat "$dir.end" 2>"$dir.err" &
	program=$!
	wait_for 20 has_finishers 2
}

# Ends the program; sets got.
finish() {
	: >"$dir.end"
	wait "$program"
	got=$?
}

# The run's finishers: who watches, and who works, its child.
finishers() {
	finishers_of "$dir"
}

has_finishers() {
	[ "$(finishers | wc -l)" -eq "$1" ]
}

worker() {
	local pid
	for pid in $(finishers); do
		finishers | grep -qx "$(ps -o ppid= -p "$pid" | tr -d ' ')" && echo "$pid"
	done
}

# What the run left in a directory, but for the recording.
contents() {
	(cd "$1" && printf '%s ' *) | sed "s/$(hostname).crit //"
}

last_line() {
	tail -n 1 "$trial/$1.err"
}

results="calls.csv collectives.csv hot.csv messages.csv rank_calls.csv ranks.csv regions.csv \
report.json report.txt sites.csv threads.csv "

# A directory under another name gets report and archive, and what bears its old name is not touched.
begin renamed env CRIT_OTF2=1
mkdir "$trial/other"
mv "$dir" "$trial/moved"
ln -s "$trial/other" "$dir"
finish
archive=
"$crit" --version | grep -qi 'OTF2' && archive="traces traces.def traces.otf2 "
[ "$got" -eq 0 ] && [ "$(contents "$trial/moved")" = "$results$archive" ] && [ -z "$(ls -A "$trial/other")" ]
point "renamed, a link put there" $? "status $got: $(contents "$trial/moved"); other: $(contents "$trial/other")"
[ "$(last_line renamed)" = "crit: report in $trial/moved/report.txt" ]
point "renamed: the line has the new name" $? "$(last_line renamed)"

# One that is removed cannot get one.
begin removed
rm -rf "$dir"
finish
[ "$got" -eq 0 ] && [ ! -e "$dir" ] &&
	[ "$(last_line removed)" = "crit: no report: $dir was removed while the run went on" ]
point "removed: crit run says so" $? "status $got: $(last_line removed)"
has_log_of() { grep -F "$1" "$log" >"$trial/logged" 2>/dev/null; }
wait_for 5 has_log_of "$dir"
point "removed: so does the log" $? "$(cat "$trial/logged")"

# The worker dies: another one does the work.
begin died
kill -KILL "$(worker)"
finish
[ "$got" -eq 0 ] && [ "$(last_line died)" = "crit: report in $dir/report.txt" ] && [ "$(contents "$dir")" = "$results" ]
point "worker killed" $? "status $got: $(last_line died); $(contents "$dir")"

# It dies again: the reason is in the directory, and crit run makes the report.
begin twice
first=$(worker)
kill -KILL "$first"
second() { [ -n "$(worker)" ] && [ "$(worker)" != "$first" ]; }
wait_for 5 second
kill -KILL "$(worker)"
wait_for 5 test -s "$dir/NO-REPORT.txt"
grep -q 'ended by signal 9' "$dir/NO-REPORT.txt" && grep -qx "Try: crit report $dir" "$dir/NO-REPORT.txt"
point "worker killed twice: NO-REPORT.txt" $? "$(paste -sd'|' "$dir/NO-REPORT.txt")"
finish
[ "$got" -eq 0 ] && [[ "$(last_line twice)" = "crit: report in $dir/report.txt; made by crit run"* ]] &&
	[ "$(contents "$dir")" = "$results" ]
point "worker killed twice: crit run makes the report" $? "status $got: $(last_line twice); $(contents "$dir")"

# Both die.
begin both
finishers | xargs kill -KILL
finish
[ "$got" -eq 0 ] && [[ "$(last_line both)" = "crit: report in $dir/report.txt; made by crit run"* ]] &&
	[ "$(contents "$dir")" = "$results" ]
point "both killed: crit run makes the report" $? "status $got: $(last_line both); $(contents "$dir")"

# One that finds another at work on its directory waits for that one's end.
mkdir "$trial/held"
exec 9>"$trial/held/.finish.lock"
flock 9
begin held env CRIT_FINISH_S=1 9>&-
finish
[ "$got" -eq 0 ] && [[ "$(last_line held)" = "crit: report follows in $dir"* ]] &&
	[ "$(contents "$dir")" = ".finish.lock " ]
point "another at work: nothing is written" $? "status $got: $(last_line held); $(contents "$dir")"
exec 9>&-
wait_for 10 test -s "$dir/report.json" && wait_for 10 has_finishers 0
[ "$(contents "$dir")" = "$results" ]
point "another at work: the report follows" $? "$(contents "$dir")"

# One that dies while it waits for another leaves that one's lock alone.
mkdir "$trial/locked"
exec 9>"$trial/locked/.finish.lock"
flock 9
begin locked 9>&-
first=$(worker)
kill -KILL "$first"
wait_for 5 second
kill -KILL "$(worker)"
wait_for 5 test -s "$dir/NO-REPORT.txt"
[ "$dir/.finish.lock" -ef /proc/self/fd/9 ]
point "another at work, the waiting worker killed twice: the lock stays" $? "$(contents "$dir")"
exec 9>&-
finish

# CRIT_QUIET: nothing on stderr, the report all the same; not waited for: the line says so.
begin quiet env CRIT_QUIET=1
finish
[ ! -s "$trial/quiet.err" ] && [ -s "$dir/report.txt" ]
point "CRIT_QUIET=1" $? "$(wc -l <"$trial/quiet.err") lines"
begin later env CRIT_FINISH_S=0
finish
[ "$(cat "$trial/later.err")" = "crit: report follows in $dir" ]
point "CRIT_FINISH_S=0" $? "$(last_line later)"
wait_for 10 test -s "$dir/report.json"

begin stopped env CRIT_FINISH_S=
wait_for 5 test -e "$dir/.finish.lock"
mapfile -t stopped < <(finishers)
kill -STOP "${stopped[@]}"
began=$SECONDS
finish
[[ "$(last_line stopped)" = "crit: report follows in $dir; crit finish still makes it"* ]] &&
	[ $((SECONDS - began)) -lt 10 ]
point "CRIT_FINISH_S not set: the wait is short" $? "$((SECONDS - began)) s; $(last_line stopped)"
kill -CONT "${stopped[@]}"
wait_for 10 test -s "$dir/report.json"
point "CRIT_FINISH_S not set: the report follows" $?

# A report that cannot be written: its name is taken by a directory with something in it.
begin taken
mkdir -p "$dir/report.txt/full"
finish
[[ "$(last_line taken)" = "crit: no report: cannot put report.txt into place in "* ]] &&
	grep -q 'cannot put report.txt into place' "$dir/NO-REPORT.txt"
point "report.txt cannot be written" $? "$(last_line taken)"
rm -r "$dir/report.txt"
"$crit" finish --directory "$dir"
got=$?
[ "$got" -eq 0 ] && [ "$(contents "$dir")" = "$results" ]
point "the next report removes NO-REPORT.txt" $? "status $got: $(contents "$dir")"

# The reason of a file that grows no further is the system's.
(
	trap '' XFSZ
	ulimit -f 1
	"$crit" finish --directory "$dir"
)
got=$?
[ "$got" -eq 1 ] && grep -q 'cannot write .*/report.txt: File too large' "$dir/NO-REPORT.txt"
point "report.txt may not grow" $? "status $got: $(head -n 1 "$dir/NO-REPORT.txt")"

# Where nobody waits, report and archive come from one replay: with the scan and the index the recording is read three
# times, films of waits apart, for which there is no room here.  The report is that of a replay of its own, and comes as
# well where the archive cannot be made.
mkdir "$trial/once" "$trial/counted"
"$build/bin/crit-synth" -r 4 -e 20000 -m "$trial/once" >"$trial/synth"
bytes=$(stat -c %s "$trial"/once/*.crit)
cp "$trial"/once/*.crit "$trial/counted"
read_bytes=$(CRIT_OTF2=1 CRIT_MAX_BYTES=1M bash -c '"$0" finish --directory "$1" &&
	sed -n "s/rchar: //p" "/proc/$$/io"' "$crit" "$trial/counted")
CRIT_OTF2=1 "$crit" finish --directory "$trial/once"
[ "$read_bytes" -le $((3 * bytes + 200000)) ]
point "read at most three times" $? "$read_bytes of $bytes bytes"
[ "$(contents "$trial/once" | sed 's/node0.crit //')" = "$results$archive" ] &&
	"$crit" report --json "$trial/once" | cmp - "$trial/once/report.json"
point "report and archive at once" $? "$(contents "$trial/once")"
rm -r "$trial"/once/report.* "$trial"/once/traces*
mkdir -p "$trial/once/traces/mine"
CRIT_OTF2=1 "$crit" finish --directory "$trial/once"
got=$?
[ "$got" -eq 0 ] && [ -s "$trial/once/report.json" ] && [ ! -e "$trial/once/traces.otf2" ]
point "no archive: the report alone" $? "status $got: $(contents "$trial/once")"

# window NAME SECONDS WANTED [FILE]: with CRIT_FINISH_S=SECONDS the finisher's answer to the end of the window, and
# that report and archive are there in the end.
window() {
	local dir=$trial/$1/run answer
	answer=$(CRIT_OTF2=1 CRIT_FINISH_S=$2 "$(dirname "$0")/closed_window.py" "$crit" "$dir" "${@:4}")
	[ "$answer" = "$3" ] && [ "$(contents "$dir")" = "$results$archive" ]
	point "window of a $1 run, CRIT_FINISH_S=$2: $3" $? "$answer; $(contents "$dir")"
	rm -r "$dir"/report.* "$dir"/*.csv "$dir"/traces*
}

# The report of a window is made before the answer where somebody waits: the user said so, or it does not take long.
# Else it comes with that of the whole run, unless the run goes on behind its window.
mkdir -p "$trial/small/run" "$trial/large/run"
"$build/bin/crit-synth" -r 2 -e 1000 "$trial/small/run" >"$trial/synth"
"$build/bin/crit-synth" -r 8 -t 4 -e 10000 -s 2 "$trial/large/run" >"$trial/synth"
for size in small large; do
	mv "$trial/$size/run/node0.crit" "$trial/$size/run/$(hostname).crit"
done
window small "" "Success with report"
window small 0 "Operation now in progress without report"
window large "" "Operation now in progress without report"
window large 10 "Success with report"
window large "" "Operation now in progress without report" "$trial/large/run/report.json"

# The worker dies in the common replay: the next one makes the report first, and then the archive.
dir=$trial/large/run
CRIT_OTF2=1 "$crit" finish --directory "$dir" --active=default &
finish=$!
wait_for 20 test -e "$dir/.traces.tmp" && worker | xargs kill -KILL # its reader of names as well
wait "$finish"
got=$?
[ "$got" -eq 0 ] && [ "$(contents "$dir")" = "$results$archive" ]
point "worker killed in the common replay" $? "status $got: $(contents "$dir")"

# The log: one file for all, bounded, and crit doctor shows its end.
gone=$trial/$(printf 'gone%.0s' {1..40})
for ((i = 0; i < 160; i++)); do
	"$crit" finish --directory "$gone-$i"
done
files=("$XDG_RUNTIME_DIR"/crit/*.log*)
bytes=$(cat "$log" "$log.1" | wc -c)
[ "${files[*]##*/}" = "crit.log crit.log.1 critd.log" ] && [ "$bytes" -le $((3 * 32768)) ] &&
	[ "$(grep -c "$gone-159:" "$log")" -eq 1 ]
point "160 failures: two files" $? "${files[*]##*/}: $bytes bytes"
"$crit" doctor 2>&1 | grep -A 3 "last lines of $log:" >"$trial/doctor"
grep -q "$gone-159: No such file" "$trial/doctor"
point "crit doctor shows the last lines" $? "$(tail -n 1 "$trial/doctor")"
[ -z "$(pgrep -f "crit finish --directory $trial/")" ]
point "no process stays" $? "$(pgrep -af "crit finish --directory $trial/")"
trial_end
