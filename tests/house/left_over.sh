#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# No collector, no finisher and no program of the tests stays behind.  usage: left_over.sh BUILD-DIRECTORY [SECONDS]
set -euo pipefail
build=$(realpath "$1")
patience_s=${2:-60} # the last test may have ended just now; an idle collector stays for two
source "${BASH_SOURCE%/*}/files.sh"

# started: the numbers of processes that run a program of this build.
started() {
	local exe
	for exe in /proc/[0-9]*/exe; do
		case $(readlink "$exe") in
		"$build"/bin/* | "$build"/tests/apps/* | "$build"/tests/skewed/*) basename "${exe%/exe}" ;;
		esac
	done
}

mapfile -t pids < <(started)
for ((s = 0; s < patience_s; s++)); do
	living=()
	for pid in "${pids[@]}"; do
		[[ $(readlink "/proc/$pid/exe") != "$build"/* ]] || living+=("$pid")
	done
	pids=("${living[@]}")
	((${#pids[@]})) || break
	sleep 1
done
for pid in "${pids[@]}"; do
	house_fault "process $pid, for $(ps -o etimes= -p "$pid" | tr -d ' ') s: $(ps -o args= -p "$pid") is left over"
done
house_verdict left_over
