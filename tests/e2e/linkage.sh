#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs into which no shim can be loaded: crit run, the report and doctor say so; of others they do not.  So does
# a report of programs with a runtime inside, which no shim sees.
# usage: linkage.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "for a set-user-ID program and capabilities"
work=$trial/work
mkdir -m 777 "$work"
install -m 4755 "$apps/burn" "$trial/burn-setuid"
install "$apps/burn" "$trial/burn-capable"
setcap cap_net_raw+p "$trial/burn-capable"
install "$apps/burn" "$trial/burn-foreign"
printf '\x16\x00' | dd of="$trial/burn-foreign" bs=1 seek=18 conv=notrunc status=none # e_machine: S/390

# unseen NAME SENTENCE COMMAND…: under crit run of an ordinary user; SENTENCE "": nothing is said.  That nothing at all
# is recorded is said of programs with more rights than the user, and of these alone.
unseen() {
	local name=$1 sentence=$2 said rows cut
	shift 2
	dir=$(mktemp -u "$work/XXXX")
	report=$dir/report.json
	as_user "$trial_nobody" env "CRIT_DIR=$dir" "PATH=$apps:$PATH" "$crit" run "$@"
	"${command[@]}" >"$trial/out" 2>"$trial/err"
	said=$(grep '^crit: .*cannot be loaded into it' "$trial/err")
	rows=$(ask 'sum("command line: it" in x["what"] for x in r["missing"])')
	cut=$(grep -c "nor anything else of it" <<<"$said")
	cut+=", $(ask 'sum("nothing of it is recorded" in x["what"] for x in r["missing"])')"
	if [ -z "$sentence" ]; then
		[ -z "$said" ] && [ "$rows" = 0 ]
	else
		[[ $said == "crit: $sentence: libcrit_pmpi.so cannot be loaded into it, so its "* ]] &&
			[ "$rows" = 1 ] && [ "$cut" = "${is_privileged:-0}, ${is_privileged:-0}" ]
	fi
	point "$name" $? "${said:-nothing}, $rows in the report"
}

unseen "static" "$apps/phases_static is statically linked" -- "$apps/phases_static"
unseen "static, found in PATH" "phases_static is statically linked" -- phases_static
unseen "static, of a launcher" "$apps/phases_static is statically linked" -- env A=b "$apps/phases_static"
is_privileged=1
unseen "set-user-ID" "$trial/burn-setuid is set-user-ID or set-group-ID" -- "$trial/burn-setuid" 10
unseen "capabilities" "$trial/burn-capable has file capabilities" -- "$trial/burn-capable" 10
unset is_privileged
CRIT_DIR=$trial/quiet CRIT_QUIET=1 "$crit" run -- "$apps/phases_static" >"$trial/out" 2>"$trial/err"
point "static, CRIT_QUIET=1: nothing is said" "$(wc -c <"$trial/err")" "$(cat "$trial/err")"
unseen "dynamic" "" -- "$apps/phases_pie"
unseen "a script and no program" "" -- sh -c "$apps/burn 10" /dev/null "$trial" /nonexistent/x
unseen "static, no shim wanted" "" --no-shim -- "$apps/phases_static"

# inside NAME COUNT PROGRAM: a report says of so many copies of libgomp that they are part of the program.
inside() {
	local rows
	dir=$trial/inside-$1
	report=$dir/report.json
	OMP_NUM_THREADS=2 OMP_WAIT_POLICY=active "$crit" run -o "$dir" -- "$3" 10 1 40 >"$trial/out" 2>&1
	rows=$(ask 'sum("libgomp, which is part of '"${3##*/}"': its time" in x["what"] for x in r["missing"])')
	[ "$rows" = "$2" ]
	point "libgomp, $1" $? "$rows in the report"
}
if [ -x "$apps/uneven_loop-gnu" ]; then
	inside "in the program" 1 "$apps/uneven_loop-gnu_inside"
	inside "shared" 0 "$apps/uneven_loop-gnu"
fi

# examine NAME STATUS PATTERN PROGRAM
examine() {
	as_user "$trial_nobody" "$crit" doctor "$4"
	"${command[@]}" >"$trial/out" 2>&1
	[ "$2" = "$(grep -c MISSING <(grep ' program ' "$trial/out"))" ] && grep -qE "$3" "$trial/out"
	point "doctor, $1" $? "$(grep ' program ' "$trial/out")"
}
examine dynamic 0 "ok +program +$apps/phases_pie loads preloaded libraries" "$apps/phases_pie"
examine static 1 'MISSING program .* is statically linked: libcrit_pmpi.so cannot' "$apps/phases_static"
examine "set-user-ID" 1 'MISSING program .* is set-user-ID' "$trial/burn-setuid"
examine foreign 1 'MISSING program .* is built for another machine' "$trial/burn-foreign"
examine "no such program" 1 'MISSING program +/nonexistent: No such file' /nonexistent

# A program with GCC's address sanitizer, which wants to be the first library, runs as it does without crit, and with
# the options that it was given.
cat >"$trial/sanitized.c" <<END
#include <stdio.h>
#include <stdlib.h>
int main(void) { return printf("%s\n", getenv("ASAN_OPTIONS")) > 0 ? 3 : 4; }
END
gcc -fsanitize=address -o "$work/sanitized" "$trial/sanitized.c"
said=$(ASAN_OPTIONS=detect_leaks=0 CRIT_DIR=$work/sanitized.crit "$crit" run -- "$work/sanitized" 2>"$trial/err")
status=$?
[ $status = 3 ] && [ "$said" = detect_leaks=0:verify_asan_link_order=0 ]
point "address sanitizer" $? "status $status, \"$said\"; $(grep -m1 ASan "$trial/err")"
trial_end
