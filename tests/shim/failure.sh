#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The shim switched off, or without what it needs: the program is unharmed, and a line says why.
# usage: failure.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"

# results NAME: how many results the ranks of that launch wrote; 16 when all is well.
results() {
	cat "$trial/$1".rank.* | grep -c ^result
}

# Without critd beside it and without one installed.
lonely=$trial/lonely
mkdir "$lonely"
cp -P "$build"/lib/libcrit_*.so* "$lonely/"

for flavour in "${flavours[@]}"; do
	export CRIT_DISABLE=1
	launch "disabled-$flavour" preload "$flavour" 2 every_call "$trial/disabled-$flavour.rank"
	unset CRIT_DISABLE
	[ "$status" -eq 0 ] && [ "$(results "disabled-$flavour")" -eq 16 ] && [ ! -e "$dir" ] &&
		[ ! -e "$XDG_RUNTIME_DIR/crit" ]
	point "$flavour: CRIT_DISABLE" $?

	shim=$lonely/libcrit_pmpi.so launch "lonely-$flavour" preload "$flavour" 2 every_call \
		"$trial/lonely-$flavour.rank"
	[ "$status" -eq 0 ] && [ "$(results "lonely-$flavour")" -eq 16 ] && [ ! -e "$dir" ] &&
		grep -q "/every_call.$flavour: cannot find critd" "$XDG_RUNTIME_DIR/crit/crit.log"
	point "$flavour: no critd" $?
	rm -rf "$XDG_RUNTIME_DIR/crit"

	if [ "$(id -u)" -eq 0 ]; then
		compose shim "$flavour" 2 every_call "$trial/unwritable-$flavour.rank"
		CRIT_DIR=/proc/nowhere "${command[@]}" >"$trial/unwritable.out" 2>&1
		status=$?
		[ "$status" -eq 0 ] && [ "$(results "unwritable-$flavour")" -eq 16 ] &&
			grep -q "/every_call.$flavour: cannot write the recording in /proc/nowhere" \
				"$trial/home-$trial_nobody/crit/crit.log"
		point "$flavour: unwritable directory" $?
	fi
done

# One that never answers: MPI_Init waits for it at its end, and then no more.
mkdir -p "$trial/mute/lib" "$trial/mute/bin"
cp -P "$build"/lib/libcrit_*.so* "$trial/mute/lib/"
printf '#!/bin/sh\nexec sleep 20\n' >"$trial/mute/bin/critd"
printf '#!/bin/sh\nexit 0\n' >"$trial/mute/bin/crit"
chmod +x "$trial/mute/bin/critd" "$trial/mute/bin/crit"
for flavour in "${flavours[@]}"; do
	shim=$trial/mute/lib/libcrit_pmpi.so launch "mute-$flavour" preload "$flavour" 2 every_call \
		"$trial/mute-$flavour.rank"
	[ "$status" -eq 0 ] && [ "$(results "mute-$flavour")" -eq 16 ] &&
		[ "$(grep -c "/every_call.$flavour: critd at .* has not answered for 5 s, .* see critd.log" \
			"$XDG_RUNTIME_DIR/crit/crit.log")" -eq 2 ]
	point "$flavour: a critd that never answers" $? "$(tail -n 1 "$XDG_RUNTIME_DIR/crit/crit.log")"
	rm -rf "$XDG_RUNTIME_DIR/crit"
done

# Programs without MPI: nothing is opened, nothing is started.
rm -rf "$XDG_RUNTIME_DIR/crit"
LD_PRELOAD=$shim bash -c 'ls / >/dev/null; python3 -c "print(1)"' >"$trial/plain.out" 2>&1
status=$?
[ "$status" -eq 0 ] && [ "$(cat "$trial/plain.out")" = 1 ] && [ ! -e "$XDG_RUNTIME_DIR/crit" ]
point "programs without MPI" $?

# A plug-in may have functions of its own by the names other compilers give to MPI in Fortran.
[ "$(LD_PRELOAD=$shim "$apps/plugin_host" "$apps/own_names.so" 2>&1)" = "sum 42" ]
point "a plug-in's own mpi_bcast" $?
trial_end
