#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# ViTE draws the archive of a run: as many states as there are regions entered, and one container per location.
# usage: viewer.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/archive.sh
. "$(dirname "$0")/../lib/archive.sh"
trial_begin "$1"
unset CRIT_OTF2

if ! command -v vite >/dev/null; then
	echo "skipped: vite is not installed; make deps, or apt-get install vite"
	exit 77
fi
for flavour in "${flavours[@]}"; do
	launch "vite-$flavour" run "$flavour" 2 barrier_imbalance -n 20 -m 6:2
	[ "$status" -eq 0 ] && wait_for 15 test -s "$dir/traces.otf2"
	point "$flavour: archive" $? "status $status"
	drawn_by_vite "$flavour" "$dir"
done
shim=$shim:$build/lib/libcrit_ompt.so
OMP_WAIT_POLICY=passive launch vite-openmp preload "${flavours[0]}" 2 hybrid-gnu -n 5
wait_for 15 test -s "$dir/traces.otf2"
point "openmp: archive" $? "status $status"
drawn_by_vite openmp "$dir" 300 # of 630: waits of microseconds are none on paper
trial_end
