#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Who may do what: users without privileges, with file capabilities, beside each other, and hostile ones.
# usage: users.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
first=$trial_nobody
second=65533
needs_root "to become other users and to give critd capabilities"

# A copy of the programs for ordinary users, critd with capabilities; fills capable.
install_capable() {
	capable=$trial/capable
	mkdir -p "$capable/bin" "$capable/lib"
	cp "$build/bin/crit" "$build/bin/critd" "$capable/bin/"
	cp -P "$build"/lib/libcrit_* "$capable/lib/"
	setcap cap_bpf,cap_perfmon+p "$capable/bin/critd"
	chmod -R a+rX "$capable"
}

# The socket of the collector that user has, once there is one.
socket_of() {
	find "$trial/home-$1/crit" -name '*.sock' 2>/dev/null | head -n 1
}

has_socket() {
	[ -n "$(socket_of "$1")" ]
}

# The collectors of runs before this one have gone.
has_no_socket() {
	! has_socket "$1"
}

critd_of() {
	pgrep -u "$1" -f "^[^ ]*critd .*$trial"
}

unprivileged() {
	launch "plain-$1" shim "$1" 2 barrier_imbalance -n 20 -p -m 30:10
	point "no privileges, $1: program ends well" "$status" ""
	head -n 12 "$dir/report.txt" | grep -q 'setcap'
	point "no privileges, $1: report names the command that mends it" $? \
		"$(grep -m 1 setcap "$dir/report.txt")"
	within "no privileges, $1: share(0)" "$(ask 'share(0)')" 0.78 0.88
}

with_capabilities() {
	local saved=$shim
	shim=$capable/lib/libcrit_pmpi.so
	launch "capable-$1" shim "$1" 2 barrier_imbalance -n 20 -p -m 30:10
	shim=$saved
	point "file capabilities, $1: program ends well" "$status" ""
	[ "$(ask 'r["job"]["mode"]')" = full ]
	point "file capabilities, $1: full mode" $? "$(ask 'r["job"]["mode"]')"
	within "file capabilities, $1: share(0)" "$(ask 'share(0)')" 0.78 0.88
	check_laws "file capabilities, $1"
}

# Another user while the first user's run goes on.
neighbours() {
	local flavour=$1 saved=$shim launcher
	shim=$capable/lib/libcrit_pmpi.so
	wait_for 10 has_no_socket "$first"
	compose shim "$flavour" 2 barrier_imbalance -n 100 -p -m 30:10
	shim=$saved
	dir=$trial/neighbour-$flavour
	CRIT_DIR=$dir "${command[@]}" &
	launcher=$!
	wait_for 5 has_socket "$first"
	sleep 0.5
	as_user "$second" "$apps/hostile" "$(socket_of "$first")" key good
	"${command[@]}" >"$trial/neighbour.out" 2>&1
	grep -q '^refused' "$trial/neighbour.out"
	point "second user, $flavour: cannot reach the socket" $? "$(tail -n 1 "$trial/neighbour.out")"
	# the collector's own judgement, not only the directory's
	chmod 711 "$trial/home-$first" "$trial/home-$first/crit"
	chmod 666 "$(socket_of "$first")"
	"${command[@]}" >"$trial/neighbour.out" 2>&1
	grep -q '^refused' "$trial/neighbour.out"
	point "second user, $flavour: is turned away by critd" $? "$(tail -n 1 "$trial/neighbour.out")"
	chmod 700 "$trial/home-$first" "$trial/home-$first/crit"
	as_user "$second" sh -c "cat '$dir'/*.crit"
	! "${command[@]}" >"$trial/neighbour.out" 2>&1
	point "second user, $flavour: cannot read the recording" $? "$(tail -n 1 "$trial/neighbour.out")"
	wait "$launcher"
	point "second user, $flavour: first user's run ends well" $? ""
	report=$dir/report.json
	within "second user, $flavour: first user's share(0)" "$(ask 'share(0)')" 0.78 0.88
	check_laws "second user, $flavour: first user's"
}

# A member that becomes somebody else leaves the run and is never looked at again.
expulsion() {
	local what=$1 name=$2
	shift 2
	as_user "$first" env "CRIT_DIR=$trial/expel-$name" "$capable/bin/crit" run -- \
		sh -c "$apps/burn 50; $* ; $apps/burn 50"
	"${command[@]}" >"$trial/expel-$name.out" 2>&1
	python3 "$trial_lib/recording.py" "$trial/expel-$name"/*.crit pids >"$trial/expel-$name.pids"
	status=$?
	[ $status -eq 0 ] && grep -q '^[1-9][0-9]* expelled' "$trial/expel-$name.pids"
	point "$what: expelled, and nothing recorded of it afterwards" $? \
		"$(head -n 3 "$trial/expel-$name.pids" | tr '\n' ' ')"
}

expulsions() {
	local child
	install -m 4755 "$apps/burn" "$trial/burn-setuid"
	expulsion "setuid program" setuid "$trial/burn-setuid 100"
	child=$(sed -n 's/.*child \([0-9]*\) euid 0$/\1/p' "$trial/expel-setuid.out")
	# as a stranger that has a member's CPU it may be named
	python3 "$trial_lib/recording.py" "$trial"/expel-setuid/*.crit members >"$trial/expel-setuid.members"
	[ -n "$child" ] && [ -s "$trial/expel-setuid.members" ] &&
		! grep -qx "$child" "$trial/expel-setuid.members"
	point "setuid program: nor of the child it forks" $? "child $child"
	if command -v ping >/dev/null; then
		expulsion "ping" ping "ping -c 1 127.0.0.1"
	fi
	expulsion "su" su "su -c true </dev/null"
}

# One collector, many wicked ranks; then an honest run with the same collector.
hostile_ranks() {
	local mode key socket critd outcome saved=$shim
	shim=$capable/lib/libcrit_pmpi.so
	wait_for 10 has_no_socket "$first"
	compose shim "${flavours[0]}" 2 ends normal 12
	shim=$saved
	CRIT_DIR=$trial/hostile CRIT_RUN=hostile "${command[@]}" >/dev/null 2>&1 &
	wait_for 5 has_socket "$first"
	sleep 0.5
	socket=$(socket_of "$first")
	critd=$(critd_of "$first")
	for mode in unsealed hugetlb corrupt geometry fifo plain flood; do
		key=hostile
		[ $mode = fifo ] && key=hostile-fifo
		as_user "$first" "$apps/hostile" "$socket" $key $mode "$trial/home-$first"
		timeout 20 "${command[@]}" >"$trial/hostile.out" 2>&1
		outcome=$(tail -n 1 "$trial/hostile.out")
		[ -n "$critd" ] && [ -d "/proc/$critd" ]
		point "hostile rank, $mode: critd lives" $? "$outcome"
		case $mode in
		corrupt) ;; # let in, its ring is left alone: see the notes
		*)
			grep -q '^refused' "$trial/hostile.out"
			point "hostile rank, $mode: is refused" $? "$outcome"
			;;
		esac
	done
	wait
	python3 "$trial_lib/recording.py" "$trial"/hostile/*.crit notes >"$trial/hostile.notes"
	grep -qE '^[45] ' "$trial/hostile.notes"
	point "hostile rank: refusals are on record" $? "$(grep -cE '^[45] ' "$trial/hostile.notes") notes"
	report=$trial/hostile/report.json
	within "hostile rank: laws of the run it sat in" "$(ask 'checks()')" 0 1e-9
}

install_capable
for flavour in "${flavours[@]}"; do
	unprivileged "$flavour"
done
for flavour in "${flavours[@]}"; do
	with_capabilities "$flavour"
	neighbours "$flavour"
done
expulsions
hostile_ranks
trial_end
