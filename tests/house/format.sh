#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# clang-format would change nothing in any C file.  usage: format.sh ROOT
set -euo pipefail
root=$1
source "${BASH_SOURCE%/*}/files.sh"

mapfile -t files < <(house_files "$root" -name '*.[ch]')
((${#files[@]})) || house_fault "no C file below $root"
# all at once; one by one only to name those that differ
if ! (cd "$root" && clang-format --dry-run --Werror -- "${files[@]}" >/dev/null 2>&1); then
	for file in "${files[@]}"; do
		(cd "$root" && clang-format --dry-run --Werror -- "$file" >/dev/null 2>&1) ||
			house_fault "$file: differs from clang-format -i $file"
	done
fi
house_verdict format
