#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Each library exports what its map lists, and nothing else.  usage: exports.sh LIBRARY MAP
set -euo pipefail
library=$1
map=$2
source "${BASH_SOURCE%/*}/files.sh"

# Names and patterns after "global:"; "local: *;" ends the list.
mapfile -t listed < <(sed 's@/\*.*\*/@@; s/#.*//' "$map" | tr -d ' \t\n' |
	sed 's/.*{global://; s/local:.*//' | tr ';' '\n' | grep . || true)
mapfile -t exported < <(nm -D --defined-only --no-demangle "$library" |
	awk '$2 ~ /[TtDdBbRrVvWwi]/ { sub(/@.*/, "", $3); print $3 }' | sort -u)
((${#listed[@]})) || house_fault "$map: lists nothing"

# is_listed SYMBOL
is_listed()
{
	local pattern
	for pattern in "${listed[@]}"; do
		# shellcheck disable=SC2053 # the map may hold patterns
		[[ $1 == $pattern ]] && return 0
	done
	return 1
}

for symbol in "${exported[@]}"; do
	is_listed "$symbol" || house_fault "$library: exports $symbol, $map does not list it"
done
for pattern in "${listed[@]}"; do
	case $pattern in
	*[*?[]*) grep -qE "^${pattern//\*/.*}$" <(printf '%s\n' "${exported[@]}") ;;
	*) grep -qxF "$pattern" <(printf '%s\n' "${exported[@]}") ;;
	esac || house_fault "$map: lists $pattern, $library does not export it"
done
house_verdict exports
