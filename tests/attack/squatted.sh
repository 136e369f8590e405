#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A stranger takes the names of another user's directories for sockets: that user's programs are recorded all the same.
# What killed collectors left there is removed by the next one, and nothing else.
# usage: squatted.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "to become two other users"
user=$((2000000 + $$))
stranger=$((user + 1))
names=("/tmp/crit-$user" "/dev/shm/crit-$user")
trap 'rm -rf "${names[@]}" "/tmp/crit-$user"-[1-9]; trial_cleanup' EXIT
# by COMMAND…: as the user, with nothing but a home.
by() {
	as_user "$user" "$@"
	env -u XDG_RUNTIME_DIR "${command[@]/#XDG_RUNTIME_DIR=*/CRIT_OTF2=0}"
}
squat() {
	setpriv --reuid "$stranger" --regid "$stranger" --clear-groups mkdir -m 755 "$@"
}
# record NAME: two processes that find the collector by themselves; its directory is the home's NAME.
record() {
	by CRIT_DIR="$trial/home-$user/$1" "$crit" run -- "$apps/burn" 20 >"$trial/$1.out" 2>"$trial/$1.err"
}

squat "${names[@]}"
record squatted
status=$?
[ "$status" -eq 0 ] && [ -s "$trial/home-$user/squatted/report.json" ] && [ -d "/tmp/crit-$user-1" ]
point "two names are taken: recorded, by a third" $? "status $status"
by "$crit" doctor >"$trial/doctor.out" 2>&1
[ "$(grep -c "/crit-$user belongs to user $stranger" "$trial/doctor.out")" = 2 ]
point "crit doctor says which, and by whom" $? "$(grep -m 1 belongs "$trial/doctor.out")"

room=/tmp/crit-$user-1
# Left by one that was killed: a socket nobody listens on, with its lock, and a lock without, or with what was to become
# the socket.  In use: a lock that is held, and the latter with it, and a socket somebody listens on.  Another node's,
# which this one cannot ask.
host=$(uname -n)
by python3 - "$room" "${host:0:24}" <<'PYTHON' &
import fcntl, os, socket, sys, time
room, host = sys.argv[1:]
def bind(name, listens):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind(f"{room}/{name}.sock")
    if listens:
        s.listen()
    return s
def lock(name):
    return open(f"{room}/{name}.sock.lock", "w")
kept = [bind(f"{host}-1", True), bind("elsewhere-3", False), lock("elsewhere-3"), lock(f"{host}-4")]
fcntl.flock(kept[3], fcntl.LOCK_EX)
bind(f"{host}-2", False).close()
lock(f"{host}-2").close()
lock(f"{host}-5").close()
for i in 4, 5:
    open(f"{room}/{host}-{i}.sock.new", "w").close()
os.mkfifo(f"{room}/{host}-6.sock")
open(f"{room}/ready", "w").close()
while os.path.exists(f"{room}/ready"):
    time.sleep(0.05)
PYTHON
holder=$!
wait_for 10 test -e "$room/ready"
record swept
status=$?
rm -f "$room/ready"
wait "$holder"
left=$(cd "$room" && printf '%s ' *-[1-6].sock*)
expected=$(cd "$room" && printf '%s ' "elsewhere-3.sock" "elsewhere-3.sock.lock" "$host-1.sock" "$host-4.sock.lock" \
	"$host-4.sock.new" "$host-6.sock")
[ "$status" -eq 0 ] && [ "$left" = "$expected" ]
point "the next collector removes what is dead, and no more" $? "$left"

squat "/tmp/crit-$user"-{2..9}
rm -rf "$room"
squat "$room"
record all
grep -q "/tmp/crit-$user belongs to user $stranger" "$trial/all.err" && grep -q XDG_RUNTIME_DIR "$trial/all.err"
point "all names are taken: one reason, and what to do" $? "$(cat "$trial/all.err")"
trial_end
