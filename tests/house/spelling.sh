#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# codespell knows every word it looks for.  usage: spelling.sh ROOT
set -euo pipefail
root=$1
source "${BASH_SOURCE%/*}/files.sh"

mapfile -t files < <(house_files "$root" -not -path './tests/data/*' \
	-not -path './tests/fuzz/*')
((${#files[@]})) || house_fault "no file below $root"
(cd "$root" && codespell --builtin clear -L crit,improbe,indx,inout,nd -- "${files[@]}") ||
	house_fault "see above"
house_verdict spelling
