#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The program is cut while its names are read, or its debug data kill their reader: that costs its names, and the report
# says so.
# usage: shrinking_program.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
[ "${#flavours[@]}" -gt 0 ] || {
	echo "skip: no MPI"
	exit 77
}

# Loaded into what reads names: as soon as libdw has the program mapped, it is cut, or its reader dies.
cat >"$trial/cut.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Dwarf Dwarf;
typedef struct Dwfl_Module Dwfl_Module;

/* CUT: the file, and TO: its new size, or "die". */
Dwarf *dwfl_module_getdwarf(Dwfl_Module *module, unsigned long *bias)
{
	Dwarf *(*next)(Dwfl_Module *, unsigned long *) = dlsym(RTLD_NEXT, "dwfl_module_getdwarf");
	Dwarf *dwarf = next(module, bias);

	if (strcmp(getenv("TO"), "die") == 0)
		raise(SIGSEGV);
	if (truncate(getenv("CUT"), atol(getenv("TO"))))
		abort();
	return dwarf;
}
END
gcc -shared -fPIC -o "$trial/cut.so" "$trial/cut.c" -ldl || exit 1

flavour=${flavours[0]}
program=$trial/program
install "$apps/exchange_only.$flavour" "$program"
cp -p "$program" "$program.whole"
launch record preload "$flavour" 2 "$program"
crit_dir=$dir

# again: the program as it was, inode and date included.
again() {
	cat "$program.whole" >"$program"
	touch -r "$program.whole" "$program"
}

# attack NAME TO REASON COMMAND…: its exit code is that of a whole program, the report has all but the names.
attack() {
	local name=$1 to=$2 reason=$3 whole status
	shift 3
	again
	"$@" >"$trial/$name.whole" 2>&1
	whole=$?
	CUT=$program TO=$to LD_PRELOAD=$trial/cut.so "$@" >"$trial/$name.txt" 2>"$trial/$name.err"
	status=$?
	again
	[ "$status" -eq "$whole" ]
	point "$name: exit code" $? "$status, without the attack $whole"
	if [ -n "$reason" ]; then
		grep -q "$program $reason" "$trial/$name.txt"
		point "$name: says so" $? "$reason"
	fi
	left=$(grep -slz "^CUT=$program$" /proc/[0-9]*/environ | wc -l)
	point "$name: leaves no process" "$left" "$left"
}

attack cut 100 "could not be read: it changed while it was read" "$crit" report --json "$crit_dir"
attack deadly die "could not be read: its debug data made the reader fail" "$crit" report --json "$crit_dir"
"$crit" report --json "$crit_dir" >"$trial/whole.json"
for what in cut deadly; do
	differ=$(python3 - "$trial/whole.json" "$trial/$what.txt" <<'END'
import json, sys
whole, attacked = (json.load(open(path)) for path in sys.argv[1:])
print(*[key for key in ("job", "checks", "losses", "efficiency", "ranks", "threads") if whole[key] != attacked[key]])
END
	) || differ="not to be compared"
	point "$what: figures as they were" "$([ -z "$differ" ]; echo $?)" "differ: ${differ:-none}"
done
if "$crit" export otf2 --help >/dev/null 2>&1 && [ -e "$build/otf2" ]; then
	attack export 100 "" "$crit" export otf2 --output "$trial/archive" "$crit_dir"
fi
attack merge 100 "" "mpirun.$flavour" -np 2 "$build/bin/crit-merge.$flavour" -o "$trial/merged" "$crit_dir"
grep -q "could not be read: it changed" "$trial/merged/report.json"
point "merge: says so" $? ""
trial_end
