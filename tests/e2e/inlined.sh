#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Two inlined functions in one caller, by line and inline chain: gcc and clang, position-independent, without frame
# pointers, debug data inside or in a file apart.
# usage: inlined.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
root=$(cd "$(dirname "$0")/../.." && pwd)
source=$root/tests/apps/threads/inlined.c
export CRIT_SAMPLE_HZ=499

for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	for debug in inside apart; do
		name=$compiler-$debug
		mkdir "$trial/$name"
		program=$trial/$name/inlined
		$compiler -O2 -g -fPIE -pie -fomit-frame-pointer -D_GNU_SOURCE -I "$root" "$source" \
			-o "$program" || exit 1
		if [ $debug = apart ]; then
			objcopy --only-keep-debug "$program" "$program.debug"
			strip "$program"
			objcopy --add-gnu-debuglink="$program.debug" "$program"
		fi
		launch "$name/run" run none 0 "$program" 100
		has_last_report 30
		python3 -S "$trial_lib/inlined.py" "$report" "$source" "$dir.out" >"$trial/case" 2>"$trial/wrong"
		point "$name: lines and inline chains" $? "$(cat "$trial/wrong")"
		said=$("$trial_lib/line_truth.py" --case <"$trial/case" 2>&1)
		point "$name: shares" $? "$said"
	done
done
trial_end
