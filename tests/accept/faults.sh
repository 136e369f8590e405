#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Faults at random instants: each run has a report, or one line says why not; the program's result and status are those
# without crit; nothing is left behind.  The line: on stderr, in NO-REPORT.txt, or in the log that crit doctor shows.
# usage: faults.sh BUILD-DIRECTORY [SEED]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
shopt -s nullglob dotglob
seed=${2:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$seed
rounds=3
work_s=1
span_ms=1500
kinds=(kill-rank kill-all kill-critd kill-worker kill-watcher kill-finisher kill-critd-finisher stop-critd abort exit
	segv timeout disk-1m disk-200k disk-64k read-only missing fsize nofile stack renamed replaced removed truncated)
needs_root "to mount small file systems and to become an ordinary user"

# For the ordinary user: a critd with capabilities.
make_capable
mkdir -m 1777 "$trial/user"

# Sets delay_s: an instant in the run, Finalize and the finisher's work included.
draw_delay() {
	local ms=$((RANDOM % span_ms))
	printf -v delay_s '%d.%03d' $((ms / 1000)) $((ms % 1000))
}

# What the program is asked to do.
ending_of() {
	case $1 in
	abort | exit | segv) echo "$1" ;;
	timeout) echo forever ;;
	*) echo normal ;;
	esac
}

# Fills limits[]: what stands before the launcher.
limits_of() {
	case $1 in
	timeout) limits=(timeout -s TERM 60) ;; # strike makes it pass
	fsize) limits=(bash -c 'ulimit -f 64; exec "$@"' limit) ;;
	nofile) limits=(bash -c 'ulimit -n 40; exec "$@"' limit) ;;
	stack) limits=(bash -c 'ulimit -s 64; exec "$@"' limit) ;;
	*) limits=() ;;
	esac
}

# Sets dir, and home, in which it lies: usually a fresh one; else a place that fails.
place_of() {
	home=$base/$name
	mkdir -m 1777 "$home"
	case $1 in
	disk-1m) mount -t tmpfs -o size=1m,mode=1777 tmpfs "$home" ;;
	disk-200k) mount -t tmpfs -o size=200k,mode=1777 tmpfs "$home" ;;
	disk-64k) mount -t tmpfs -o size=64k,mode=1777 tmpfs "$home" ;;
	read-only) mount -t tmpfs -o size=64k,ro tmpfs "$home" ;;
	esac
	dir=$home/run
	[ "$1" != missing ] || dir=/proc/nowhere/run
}

# Fills command[] with a run of the program: MODE, of bare, root, user, root-run, user-run.
prepare() {
	local mode=$1 preload=(-x "LD_PRELOAD=$shim") launch
	local own=("$apps/ends.$flavour" "$(ending_of "$kind")" "$work_s" "$pids")
	[[ $mode != user* ]] || preload=(-x "LD_PRELOAD=$trial/capable/lib/libcrit_pmpi.so")
	[ "$flavour" = openmpi ] || preload=(-genv "${preload[1]%%=*}" "${preload[1]#*=}")
	launch=("mpirun.$flavour" -np 2)
	case $mode in
	bare) command=("${limits[@]}" "${launch[@]}" "${own[@]}") ;;
	root | user) command=("${limits[@]}" "${launch[@]}" "${preload[@]}" "${own[@]}") ;;
	root-run) command=("${limits[@]}" "$crit" run -- "${launch[@]}" "${own[@]}") ;;
	user-run) command=("${limits[@]}" "$trial/capable/bin/crit" run -- "${launch[@]}" "${own[@]}") ;;
	esac
	case $mode in
	user*) as_user "$trial_nobody" env "XDG_RUNTIME_DIR=$sockets" "${command[@]}" ;;
	*) command=(env "XDG_RUNTIME_DIR=$sockets" "${command[@]}") ;;
	esac
}

ranks() {
	pgrep -f "^$apps/ends\.$flavour .*$pids"
}

launchers() {
	pgrep -f "^(/[^ ]*/)?(mpirun|hydra_pmi_proxy)[^ ]* .*$pids"
}

critds() {
	pgrep -f "socket-path $sockets/crit/"
}

finishers() {
	finishers_of "$dir"
}

# finisher worker|watcher: the child, or its parent.
finisher() {
	local all pid is_child
	all=$(finishers)
	for pid in $all; do
		grep -qx "$(ps -o ppid= -p "$pid" | tr -d ' ')" <<<"$all"
		is_child=$?
		[[ $1 = worker && $is_child -eq 0 || $1 = watcher && $is_child -eq 1 ]] && echo "$pid"
	done
}

kill_those() {
	[ "$#" -eq 0 ] || kill -KILL "$@" 2>/dev/null
}

# The blow, by kind.
# shellcheck disable=SC2046
strike() {
	local stopped=()
	case $kind in
	kill-rank) kill_those $(ranks | shuf -n 1 --random-source=<(yes "$seed")) ;;
	kill-all) kill_those $(launchers) $(ranks) ;;
	timeout) pkill -TERM -f "^timeout -s TERM 60 .*$pids" ;; # which it passes on to its group
	kill-critd) kill_those $(critds) ;;
	kill-worker) kill_those $(finisher worker) ;;
	kill-watcher) kill_those $(finisher watcher) ;;
	kill-finisher) kill_those $(finishers) ;;
	kill-critd-finisher) kill_those $(critds) $(finishers) ;;
	stop-critd)
		mapfile -t stopped < <(critds)
		[ "${#stopped[@]}" -eq 0 ] || kill -STOP "${stopped[@]}"
		sleep 1
		[ "${#stopped[@]}" -eq 0 ] || kill -CONT "${stopped[@]}"
		;;
	renamed) mv "$dir" "$home/moved" ;;
	replaced)
		mkdir "$home/other"
		mv "$dir" "$home/moved"
		ln -s "$home/other" "$dir"
		;;
	removed) rm -rf "$dir" ;;
	truncated) truncate -s 0 "$dir"/*.crit ;;
	esac 2>/dev/null
}

has_recording() {
	local found=("$dir"/*.crit)
	[ "${#found[@]}" -gt 0 ]
}

has_pids() {
	[ -s "$pids/0.pid" ] && [ -s "$pids/1.pid" ]
}

# run_once MODE: sets status; the blow falls delay_s after the recording began, or, bare, after the ranks did.
run_once() {
	local mode=$1 begun=has_recording program
	[ "$mode" != bare ] || begun=has_pids
	[[ $kind != missing && $kind != read-only && $kind != disk-* ]] || begun=true
	rm -rf "$pids"
	mkdir -m 1777 "$pids"
	limits_of "$kind"
	prepare "$mode"
	CRIT_DIR=$dir timeout -s KILL 60 "${command[@]}" >"$out" 2>"$out.err" &
	program=$!
	if wait_for 10 "$begun"; then
		sleep "$delay_s"
		[[ $mode = bare && $kind != kill-rank && $kind != kill-all && $kind != timeout ]] || strike
	fi
	wait "$program" 2>/dev/null
	status=$?
	grep -q '^result 3$' "$out" && has_result=1 || has_result=0
}

# Sets key: runs without crit of the same key are the same.  Blows that hit what is of crit are none to them.
key_of() {
	case $kind in
	kill-rank | kill-all | abort | exit | segv | timeout | fsize | nofile | stack) key=$kind-$flavour ;;
	*) key=normal-$flavour ;;
	esac
}

# Sets answer: status and result; of an end by force, launchers pass the last line on or not.
answer_of() {
	case $kind in
	kill-rank | kill-all | timeout | abort | exit | segv) answer=$status ;;
	*) answer=$status/$has_result ;;
	esac
}

# The reference: what runs without crit answer; some launchers answer this or that by chance, and a blow may come
# after the end.
is_as_bare() {
	local its i tries=2
	answer_of
	its=$answer
	# of a SIGTERM MPICH's launcher may make a status of 0
	[ "$status" -ne 0 ] || [ "$has_result" -eq 1 ] || [ "$kind" = timeout ] || return 1
	[[ $kind != kill-rank && $kind != kill-all && $kind != timeout ]] || tries=12
	for ((i = 0; i < tries; i++)); do
		[[ " ${bare[$key]:-} " = *" $its "* ]] && return 0
		draw_delay
		out=$trial/bare
		run_once bare
		answer_of
		bare[$key]="${bare[$key]:-} $answer"
	done
	[[ " ${bare[$key]} " = *" $its "* ]]
}
declare -A bare

where_is() {
	local place
	for place in "$home/moved" "$dir"; do
		[ -d "$place" ] && [ ! -L "$place" ] && echo "$place" && return
	done
}

has_report() {
	local place
	place=$(where_is)
	[ -n "$place" ] && [ -s "$place/report.txt" ] && python3 -m json.tool "$place/report.json" >/dev/null 2>&1
}

# Sets said: the one line there is, and its place.
has_word() {
	local place
	place=$(where_is)
	said=$(grep -hE '^crit( run)?: ' "$out.err" | tail -n 1)
	if [ -n "$said" ] && [[ $said != "crit: report in"* && $said != *"report follows in"* ]]; then
		said="stderr: $said"
	elif [ "$kind" = removed ] && [[ $said = "crit: report in"* ]]; then
		said="stderr, before the blow: $said" # said only of a report that is there
	elif [ -n "$place" ] && [ -s "$place/NO-REPORT.txt" ]; then
		said="NO-REPORT.txt: $(head -n 1 "$place/NO-REPORT.txt")"
	else
		said=$(XDG_RUNTIME_DIR=$sockets as_log)
	fi
	[ -n "$said" ]
}

as_log() {
	local line
	line=$(tail -q -n 1 "$sockets/crit/crit.log" 2>/dev/null)
	[ -z "$line" ] || echo "log: $line"
}

has_outcome() {
	has_report || has_word
}

# A line that promises a report is true.
is_true() {
	! grep -q '^crit: report in' "$out.err" || [ "$kind" = removed ] || has_report
}

judge() {
	local outcome
	wait_for 15 has_outcome
	outcome=$?
	is_true || outcome=1
	if has_report; then
		said="report: $(head -n 1 "$(where_is)/report.txt")"
	else
		has_word
	fi
	said=${said:-nothing, nowhere}
	said=${said//"$trial/"/}
	point "$1 after $delay_s s" "$outcome" "${said:0:150}"
	if [ "$outcome" -ne 0 ]; then
		sed 's/^/      /' "$out.err" | tail -n 5
		find "$home" -ls | sed 's/^/      /'
	fi
}

# One fault; two points.
fault() {
	local mode=$2 its
	kind=$1
	base=$trial
	number=$((number + 1))
	name=f$number
	[[ $mode != user* ]] || base=$trial/user
	# Open MPI waits for ever for a rank that the one limit killed, and its mpirun dies of the other
	[[ $kind != fsize && $kind != stack ]] || flavour=mpich
	sockets=$trial/s$number
	mkdir -m 700 "$sockets"
	[[ $mode != user* ]] || chown "$trial_nobody:$trial_nobody" "$sockets"
	pids=$trial/p$number
	place_of "$kind"
	draw_delay
	out=$trial/out-$name
	run_once "$mode"
	judge "$kind, $flavour, $mode"
	its="$status, result $has_result"
	key_of
	is_as_bare
	point "$kind, $flavour, $mode: status" $? "$its; without crit:${bare[$key]:-}"
	[[ $kind != kill*finisher || $mode = *-run ]] || orphans+=" $name "
}

# Processes of any run here.
leftovers() {
	pgrep -af "$trial/" | grep -v "$(basename "$0")"
}

has_no_leftovers() {
	[ -z "$(leftovers)" ]
}

echo "seed $seed"
modes=(root user root-run user-run)
number=0
orphans=
for ((round = 0; round < rounds; round++)); do
	for ((i = 0; i < ${#kinds[@]}; i++)); do
		flavour=${flavours[$(((i + i / 4 + round) % ${#flavours[@]}))]}
		fault "${kinds[i]}" "${modes[$(((i + round) % 4))]}"
	done
done
wait_for 20 has_no_leftovers
point "no process stays" $? "$(leftovers | head -n 3)"
# where both halves of the finisher were killed, nobody is left to remove a file that no process holds any more
locks=("$trial"/s*/crit/*.lock)
for lock in "$trial"/f*/run/.finish.lock "$trial"/user/f*/run/.finish.lock; do
	run=${lock%/run/*}
	[[ $orphans = *" ${run##*/} "* ]] || locks+=("$lock")
done
point "no lock stays" $((${#locks[@]} > 0)) "${locks[*]#"$trial"/}"
trial_end
