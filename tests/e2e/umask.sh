#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The directory of a run and all that is in it have the permissions that the user's umask leaves.
# usage: umask.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
export CRIT_OTF2=1

# permissions NAME: KIND MODE… of all that is there, each once.
permissions() {
	find "$trial/$1" -printf '%y %m\n' | sort -u | tr '\n' ' '
}

for mask in 000 002 022 027 077; do
	(umask "$mask" && CRIT_DIR=$trial/run-$mask exec "$crit" run -- "$apps/burn" 10) >"$trial/out" 2>&1
	said=$(permissions "run-$mask")
	[ "$said" = "$(printf 'd %o f %o ' $((0777 & ~0$mask)) $((0666 & ~0$mask)))" ]
	point "umask $mask" $? "$said"
done
[ -s "$trial/run-077/report.txt" ] && [ -s "$trial/run-077/$(uname -n).crit" ]
point "there are files to judge" $? "$(find "$trial/run-077" -type f | wc -l) files"
trial_end
