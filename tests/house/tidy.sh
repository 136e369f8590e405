#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy with the checks of .clang-tidy, on everything the build compiled.
# usage: tidy.sh ROOT BUILD [product], with which the files of tests are left out
set -euo pipefail
root=$1
build=$2
left_out=${3:+tests/}
source "${BASH_SOURCE%/*}/files.sh"

database=$build/compile_commands.json
mapfile -t files < <(python3 -c 'import json, sys
print(*sorted({c["file"] for c in json.load(open(sys.argv[1]))}), sep="\n")' "$database" |
	grep "^$(cd "$root" && pwd -P)/.*\.c\$" | grep -v "^$(cd "$build" && pwd -P)/" |
	grep -v "^$(cd "$root" && pwd -P)/${left_out:-none of}" || true)
((${#files[@]})) || house_fault "$database: names no file below $root"
printf '%s\0' "${files[@]}" |
	xargs -0 -n 4 -P 2 clang-tidy --quiet -p "$build" \
		--extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unknown-attributes \
		2>/dev/null || house_fault "see above"
house_verdict tidy
