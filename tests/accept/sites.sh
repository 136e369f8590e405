#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The same line is one row for all ranks of a position-independent program, wherever each was loaded, and
# it is the right line: C, C++ and Fortran, gcc and clang, -O2, debug data inside or apart.
# usage: sites.sh BUILD-DIRECTORY [quick]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
size=${2:-full}
export CRIT_DEBUG_PATH=$trial/debug
mkdir "$CRIT_DEBUG_PATH"
sources=$(cd "$(dirname "$0")/../apps/places" && pwd)

# expected SOURCE GREP…: call, function, line, ranks, visits of every marked line that grep takes.
expected() {
	local source=$1
	shift
	grep -n ' MARK ' "$sources/$source" | grep "$@" | while IFS=: read -r line text; do
		local call function=${text##* MARK } visits=2
		call=$(grep -o 'MPI_[A-Z][a-z_]*' <<<"$text" | head -1)
		[[ $call = MPI_Bcast || $call = MPI_Allreduce ]] && visits=40
		[[ $function = Grid::* ]] && function="solver::Grid<double>::${function#*::}()"
		echo "$call $function $source:$line 2 $visits"
	done
}

# reported: the same, of the report.
reported() {
	ask '"\n".join("%s %s %s:%s %d %d" % (x["name"], x["function"], (x["file"] or "?").split("/")[-1],
		x["line"], x["processes"], x["visits"]) for x in r["mpi_call_sites"])'
}

# in_text: every row of the report stands in the table of report.txt as function and line.
in_text() {
	ask '"\n".join("%s %s:%s" % (x["function"], x["file"].split("/")[-1], x["line"])
		for x in r["mpi_call_sites"])' | while read -r place; do
		grep -qF "  $place" "$dir/report.txt" || return 1
	done
}

# build FLAVOUR COMPILER SOURCE: with the flavour's wrapper around another compiler.
build() {
	local flavour=$1 compiler=$2 source=$3 wrapper=mpicc variable=CC
	case $compiler in
	*++) wrapper=mpicxx variable=CXX ;;
	gfortran) wrapper=mpifort variable=FC ;;
	esac
	env "OMPI_$variable=$compiler" "MPICH_$variable=$compiler" \
		"$wrapper.$flavour" -O2 -g -fPIE -pie "${language[@]}" "$sources/$source" -o "$program" \
		2>"$trial/build.err"
}

# check FLAVOUR COMPILER SOURCE [apart]
check() {
	local flavour=$1 compiler=$2 source=$3 apart=${4:-}
	local name=$compiler-$flavour${apart:+-$apart} language=() marks only=(-v Grid::)
	mkdir -p "$trial/$name.bin"
	program=$trial/$name.bin/places
	[[ $compiler = *++ ]] &&
		language=(-x c++ -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX) only=(-e Grid:: -e main)
	[ "$compiler" = gfortran ] &&
		language=(-ffree-line-length-none -fallow-argument-mismatch "-J$trial/$name.bin")
	build "$flavour" "$compiler" "$source"
	point "$name: builds" $? "$(head -1 "$trial/build.err")"
	if [ "$apart" ]; then
		objcopy --only-keep-debug "$program" "$CRIT_DEBUG_PATH/$name" && strip "$program" &&
			objcopy --add-gnu-debuglink="$CRIT_DEBUG_PATH/$name" "$program"
		point "$name: debug data split off" $? ""
	fi
	launch "$name" preload "$flavour" 2 "$program"
	[ "$status" -eq 0 ] && [ "$(grep -o 'main 0x[0-9a-fA-F]*' "$trial/$name.out" | sort -u | wc -l)" -eq 2 ]
	point "$name: two ranks, two addresses" $? "$(tr '\n' ' ' <"$trial/$name.out")"
	marks=$(expected "$source" "${only[@]}" | sort)
	diff <(echo "$marks") <(reported | sort) >"$trial/diff"
	point "$name: each line once, with its function" $? "$(wc -l <<<"$marks") lines $(head -3 "$trial/diff")"
	in_text
	point "$name: report.txt has them" $? ""
}

for flavour in "${flavours[@]}"; do
	if [ "$size" = full ]; then
		for compiler in gcc clang g++ clang++; do
			check "$flavour" "$compiler" places.c
		done
		check "$flavour" gfortran places.f90
	fi
	check "$flavour" gfortran places.f90 apart
done
if [ "$size" = quick ]; then
	check "${flavours[0]}" gcc places.c
	check "${flavours[-1]}" clang++ places.c
fi

# a file that is not the run's any more gives no names, and the report says so
touch "$program"
"$crit" report --json "$dir" >"$trial/touched.json" 2>/dev/null
[ "$(ask '{(x["function"], x["line"], x["build_id"]) for x in r["mpi_call_sites"]}' "$trial/touched.json")" = \
	"{(None, None, None)}" ] &&
	[ "$(ask 'len(r["mpi_call_sites"])' "$trial/touched.json")" = "$(ask 'len(r["mpi_call_sites"])')" ]
point "changed program: places, but no names" $? ""
[ "$(ask '[x["what"] for x in r["missing"] if "functions" in x["what"]]' "$trial/touched.json")" = \
	"['functions and lines of 1 file: $program was changed since the run']" ]
point "changed program: said in one line" $? "$(ask 'r["missing"]' "$trial/touched.json")"
trial_end
