#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank names a directory that does not answer as its run's: the epilog does not wait for it, says so, and writes the
# reports of the other runs.
# usage: epilog.sh BUILD-DIRECTORY [fuse]; with fuse the directory is in a file system whose daemon swallows requests,
# else crit finish is replaced by a program that does not end
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
if [ "$(id -u)" -eq 0 ] && [ -z "${EPILOG_INSIDE:-}" ]; then
	# a /run of our own
	EPILOG_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"
fi
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "as epilogs do"
mount -t tmpfs -o mode=755 run /run
scripts=$trial/crit/libexec/crit/slurm
mkdir -p "$scripts" "$trial/crit/bin" "$trial/crit/etc/crit" "$trial/hanging"
cp "$(dirname "$0")"/../../jobs/slurm/{allocation.sh,epilog} "$scripts"
log=$trial/log
printf '%s\n' "log=$log" finish_s=2 >"$trial/crit/etc/crit/slurm.conf"
user=$trial_nobody
as_user "$user" "$crit" run -- true
for name in hangs good; do
	CRIT_DIR=$trial/home-$user/$name "${command[@]}" >"$trial/$name.out" 2>&1
	rm "$trial/home-$user/$name"/report.*
done
good=$trial/home-$user/good
hangs=$trial/home-$user/hangs
ln -s "$crit" "$trial/crit/bin/crit"
if [ "${2:-}" = fuse ]; then
	"$trial_lib/hanging_mount.py" "$trial/hanging" >"$trial/mounted" &
	daemon=$!
	wait_for 10 [ -s "$trial/mounted" ] || exit 1
	hangs=$trial/hanging/run
else
	rm "$trial/crit/bin/crit"
	cat >"$trial/crit/bin/crit" <<-END
		#!/bin/sh
		[ "\$4" != "$hangs" ] || exec sleep 987653
		exec "$crit" "\$@"
	END
	chmod 755 "$trial/crit/bin/crit"
fi

# What critd leaves of job 1: two runs.
mkdir -p "/run/crit/$user"
printf '1\0%s\0' "$hangs" "$good" >"/run/crit/$user/critd.runs"
env -i SLURM_JOB_ID=1 SLURM_JOB_UID="$user" SLURM_JOB_GID="$user" timeout -k 1 60 "$scripts/epilog" </dev/null
point "the epilog ends" $? ""
grep -q "crit report $hangs is left to its user: .* was not done after 2 s: left behind" "$log"
point "the log says what was left behind" $? "$(cat "$log")"
[ -s "$good/report.json" ] && [ "$(stat -c %u "$good/report.json")" = "$user" ]
point "the other run has its report" $? "$(ls "$good")"
[ -z "$(find /run/crit -mindepth 1)" ]
point "nothing is left" $? "$(find /run/crit -mindepth 1)"
if [ -n "${daemon:-}" ]; then
	kill "$daemon"
	wait "$daemon" 2>/dev/null
	umount -l "$trial/hanging"
fi
! pgrep -f "^sleep 987653|finish --late --directory $hangs" >/dev/null
point "nobody works on it any more" $? "$(pgrep -af "$hangs")"
trial_end
