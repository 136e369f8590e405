#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# No file called utils, no banned function, SPDX first, no TODO without a condition.
# usage: words.sh ROOT
set -euo pipefail
root=$1
source "${BASH_SOURCE%/*}/files.sh"

banned='strcpy|strcat|strncpy|sprintf|strtok|atoi|localtime|gmtime|alloca'
license='(BSD-3-Clause|\(BSD-3-Clause OR GPL-2\.0-only\))'

# first_line FILE: the line that must carry the license, past an interpreter's or a linter's.
first_line()
{
	sed -n '/^#!/d; /^# shellcheck shell/d; p; q' "$1"
}

seen=0
while IFS= read -r file; do
	seen=$((seen + 1))
	if [[ /$file =~ /(utils?|common|helpers?|misc)(/|\.|$) ]]; then
		house_fault "$file: name the noun, not '${BASH_REMATCH[1]}'"
	fi
	case $file in
	*.c | *.h | *.sh | *.py | .ci/run)
		first=$(first_line "$root/$file")
		[[ $first =~ SPDX-License-Identifier:\ $license ]] ||
			house_fault "$file: no SPDX line at its top"
		[[ $file != bpf/* || $first == *GPL-2.0-only* ]] ||
			house_fault "$file: bpf/ is dual BSD/GPL"
		;;
	esac
	case $file in
	*.c | *.h)
		while IFS= read -r hit; do
			house_fault "$file:$hit: banned function"
		done < <(sed 's@//.*@@; s@^ \*.*@@; s/"[^"]*"//g' "$root/$file" |
			grep -nE "\b($banned)[[:space:]]*\(" || true)
		;;
	esac
	case $file in
	tests/house/*) ;;
	*.c | *.h | *.sh | *.py | *.cmake | *CMakeLists.txt | Makefile)
		while IFS= read -r hit; do
			house_fault "$file:$hit: a TODO says 'until …' or 'when …'"
		done < <(grep -nE '\b(TODO|FIXME|XXX)\b' "$root/$file" |
			grep -vE 'TODO[^.]*\b(until|when|once)\b' || true)
		;;
	esac
done < <(house_files "$root" -name '*')
((seen)) || house_fault "no file below $root"
house_verdict words
