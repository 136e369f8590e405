#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A server that runs already, attached by its own user while it serves: MariaDB under sysbench.
# usage: server.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
for program in mariadbd mariadb-install-db sysbench; do
	if ! command -v "$program" >/dev/null || [ "$(id -u)" -ne 0 ] || ! id mysql >/dev/null 2>&1; then
		echo "skip: needs root, and $program: cmake/deps.sh accept installs it"
		exit 77
	fi
done
mysql=$(id -u mysql)
threads=4

as_mysql() {
	as_user "$mysql" "$@"
	"${command[@]}"
}

query() {
	mariadb --no-defaults -S "$place/socket" -N -e "$1"
}

# load ACTION: writes and reads the output of sysbench
load() {
	sysbench oltp_update_index --db-driver=mysql --mysql-socket="$place/socket" --mysql-user=sbtest --tables=2 \
		--table-size=20000 --threads="$threads" --time=10 "$1" 2>&1
}

# start FLUSH: 1 writes and flushes the log at each commit, as by default; 2 flushes it once a second.
start() {
	place=$trial/server-$1
	mkdir "$place"
	chown mysql "$place"
	as_mysql mariadb-install-db --no-defaults --datadir="$place/data" --skip-test-db >"$trial/install.out" 2>&1
	as_user "$mysql" mariadbd --no-defaults --datadir="$place/data" --socket="$place/socket" --skip-networking \
		--pid-file="$place/pid" --innodb-flush-log-at-trx-commit="$1"
	"${command[@]}" >"$trial/server.out" 2>&1 &
	wait_for 30 query 'select 1' >"$trial/query.out" 2>&1
	query "create database sbtest; create user sbtest@localhost; grant all on sbtest.* to sbtest@localhost"
	load prepare >"$trial/prepare.out"
	pid=$(cat "$place/pid")
}

serves() {
	load run >"$trial/load.$1"
	sed -n 's/.*transactions:.*(\([0-9.]*\) per sec.*/\1/p' "$trial/load.$1"
}

# record: the server serves while it is recorded.
record() {
	dir=$place/run
	report=$dir/report.json
	as_user "$mysql" "CRIT_DIR=$dir" "$trial/capable/bin/crit" run --no-otf2 -p "$pid"
	"${command[@]}" >"$trial/crit.out" 2>"$trial/crit.err" &
	watcher=$!
	wait_for 20 test -d "$dir"
	attached=$(serves attached)
	kill -INT "$watcher"
	wait "$watcher"
}

# disk_cost: seconds that threads waited for the log's disk, directly or through others.
disk_cost() {
	"$crit" waits --json --by=site "$dir" >"$trial/waits" 2>"$trial/waits.err"
	ask 'round(sum(c["cost_s"] for c in r["causes"] if c["kind"] == "outside" and c["before"]
		and c["before"]["system_call"] in ("fdatasync", "pwrite64")), 3)' "$trial/waits"
}

make_capable
start 1
point "the server is there" $((pid > 0 ? 0 : 1)) "process $pid of user $mysql"
trap 'kill "$pid" 2>/dev/null; trial_cleanup' EXIT
alone=$(serves alone)
record
point "crit run -p, as the server's user" $? "$alone transactions a second alone, $attached attached"
has_last_report 20
grep -q 'ignored errors: *0 ' "$trial/load.attached"
point "no transaction failed" $? "$(grep 'ignored errors' "$trial/load.attached")"
[ "$(query 'check table sbtest.sbtest1, sbtest.sbtest2' | grep -c 'status.*OK')" -eq 2 ]
point "both tables are sound" $? ""
check_laws "server"
within "complete call paths, per cent" "$(python3 -S "$trial_lib/paths.py" "$report" complete)" 95 100
# The threads of connections do nearly all: they read a packet, execute, commit and answer.
connection='handle_one_connection'
below connections 80 100 "$connection" 'do_command(THD*, bool)'
# A commit is written to the log and flushed (log_write_up_to, a function of the server's own without a name).
below commits 20 80 "$connection" 'ha_commit_trans(THD*, bool)'
below flushes 5 60 'ha_commit_trans(THD*, bool)' fdatasync
within "the $threads connections' threads, share of CMetric" \
	"$(ask 'round(sum(sorted((t["cmetric_s"] for t in r["threads"]), reverse=True)[:'"$threads"']) /
		sum(t["cmetric_s"] for t in r["threads"]), 3)')" 0.8 1
flushed=$(disk_cost)
kill "$pid"
wait_for 20 test ! -e "$place/pid"
start 2
record
point "crit run -p, of a server that flushes once a second" $? "$attached transactions a second"
has_last_report 20
within "cost of the log's disk, flushed at each commit against once a second" \
	"$(awk "BEGIN { print $flushed / ($(disk_cost) + 0.001) }")" 5 100000
trial_end
