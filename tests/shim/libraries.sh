#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the libraries need from others: libc and each other, no libmpi in what is preloaded.
# usage: libraries.sh LIBRARY-DIRECTORY
set -u
lib=$1
faults=0

# expect LIBRARY NEEDED…: exactly these.
expect() {
	local library=$1 found
	shift
	found=$(readelf -d "$lib/$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | xargs)
	if [ "$found" != "$(printf '%s\n' "$@" | sort | xargs)" ]; then
		echo "$library: needs $found"
		faults=$((faults + 1))
	fi
	if readelf -d "$lib/$library" | grep -qE '\((INIT|FINI)\)' &&
		readelf -SW "$lib/$library" | grep -q '\.ctors'; then
		echo "$library: has a constructor"
		faults=$((faults + 1))
	fi
	if ldd -r "$lib/$library" 2>&1 | grep -E 'undefined|not found'; then
		echo "$library: has undefined symbols"
		faults=$((faults + 1))
	fi
}

expect libcrit_core.so libc.so.6
expect libcrit_pmpi.so libc.so.6 libcrit_core.so.0
if [ -e "$lib/libcrit_pmpi_mpich.so" ]; then
	expect libcrit_pmpi_mpich.so libc.so.6 libcrit_core.so.0
fi
exit $((faults > 0))
