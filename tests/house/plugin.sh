#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A plug-in, which nothing of crit is loaded beside, has all it takes of crit inside.  usage: plugin.sh LIBRARY
set -euo pipefail
library=$1
source "${BASH_SOURCE%/*}/files.sh"

mapfile -t missing < <(nm -D --undefined-only "$library" | awk '$2 ~ /^crit_/ { print $2 }')
for symbol in "${missing[@]}"; do
	house_fault "$library: $symbol is in no library that is loaded with it"
done
nm -D --defined-only "$library" | grep -q ' slurm_spank_init$' || house_fault "$library: no plug-in"
house_verdict plugin
