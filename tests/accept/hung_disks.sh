#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A file system that hangs stops its own run's writing only: one collector, one run on a frozen disk, another elsewhere.
# usage: hung_disks.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
disk=$trial/disk
export CRIT_SOCKET=$trial/critd.sock
unset CRIT_OTF2
has_disk() {
	truncate -s 64M "$trial/image" && mkfs.ext4 -q "$trial/image" &&
		mkdir "$disk" && mount -o loop "$trial/image" "$disk"
} 2>"$trial/disk.err"
if [ "$(id -u)" -ne 0 ] || ! has_disk; then
	echo "skip: needs root and a loop device, to mount a file system that can be frozen"
	exit 77
fi
thaw() {
	fsfreeze -u "$disk" 2>"$trial/thaw.err"
}
trap 'thaw; kill "$critd" 2>/dev/null; trial_cleanup' EXIT
"$build/bin/critd" --socket-path "$CRIT_SOCKET" --service 2>"$trial/critd.err" &
critd=$!
wait_for 10 test -S "$CRIT_SOCKET"

# record NAME DIRECTORY FILE: a run that ends once there is the file.
record() {
	CRIT_DIR=$2 CRIT_RUN=$1 "$crit" run -- sh -c "sleep 0.1; until [ -e '$3' ]; do sleep 0.02; done" \
		>"$trial/$1.out" 2>"$trial/$1.err"
}
size_of() {
	stat -c %s "$1"/*.crit 2>"$trial/stat.err"
}
has_grown() {
	local size
	size=$(size_of "$1") && [ "$size" -gt "$2" ]
}
complete='r["is_complete"], len(r["threads"]) > 0'

record frozen "$disk/run" "$trial/is_over" &
frozen=$!
wait_for 10 has_grown "$disk/run" 20000
fsfreeze -f "$disk"
point "the first run records, and its disk freezes" $? "$(size_of "$disk/run") bytes"

record other "$trial/other" "$CRIT_SOCKET"
status=$?
[ "$status" -eq 0 ] && [ "$(ask "$complete" "$trial/other/report.json")" = "(True, True)" ]
point "another run has its whole report meanwhile" $? "status $status, $(size_of "$trial/other") bytes"
kill -0 "$frozen" 2>"$trial/kill.err" && [ ! -e "$disk/run/report.json" ]
point "the first run's disk is still frozen" $?

touch "$trial/is_over"
thaw
wait "$frozen"
status=$?
[ "$status" -eq 0 ] && [ "$(ask "$complete" "$disk/run/report.json")" = "(True, True)" ]
point "the first run is complete after the thaw" $? "status $status, $(size_of "$disk/run") bytes"
kill "$critd" && wait "$critd"
point "the collector ends as it should" $? "$(cat "$trial/critd.err")"
umount "$disk"
trial_end
