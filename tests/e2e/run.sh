#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit run is transparent: streams, exit status, signals; and it leaves a whole directory behind.
# usage: run.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"

# same NAME EXPECTED COMMAND…: exit status of the command under crit, recorded and not.
same() {
	local name=$1 expected=$2 got
	shift 2
	(CRIT_DIR=$trial/same "$crit" run -- "$@") >/dev/null 2>"$trial/same.err"
	got=$?
	[ "$got" -eq "$expected" ]
	point "status: $name" $? "$got, expected $expected"
	rm -rf "$trial"/same "$trial"/same-*
	(CRIT_DISABLE=1 "$crit" run "$@") >/dev/null 2>"$trial/same.err"
	got=$?
	[ "$got" -eq "$expected" ]
	point "status: $name, disabled" $? "$got, expected $expected"
}

for code in 0 1 3 7 255; do
	same "exit $code" "$code" sh -c "exit $code"
done
for signal in TERM KILL SEGV ABRT; do
	same "SIG$signal" $((128 + $(kill -l "$signal"))) sh -c "ulimit -c 0; kill -$signal \$\$"
done
same "no such program" 127 "$trial/nothing"
same "no such program in PATH" 127 crit-no-such-program
same "not executable" 126 /etc/passwd
same "a directory" 126 /

# A signal sent to crit run reaches the program once; its answer is crit run's.
for signal in INT TERM HUP QUIT USR1 USR2 CONT; do
	for disabled in "" 1; do
		name="SIG$signal${disabled:+, disabled}"
		rm -f "$trial/ready" "$trial/got"
		cat >"$trial/trap.sh" <<-END
			trap 'echo got >>"$trial/got"; exit 9' $signal
			: >"$trial/ready"
			while :; do sleep 0.02; done
		END
		# python: a background job of this shell would ignore SIGINT and SIGQUIT
		CRIT_DIR=$trial/signal CRIT_DISABLE=$disabled python3 - "$signal" "$trial" "$crit" \
			>"$trial/signal.out" 2>"$trial/signal.err" <<-'END'
			import os, signal, subprocess, sys, time
			name, trial, crit = sys.argv[1:]
			program = subprocess.Popen([crit, "run", "--", "bash", f"{trial}/trap.sh"])
			while not os.path.exists(f"{trial}/ready"):
			    time.sleep(0.01)
			program.send_signal(getattr(signal, "SIG" + name))
			sys.exit(program.wait(20))
		END
		got=$?
		[ "$got" -eq 9 ] && [ "$(cat "$trial/got")" = got ]
		point "passed on: $name" $? "status $got, expected 9; $(tail -n 1 "$trial/signal.err")"
		rm -rf "$trial"/signal "$trial"/signal-*
	done
done

# Streams pass untouched; words go to stderr; the last line says where the report is.
export CRIT_DIR=$trial/streams
got=$(printf 'one\ntwo\n' | "$crit" run -- sed s/o/0/ 2>"$trial/streams.err")
[ "$got" = "$(printf '0ne\ntw0')" ]
point "stdin and stdout" $? "$got"
[ "$(tail -n 1 "$trial/streams.err")" = "crit: report in $CRIT_DIR/report.txt" ]
point "last line on stderr says where the report is" $? "$(tail -n 1 "$trial/streams.err")"
COLUMNS=100 "$crit" run -o "$trial/wide" -- sed s/o/0/ <<<one >/dev/null 2>"$trial/wide.err"
cmp -s <(head -n -1 "$trial/wide.err") <(COLUMNS=100 "$crit" report "$trial/wide" | sed '/^Run$/,$d')
point "the page is as wide as COLUMNS says" $? "$(wc -L <"$trial/wide.err") columns"
! grep -q $'\033' "$trial/streams.err"
point "no escape sequences off a terminal" $? ""
[ "$(wc -l <"$trial/streams.err")" -le 25 ] && [ "$(wc -L <"$trial/streams.err")" -le 100 ]
point "one screen" $? "$(wc -l <"$trial/streams.err") lines, $(wc -L <"$trial/streams.err") columns"
found=$(cd "$CRIT_DIR" && shopt -s dotglob && printf '%s ' *)
[ "$found" = "$(printf "%s\n" "$(hostname).crit" calls.csv collectives.csv hot.csv messages.csv rank_calls.csv \
	ranks.csv regions.csv report.json report.txt sites.csv threads.csv | sort | tr "\n" " ")" ]
point "directory" $? "$found"

# A killed finisher costs neither the run, nor time, nor the report, which crit run makes itself.
mkfifo "$trial/killed.end"
CRIT_DIR=$trial/killed "$crit" run -- cat "$trial/killed.end" 2>"$trial/killed.err" &
program=$!
finisher="^[^ ]*crit finish --directory $trial/killed "
wait_for 20 has_whole_finisher "$trial/killed" && pkill -KILL -f "$finisher"
: >"$trial/killed.end"
begin=$SECONDS
wait "$program"
got=$?
[ "$got" -eq 0 ] && [ $((SECONDS - begin)) -lt 8 ] && grep -q '; made by crit run' "$trial/killed.err"
point "killed finisher: the run ends well" $? "status $got: $(tail -n 1 "$trial/killed.err")"
"$crit" report "$trial/killed" >"$trial/killed.out" 2>&1
point "killed finisher: crit report works" $? "$(head -n 1 "$trial/killed.out")"

# Started by a launcher, many times, it is one run, which rank 0 speaks of; in another run it is part of that.
for flavour in "${flavours[@]}"; do
	launch "inside-$flavour" inside "$flavour" 3 heat
	said=$(ask '[x["rank"] for x in r["ranks"]], lacks()')
	[[ "$said" = "([0, 1, 2], [])" && "$(grep -c '^crit: report' "$trial/inside-$flavour.err")" -eq 1 ]] &&
		[ "$(find "$trial" -maxdepth 1 -name "inside-$flavour*" -type d | wc -l)" -eq 1 ]
	point "inside $flavour: one run of three ranks" $? "$said $(grep '^crit: report' "$trial/inside-$flavour.err")"
	launch "plain-$flavour" inside "$flavour" 3 /bin/sleep 0.1
	has_last_report 15
	said=$(ask '[x["name"] for x in r["threads"]], lacks()')
	[ "$said" = "(['sleep', 'sleep', 'sleep'], [])" ]
	point "inside $flavour: three programs without MPI" $? "$said"
done
compose inside "${flavours[0]}" 2 heat
CRIT_DIR=$trial/both "$crit" run -- "${command[@]}" >"$trial/both.out" 2>"$trial/both.err"
report=$trial/both/report.json
said=$(ask '[x["rank"] for x in r["ranks"]], lacks()')
[[ "$said" = "([0, 1], [])" && "$(grep -c '^crit: report' "$trial/both.err")" -eq 1 ]]
point "inside and outside: one run" $? "$said $(grep '^crit: report' "$trial/both.err")"

# Without a launcher it is a run of its own in another one, and says so, but where it is off.
nested="'$crit' run -o '$trial/inner' -- sleep 0.1"
"$crit" run -o "$trial/outer" -- sh -c "$nested" >"$trial/nested.out" 2>"$trial/nested.err"
[ "$(grep -c '^crit run: this is inside another crit run' "$trial/nested.err")" -eq 1 ] &&
	[ "$(grep -c '^crit: report' "$trial/nested.err")" -eq 2 ]
point "run in a run: says so" $? "$(grep '^crit' "$trial/nested.err")"
"$crit" run -o "$trial/single" -- sh -c "CRIT_DISABLE=1 $nested" >"$trial/nested.out" 2>"$trial/nested.err"
report=$trial/single/report.json
said=$(grep -c '^crit run' "$trial/nested.err")
said+=", $(ask '{"sleep", "critd", "crit-names", "crit-paths"} & {x["name"] for x in r["threads"]}')"
[ "$said" = "0, {'sleep'}" ]
point "run in a run, CRIT_DISABLE=1: is a part of that" $? "$said"

# A run without a collector runs all the same, and says so in one line, but for CRIT_QUIET.
mkdir -p "$trial/alone/bin"
cp "$crit" "$trial/alone/bin/"
CRIT_DIR=$trial/none "$trial/alone/bin/crit" run -- sh -c 'exit 5' 2>"$trial/none.err"
got=$?
[ "$got" -eq 5 ] && [ "$(wc -l <"$trial/none.err")" -eq 1 ] && [ ! -e "$trial/none" ]
point "no critd: runs all the same" $? "status $got: $(cat "$trial/none.err")"
CRIT_QUIET=1 CRIT_DIR=$trial/none "$trial/alone/bin/crit" run -- sh -c 'exit 5' 2>"$trial/none.err"
got=$?
[ "$got" -eq 5 ] && [ ! -s "$trial/none.err" ]
point "no critd, CRIT_QUIET=1: nothing is said" $? "status $got: $(cat "$trial/none.err")"
CRIT_QUIET=1 CRIT_DIR=$trial/none "$crit" run -- "$trial/nothing" 2>"$trial/none.err"
got=$?
[ "$got" -eq 127 ] && [ "$(wc -l <"$trial/none.err")" -eq 1 ]
point "no such program, CRIT_QUIET=1: is said" $? "status $got: $(cat "$trial/none.err")"

# So does one that cannot have its files, and the line says why.
# without WHY NAME COMMAND...: COMMAND runs a program that exits with 5 under crit run
without() {
	local why=$1 name=$2 got
	shift 2
	"$@" 2>"$trial/none.err"
	got=$?
	[ "$got" -eq 5 ] && [ "$(wc -l <"$trial/none.err")" -eq 1 ] &&
		grep -q "nothing is recorded: .*$why" "$trial/none.err"
	point "$name: runs all the same" $? "status $got: $(cat "$trial/none.err")"
}
touch "$trial/file"
without ': Not a directory' "a file for a directory" "$crit" run -o "$trial/file" -- sh -c 'exit 5'
for files in 8 12; do
	without 'too few files may be open here' "$files files" \
		bash -c "ulimit -n $files; exec \"\$@\"" - "$crit" run -o "$trial/few" -- sh -c 'exit 5'
done
for wrong in "" --nothing "--level=x true" "--omp=gnu true" "-p 0" "-p 1 true" "--active=x true"; do
	# shellcheck disable=SC2086
	"$crit" run $wrong >/dev/null 2>"$trial/usage.err"
	got=$?
	[ "$got" -eq 2 ]
	point "usage: crit run $wrong" $? "status $got"
done
"$crit" run -o "" -- true 2>"$trial/usage.err"
got=$?
[ "$got" -eq 2 ]
point "usage: crit run -o ''" $? "status $got: $(cat "$trial/usage.err")"
trial_end
