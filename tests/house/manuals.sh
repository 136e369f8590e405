#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mandoc finds no fault in any manual page.  usage: manuals.sh ROOT
set -euo pipefail
root=$1
source "${BASH_SOURCE%/*}/files.sh"

mapfile -t pages < <(house_files "$root" -path './docs/*' -name '*.[1-8]')
((${#pages[@]})) || house_fault "no manual page below $root/docs"
for page in "${pages[@]}"; do
	(cd "$root" && mandoc -T lint -W warning -- "$page") || house_fault "$page: see above"
done
house_verdict manuals
