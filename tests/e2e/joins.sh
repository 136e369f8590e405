#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A main thread that waits for the ends of its threads or processes is not one more worker: nobody says that it shares
# their CPUs, or that equal workers have more than the mean.  Uneven ones, those that share a CPU, and those that a lock
# serialises are told as ever.
# usage: joins.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "for the full kernel half"
wants_cpus=1
[ "$(nproc)" -ge 2 ] || {
	echo "skip: needs 2 CPUs"
	exit 77
}

# run NAME PROGRAM…: and what the verdict says of it, in said.
run() {
	name=$1
	launch "$name" run none 0 "${@:2}"
	check_laws "$name"
	said=$(ask 'r["verdict"]["sentence"]')
}

says() {
	[[ $said = *$1* ]]
	point "$name: says \"$1\"" $? "$said"
}

is_silent_of() {
	[[ $said != *$1* ]]
	point "$name: nothing of \"$1\"" $? "$said"
}

# has_serial_part: 300 ms, without which two equal workers have all that is done.
has_serial_part() {
	within "$name: at a time" "$(ask 'r["lost_time"]["units"]')" 2 2
	within "$name: alone, ms" "$(sed -n 's/.* works alone for \([0-9.]*\) s .*/\1/p' <<<"$said" |
		awk '{ print 1000 * $1 }')" 200 400
	is_silent_of " share "
	is_silent_of "times the mean"
	is_silent_of "one after another"
	is_silent_of "blocked"
}

cat >"$trial/join.py" <<'EOF'
import hashlib, threading, time
data = bytes(1 << 20)
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        hashlib.sha256(data)  # without the interpreter's lock
threads = [threading.Thread(target=work, args=(0.5,)) for _ in range(2)]
work(0.3)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
EOF

run threads "$apps/joiners" threads 300 500 500
has_serial_part
run processes "$apps/joiners" processes 300 500 500
has_serial_part
run python "$(realpath "$trial/bin/python3")" "$trial/join.py"
is_silent_of " share "
is_silent_of "times the mean"
says "works alone for"

run uneven "$apps/joiners" threads 0 300 600
says "has 1.3 times the mean work"
is_silent_of "alone"
run both "$apps/joiners" threads 300 300 600
says "has 1.3 times the mean work"
says "works alone for 0."
run helped "$apps/joiners" helped 0 800 800
is_silent_of "times the mean"
is_silent_of "for thread"
run one "$apps/joiners" threads 0 600 80 80 80
says "times the mean work"
run shared /usr/bin/taskset -c "$(taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/')" \
	"$apps/joiners" threads 0 300 300 300
says "3 threads share 1 CPU: that costs"
is_silent_of "times the mean"
run lock "$apps/joiners" lock 0 400 400
within "$name: at a time" "$(ask 'r["lost_time"]["units"]')" 2 2
within "$name: blocked, per cent of the window" \
	"$(ask '100 * r["lost_time"]["blocked_s"] / r["job"]["window_s"]')" 35 55
says "in futex"
trial_end
