#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every Fortran symbol of a flavour's libraries is wrapped or left alone on purpose, and no call has
# more arguments than the wrapper hands on.
# usage: fortran_table.sh BUILD-DIRECTORY FLAVOUR
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
flavour=$2

libraries=()
for app in "$build"/tests/apps/all_kinds_*."$flavour"; do
	mapfile -t -O "${#libraries[@]}" libraries < <(ldd "$app" |
		sed -n 's/.* => \(.*\/libmpi[^ ]*\) .*/\1/p' | grep -E 'libmpi(_|chfort|fort)')
done
mapfile -t libraries < <(printf '%s\n' "${libraries[@]}" | sort -u)
printf 'library %s\n' "${libraries[@]}"
"$root/pmpi/generate_fortran.py" check "$root/core/abi/mpi_calls.def" /dev/stdout "${libraries[@]}" | cat

# pmpi/fortran.S hands on 16 words: the C arguments, ierror, and a length for each string.
longest=$(echo '#include <mpi.h>' | "mpicc.$flavour" -E -P -x c - | tr '\n' ' ' |
	grep -oE 'int MPI_\w+ ?\([^()]*\) ?;' | awk -F, '{
		strings = gsub(/char *\*? ?(const *)?\*? ?\w/, "&")
		if (NF + 1 + strings > longest) longest = NF + 1 + strings
	} END { print longest + 0 }')
echo "longest call: $longest words"
[ "$longest" -ge 14 ] && [ "$longest" -le 16 ]
