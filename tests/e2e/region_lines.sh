#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Parallel regions and tasks are told apart by their directives' lines, however many one function has, under both
# runtimes, in C, C++ and Fortran, in programs and libraries; by name where there is no debug data, and in exported
# functions where there are no other names.
# usage: region_lines.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/archive.sh
. "$(dirname "$0")/../lib/archive.sh"
trial_begin "$1"
sources=$(cd "$(dirname "$0")/../apps/openmp" && pwd)
strict=(-fopenmp -Wall -Wextra -Werror)

# build_c COMPILER OPTION…: the program, and its library.
build_c() {
	"$1" "${strict[@]}" "${@:2}" -shared -fPIC -DLIBRARY "$source" -o "$trial/libregion_lines.so" &&
		"$1" "${strict[@]}" "${@:2}" "$source" -o "$trial/program" \
			-L"$trial" -lregion_lines -Wl,-rpath,"$trial"
}

# check NAME lines|names|FUNCTION[:SYMBOL],…
check() {
	local said
	launch "$1" run none 0 "$trial/program"
	has_last_report 30
	said=$(python3 -S "$trial_lib/region_lines.py" "$report" "$2" "$source" 2>"$trial/wrong")
	point "$1: $2" $? "$said $(head -n 3 "$trial/wrong")"
}

# What needs no library: in C++ and Fortran, whose modules are files in the folder the compiler runs in.
build_one() {
	(cd "$trial" && "$1" "${strict[@]}" "${@:2}" "$source" -o program)
}

# language BUILD SOURCE COMPILER…: with lines at each level of optimisation, then without debug data.
language() {
	local level compiler build_it=$1
	source=$sources/$2
	shift 2
	for compiler in "$@"; do
		command -v "$compiler" >/dev/null || continue
		for level in -O0 -O2 -O3 -Os; do
			"$build_it" "$compiler" $level -g || exit 1
			check "$compiler$level" lines
		done
		"$build_it" "$compiler" -O2 || exit 1
		check "$compiler-O2-bare" names
	done
}

# stripped BUILD SOURCE COMPILER FUNCTION[:SYMBOL],… [OPTION]…: what the program still exports.
stripped() {
	source=$sources/$2
	command -v "$3" >/dev/null || return 0
	"$1" "$3" -O0 -s -rdynamic "${@:5}" || exit 1
	check "$3-stripped${5:-}" "$4"
}

# archive COMPILER: the names of regions have the lines.
archive() {
	command -v "$1" >/dev/null || return 0
	source=$sources/region_lines.c
	build_c "$1" -O2 -g || exit 1
	CRIT_OTF2=1 launch "$1-archive" run none 0 "$trial/program"
	has_last_report 30
	timeout 60 otf2-print -G "$dir/traces.otf2" | grep -o '(Aka. "omp [pt][^"]* @[^"]*"' |
		sed 's/.*@//; s/"//' | sort -u >"$trial/named"
	grep -nE '// (parallel|task) at .* [1-9][0-9]* visits' "$source" |
		sed 's/:.*//; s/^/region_lines.c:/' | sort -u | diff - "$trial/named" >"$trial/wrong"
	point "$1-archive: names of regions" $? "$(head -n 3 "$trial/wrong")"
}

language build_c region_lines.c gcc clang
language build_one region_lines_cxx.cc g++ clang++
language build_one region_lines_fortran.f90 gfortran
stripped build_c region_lines.c gcc main,region_lines_outside
for compiler in g++ clang++; do
	stripped build_one region_lines_cxx.cc $compiler main,smooth
done
stripped build_one region_lines_cxx.cc g++ main,smooth -no-pie -fno-pie # addresses are absolute there
stripped build_one region_lines_fortran.f90 gfortran smooth:__smoothing_MOD_smooth
if ! "$crit" --version | grep -q 'built without OTF2'; then
	archive gcc
	archive clang
fi
trial_end
