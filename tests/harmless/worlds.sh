#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that shells and interpreters start, that start others, that meet by a port.
# usage: worlds.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/counted.sh
. "$(dirname "$0")/../lib/counted.sh"
trial_begin "$1"
three_on_any

# printed NAME: what the program and its MPI said, without addresses and codes, which differ from run to run.
printed() {
	sed -nE 's/0x[0-9a-f]*//g; s/^Abort\([0-9]*\)/Abort/; /^(sum|parent|child|[01]:|Abort|internal_|MPID_)/p' \
		"$trial/$1.out" "$trial/$1.err" | sort
}

# launch_both NAME MODE FLAVOUR RANKS PROGRAM…: bare and under crit; both print the same and end alike.
launch_both() {
	local name=$1 mode=$2 bare_status
	shift 2
	launch "bare-$name" bare "$@"
	bare_status=$status
	launch "$name" "$mode" "$@"
	diff <(printed "bare-$name") <(printed "$name") >"$trial/diff" &&
		printed "$name" | grep -q . && [ $((status == 0)) -eq $((bare_status == 0)) ]
	point "$name: prints the same" $? "status $status, bare $bare_status; $(head -9 "$trial/diff" | xargs)"
	has_last_report 10
	point "$name: report" $? "$(sed -n 1p "$dir/report.txt")"
}

# check_two NAME: a report of two ranks, each of which made the plug-in's calls once.
check_two() {
	[ "$(ask '[x["rank"] for x in r["ranks"]]')" = "[0, 1]" ] &&
		[ "$(recorded "$1" | grep -c 'count Allreduce 1$')" -eq 2 ]
	point "$1: two ranks, each call once" $?
	check_laws "$1"
}

# check_spawned NAME FLAVOUR: two worlds of one run, or one where the MPI cannot spawn.
check_spawned() {
	local worlds="[(0, 0), (1, 0), (1, 1)]" merges="[3]"
	if [ "$status" -ne 0 ]; then
		worlds="[(0, 0)]" merges="[]"
	fi
	[ "$(ask '[(x["world"], x["rank"]) for x in r["ranks"]]')" = "$worlds" ] &&
		[ "$(ask '[x["visits"] for x in r["mpi_calls"] if x["name"] == "MPI_Comm_spawn"]')" = "[1]" ] &&
		[ "$(ask '[x["visits"] for x in r["mpi_calls"] if x["name"] == "MPI_Intercomm_merge"]')" = "$merges" ]
	point "$1: one report of the worlds $worlds" $?
	[ "$2" != openmpi ] || [ "$status" -eq 0 ]
	point "$1: $2 can spawn, or cannot as Debian's MPICH 4.0.2" $? "status $status"
	check_laws "$1"
}

cat >"$trial/host.py" <<END
import ctypes, os, sys
total = ctypes.CDLL(sys.argv[1], os.RTLD_NOW | os.RTLD_LOCAL).plugin_run()
sys.stdout.write(f"sum {total}\\n")
END
cat >"$trial/wrapper.py" <<END
import subprocess, sys
sys.exit(subprocess.call(sys.argv[1:], close_fds=False))
END

for flavour in "${flavours[@]}"; do
	plugin=$apps/plugin.$flavour.so
	python=$(command -v python3)
	launch_both "python-$flavour" preload "$flavour" 2 "$python" "$trial/host.py" "$plugin"
	check_two "python-$flavour"
	launch_both "wrapper-$flavour" preload "$flavour" 2 "$python" "$trial/wrapper.py" \
		"$apps/plugin_host" "$plugin"
	check_two "wrapper-$flavour"
	launch_both "shell-$flavour" preload "$flavour" 2 /bin/sh -c \
		"ls / >/dev/null; exec $apps/plugin_host $plugin"
	check_two "shell-$flavour"
	launch_both "child-$flavour" run "$flavour" 2 /bin/sh -c "$apps/plugin_host $plugin; true"
	check_two "child-$flavour"
	for mode in preload run; do
		name=spawn-$flavour-$mode
		launch_both "$name" "$mode" "$flavour" 1 spawn
		check_spawned "$name" "$flavour"
	done
done
# a Debian MPICH has no ports
if [ -x "$apps/port.openmpi" ]; then
	launch_both port preload openmpi 2 port
	[ "$(ask '[x["visits"] for x in r["mpi_calls"] if x["name"] in ("MPI_Comm_accept",
		"MPI_Comm_connect")]')" = "[1, 1]" ]
	point "port: accept and connect" $?
	check_laws port
fi
trial_end
