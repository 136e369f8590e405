#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Each library exports what its map lists, and nothing else.  usage: exports.sh LIBRARY MAP
set -euo pipefail
library=$1
map=$2
source "${BASH_SOURCE%/*}/files.sh"

# Plain names after each "global:", to "local:" or the end of its version.
mapfile -t listed < <(sed 's@/\*.*\*/@@; s/#.*//' "$map" | tr -d ' \t\n' |
	grep -oE 'global:[^}]*' | sed 's/global://; s/local:.*//' | tr ';' '\n' | grep . || true)
mapfile -t exported < <(nm -D --defined-only --no-demangle "$library" |
	awk '$2 ~ /[TtDdBbRrVvWwi]/ { sub(/@.*/, "", $3); print $3 }' | sort -u)
((${#listed[@]})) || house_fault "$map: lists nothing"

declare -A is_listed is_exported
for symbol in "${exported[@]}"; do
	is_exported[$symbol]=1
done
for symbol in "${listed[@]}"; do
	is_listed[$symbol]=1
	[[ ${is_exported[$symbol]:-} ]] || house_fault "$map: lists $symbol, $library does not export it"
done
for symbol in "${exported[@]}"; do
	[[ ${is_listed[$symbol]:-} ]] || house_fault "$library: exports $symbol, $map does not list it"
done
house_verdict exports
