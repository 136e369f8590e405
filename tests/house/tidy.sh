#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy with the checks of .clang-tidy, on everything the build compiled.
# usage: tidy.sh ROOT BUILD [product], with which the files of tests are left out
set -euo pipefail
root=$(cd "$1" && pwd -P)
build=$(cd "$2" && pwd -P)
left_out="$build/${3:+|$root/tests/}"
source "${BASH_SOURCE%/*}/files.sh"

database=$build/compile_commands.json
mapfile -t files < <(python3 -c 'import json, sys
print(*sorted({c["file"] for c in json.load(open(sys.argv[1]))}), sep="\n")' "$database" |
	grep "^$root/.*\.c\$" | grep -vE "^($left_out)" || true)
((${#files[@]})) || house_fault "$database: names no file below $root"
# without what only the compiler knows
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sed 's/ -mmemset-strategy=[^ "]*//g' "$database" >"$scratch/compile_commands.json"
printf '%s\0' "${files[@]}" |
	xargs -0 -n 4 -P 2 clang-tidy --quiet -p "$scratch" \
		--extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unknown-attributes \
		2>/dev/null || house_fault "see above"
house_verdict tidy
