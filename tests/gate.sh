#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Run one test; its skip (77) is a failure unless CRIT_MAY_SKIP lists its label.
# usage: gate.sh LABEL PROGRAM [ARG]...
label=$1
shift
"$@"
status=$?
if ((status == 77)) && [[ " ${CRIT_MAY_SKIP//,/ } " != *" $label "* ]]; then
	printf 'gate: skipped, and CRIT_MAY_SKIP does not list "%s": a failure\n' "$label" >&2
	exit 1
fi
exit "$status"
