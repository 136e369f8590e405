#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What is installed knows no way to skew its clocks; what is built to be skewed does.  usage: skewed.sh BUILD-DIRECTORY
set -euo pipefail
build=$1
source "${BASH_SOURCE%/*}/files.sh"

for file in "$build"/bin/* "$build"/lib/*.so; do
	! grep -q CRIT_TEST_CLOCK "$file" || house_fault "$file: knows CRIT_TEST_CLOCK"
done
for file in bin/critd lib/libcrit_core.so; do
	[[ ! -e $build/bin/critd ]] || grep -q CRIT_TEST_CLOCK "$build/tests/skewed/$file" ||
		house_fault "tests/skewed/$file: does not know CRIT_TEST_CLOCK"
done
house_verdict skewed
