#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every script passes shellcheck.  usage: shell.sh ROOT BUILD [product], with which those of tests are left out
set -euo pipefail
root=$1
left_out=()
[[ -z ${3:-} ]] || left_out=(-not -path "./tests/*")
source "${BASH_SOURCE%/*}/files.sh"

# is_script FILE: by its name, or by the interpreter it asks for.
is_script()
{
	[[ $1 == *.sh || $(head -c 64 "$root/$1" | head -1 | tr -d '\0') == '#!'*[/\ ]*sh ]]
}

scripts=()
while IFS= read -r file; do
	if is_script "$file"; then
		scripts+=("$file")
	fi
done < <(house_files "$root" -not -name '*.[ch]' "${left_out[@]}")
((${#scripts[@]})) || house_fault "no script below $root"
for script in "${scripts[@]}"; do
	(cd "$root" && shellcheck -x -P SCRIPTDIR -e SC1091 -f gcc -- "$script") ||
		house_fault "$script: see above"
	[[ -x $root/$script || $(head -1 "$root/$script") != '#!'* ]] ||
		house_fault "$script: not executable"
done
house_verdict shell
