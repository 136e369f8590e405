#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Calls that are not everyday ones, callbacks, many threads: results equal, every call counted once.
# usage: breadth.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
# shellcheck source-path=SCRIPTDIR source=../lib/counted.sh
. "$(dirname "$0")/../lib/counted.sh"
trial_begin "$1"

for flavour in "${flavours[@]}"; do
	for program in callbacks wide_calls thread_calls fourth_calls; do
		[ -x "$apps/$program.$flavour" ] || continue # MPI-4.0, for one
		check_counted "$flavour" trace "$program"
		check_laws "$program-$flavour-trace"
	done
	check_counted "$flavour" profile callbacks
	check_counted "$flavour" profile thread_calls
done
trial_end
