# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the house tests: the files of a source tree, and one way to complain.

# house_files ROOT EXPRESSION…: matching files, relative to ROOT, without builds.
house_files()
{
	local root=$1
	shift
	(cd "$root" &&
		find . -type d \( -name .git -o -name build -o -name 'build-*' \) -prune \
			-o -type d -name 'crit-*' -prune \
			-o -type f \( "$@" \) -printf '%P\n' | LC_ALL=C sort)
}

house_faults=0

# house_fault TEXT…: count and print one fault.
house_fault()
{
	printf '%s\n' "$*"
	house_faults=$((house_faults + 1))
}

# house_verdict WHAT: end the test; no file looked at is a fault as well.
house_verdict()
{
	if ((house_faults)); then
		printf '%s: %d fault(s)\n' "$1" "$house_faults"
		exit 1
	fi
	exit 0
}
