#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that run as another user or may not be read: root's run keeps them, another names them.  A rank killed in
# MPI_Init, or later, is named with its signal.
# usage: privileges.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "to become other users and to give critd capabilities"
other=(setpriv --reuid "$trial_nobody" --regid "$trial_nobody" --clear-groups)
ends='[[x["name"], x["reason"], x["role"], x["signal"]] for x in r["process_ends"]]'

# A copy of the programs for ordinary users, critd with capabilities.
mkdir -p "$trial/capable/bin" "$trial/capable/lib"
cp "$build/bin/crit" "$build/bin/critd" "$trial/capable/bin/"
cp -P "$build"/lib/libcrit_* "$trial/capable/lib/"
setcap cap_bpf,cap_perfmon+p "$trial/capable/bin/critd"
chmod -R a+rX "$trial/capable"
install -m 4755 "$apps/burn" "$trial/burn-setuid"
install -m 711 "$apps/burn" "$trial/burn-unreadable"
for flavour in "${flavours[@]}"; do
	install -m 711 "$apps/exchange_only.$flavour" "$trial/exchange-unreadable.$flavour"
done
install -m 711 "$(command -v env)" "$trial/env-unreadable"

# run_as WHOM NAME COMMAND…: by crit run; sets status, dir, report.
run_as() {
	local whom=$1 name=$2
	shift 2
	dir=$trial/$name
	report=$dir/report.json
	if [ "$whom" = root ]; then
		command=("$crit" run -- "$@")
	else
		as_user "$trial_nobody" env "CRIT_DIR=$dir" "$trial/capable/bin/crit" run -- "$@"
		dir=$(mktemp -d "$trial/$name.XXXX") && chown "$trial_nobody" "$dir"
		report=$dir/run/report.json
		command=("${command[@]/"CRIT_DIR=$trial/$name"/CRIT_DIR=$dir/run}")
	fi
	CRIT_DIR=$dir "${command[@]}" >"$trial/$name.out" 2>"$trial/$name.err"
	status=$?
	[ "$whom" = root ] || dir=$dir/run
}

# Root asked for it: burn in its process and child, 200 ms each, as somebody else.
run_as root root-other "${other[@]}" "$apps/burn" 200
said=$(ask 'sum(t["running_s"] for t in r["threads"] if t["name"] == "burn"), r["process_ends"]')
python3 -c "import sys; s, ends = $said; sys.exit(not (s > 0.3 and not ends))"
point "root's run: a program that runs as another user" $? "$said"
"$crit" report "$dir" >/dev/null 2>&1
point "root's run: exit code" $? "$?"

# A user's run: the program is named, and why.
for kind in "setuid user" "unreadable unreadable"; do
	read -r name reason <<<"$kind"
	run_as user "user-$name" sh -c "$apps/burn 50; $trial/burn-$name 100; $apps/burn 50"
	said=$(ask "$ends")
	[ "$said" = "[['burn-$name', '$reason', 'app', None]]" ]
	point "user's run, $name: program and reason" $? "$said"
	as_user "$trial_nobody" "$trial/capable/bin/crit" report "$dir"
	"${command[@]}" >"$trial/report.out" 2>&1
	[ $? -eq 3 ] && grep -q "kernel half of burn-$name" "$trial/report.out"
	point "user's run, $name: exit code and report" $? "$(grep -m 1 'kernel half' "$trial/report.out")"
done

# A program that makes itself unreadable, as those that hold secrets do, is the same program.
run_as user user-secret /usr/bin/python3 -c 'import ctypes, time
ctypes.CDLL(None).prctl(4, 0) # PR_SET_DUMPABLE
for i in range(20):
	time.sleep(0.005)'
said=$(ask "[$ends, lacks(), max(t['switches'] for t in r['threads'] if t['name'] == 'python3') >= 20]")
[ "$said" = "[[], [], True]" ]
point "user's run, not dumpable by its own will: complete" $? "$said"

# An unreadable launcher is none of the result's.  What the shim of an unreadable rank tells stays; UCX, and so MPICH,
# refuses such programs.
for flavour in "${flavours[@]}"; do
	launcher=(env "LD_PRELOAD=$trial/capable/lib/libcrit_pmpi.so" "mpirun.$flavour" -np 2)
	run_as user "launcher-$flavour" "$trial/env-unreadable" "${launcher[@]:1}" "$apps/exchange_only.$flavour"
	said=$(ask "[r['job']['ranks'], lacks(), $ends]")
	[ "$said" = "[2, [], [['env-unreadable', 'unreadable', 'launcher', None]]]" ]
	point "user's run, unreadable launcher, $flavour: complete" $? "$said"
	# After such ends Open MPI 4.1.4's mpirun waits for itself for ever now and then, in PMIx_server_finalize.
	limit_s=40
	launch "killed-$flavour" preload "$flavour" 2 killed_in_init
	has_last_report 10
	said=$(ask "[r['is_complete'], $ends, sum('killed by signal 14 (' in x for x in lacks())]")
	[ "$said" = "[False, [['killed_in_init.$flavour', 'killed_in_init', 'app', 14]], 1]" ]
	point "a rank killed in MPI_Init, $flavour" $? "$said"
	mkdir "$trial/pids-$flavour"
	{
		wait_for 20 test -s "$trial/pids-$flavour/1.pid" && sleep 0.2 &&
			kill -SEGV "$(cat "$trial/pids-$flavour/1.pid")"
	} &
	launch "segv-$flavour" preload "$flavour" 2 ends forever 1 "$trial/pids-$flavour"
	wait
	has_last_report 10
	said=$(ask "[x['what'] for x in r['missing'] if 'before MPI_Finalize' in x['what']]")
	[[ $said = *"first rank 1 (ends.$flavour), killed by signal 11 ("* ]]
	point "a rank killed later, $flavour" $? "$said"
	launch "abort-$flavour" preload "$flavour" 4 ends abort 1
	has_last_report 10
	said=$(ask "[x['what'] for x in r['missing'] if 'before MPI_Finalize' in x['what']]")
	[[ $said = *"; rank 0 (ends.$flavour) called MPI_Abort"* && $said != *killed* ]]
	point "a rank that aborts, $flavour" $? "$said"
	launch "vanish-$flavour" preload "$flavour" 4 ends vanish 0.5
	has_last_report 10
	said=$(ask "[x['what'] for x in r['missing'] if 'before MPI_Finalize' in x['what']]")
	[[ $said = *"; first rank 2 (ends.$flavour), by itself, with status 7"* ]]
	point "a rank that leaves, $flavour" $? "$said"
	# MPICH's launcher kills the rank with the error, too, as any other one
	[ "$flavour" = openmpi ] || continue
	launch "error-$flavour" preload "$flavour" 4 ends error 0.5
	has_last_report 10
	said=$(ask "[x['what'] for x in r['missing'] if 'before MPI_Finalize' in x['what']]")
	[[ $said = *"; first rank 1 (ends.$flavour), by itself, with status "* ]]
	point "a rank whose call has an error, $flavour" $? "$said"
	run_as user "ranks-$flavour" "${launcher[@]}" "$trial/exchange-unreadable.$flavour"
	said=$(ask '[r["job"]["ranks"], len(lacks()), all(x["mpi_wait_s"] > 0.05 for x in r["ranks"]),
		[(x["role"], x["reason"]) for x in r["process_ends"]]]')
	[ "$said" = "[2, 2, True, [('app', 'unreadable'), ('app', 'unreadable')]]" ]
	point "user's run, unreadable ranks, $flavour: the shim's half stays" $? "$said"
	check_laws "unreadable ranks, $flavour"
done
trial_end
