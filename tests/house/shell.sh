#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every script passes shellcheck.  usage: shell.sh ROOT
set -euo pipefail
root=$1
source "${BASH_SOURCE%/*}/files.sh"

mapfile -t scripts < <(house_files "$root" -name '*.sh' -o -path './.ci/run')
((${#scripts[@]})) || house_fault "no script below $root"
for script in "${scripts[@]}"; do
	(cd "$root" && shellcheck -x -P SCRIPTDIR -e SC1091 -f gcc -- "$script") ||
		house_fault "$script: see above"
	[[ -x $root/$script || $(head -1 "$root/$script") != '#!'* ]] ||
		house_fault "$script: not executable"
done
house_verdict shell
