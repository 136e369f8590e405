#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# cppcheck, without style opinions, on all C files; it does not know the cleanup attribute, so leaks
# are left to the sanitizers, and is wrong about NULL for scandir and accept4.  usage: cppcheck.sh ROOT
set -euo pipefail
root=$1
source "${BASH_SOURCE%/*}/files.sh"

mapfile -t files < <(house_files "$root" -name '*.c' -not -name '*.bpf.c')
((${#files[@]})) || house_fault "no C file below $root"
(cd "$root" && cppcheck --quiet --enable=warning,performance,portability --inline-suppr -j 2 \
	--suppress=resourceLeak --suppress=memleak --suppress=preprocessorErrorDirective \
	--suppress=missingInclude --suppress=nullPointer --suppress=readdirCalled --error-exitcode=1 \
	--library=posix,gnu -D__x86_64__ -D__linux__ -I . "${files[@]}") || house_fault "see above"
house_verdict cppcheck
