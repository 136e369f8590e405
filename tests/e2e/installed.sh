#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# An installed tree serves an ordinary user from any directory; the library needs no path.
# usage: installed.sh BUILD
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
faults=0

fault()
{
	printf 'installed: %s\n' "$*"
	faults=$((faults + 1))
}

# as_user COMMAND…: as an ordinary user, whoever we are, with the modulefile's environment.
as_user()
{
	local drop=()
	((EUID)) || drop=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	# no archive: it would still be written when the folder is removed
	"${drop[@]}" env HOME="$scratch/home" XDG_RUNTIME_DIR= CRIT_OTF2=0 CRIT_FINISH_S=10 "${module[@]}" "$@"
}

# run NAME COMMAND…: the command leaves exactly one report, about two ranks.
run()
{
	local name=$1
	shift
	as_user mkdir "$scratch/home/$name"
	(cd "$scratch/home/$name" && as_user timeout 60 "$@" >said 2>&1) ||
		fault "$name: exit $?: $(tail -5 "$scratch/home/$name/said")"
	local reports=("$scratch/home/$name"/crit-*/report.json)
	if ! [[ ${#reports[@]} == 1 && -s ${reports[0]} ]]; then
		fault "$name: no report: $(tail -5 "$scratch/home/$name/said")"
	elif ! python3 -c 'import json, sys
assert len(json.load(open(sys.argv[1]))["ranks"]) == 2' "${reports[0]}"; then
		fault "$name: the report does not name two ranks"
	fi
}

# What an installation from this build has noted for make uninstall is not ours to change.
notes=("$build"/install_{manifest,directories}.txt)
mkdir "$scratch/notes"
mv "${notes[@]}" "$scratch/notes" 2>/dev/null || true
trap 'rm -f "${notes[@]}"; mv "$scratch/notes"/* "$build" 2>/dev/null || true; rm -rf "$scratch"' EXIT

chmod 755 "$scratch"
mkdir -m 777 "$scratch/home"
mkdir -p "$prefix/share/man" # was there before us, and stays
cmake --install "$build" --prefix "$prefix" >"$scratch/said" 2>&1
grep -qF "echo $prefix/lib >/etc/ld.so.conf.d/crit.conf" "$scratch/said" ||
	fault "installing does not say where the libraries are: $(tail -n 3 "$scratch/said")"
cp "$build"/tests/apps/heat.{openmpi,mpich} "$scratch/"

# The modulefile's prepend-path lines, as module load would apply them.
module=()
while read -r verb variable value; do
	case $verb in
	prepend-path) module+=("$variable=$value${!variable:+:${!variable}}") ;;
	setenv) module+=("$variable=$value") ;;
	esac
done < <(grep -E '^(prepend-path|setenv) ' "$prefix"/share/modulefiles/crit/*)
[[ " ${module[*]} " == *" LD_LIBRARY_PATH=$prefix/lib"* ]] || fault "modulefile: no LD_LIBRARY_PATH"

for needed in bin/crit bin/critd lib/libcrit_core.so lib/libcrit_pmpi.so share/man/man1/crit.1; do
	[[ -e $prefix/$needed ]] || fault "$needed is not installed"
done
if readelf -d "$prefix"/{bin,lib}/* 2>/dev/null | grep -E '(RPATH|RUNPATH)' | grep -F "$build"; then
	fault "an installed file searches the build folder"
fi

for library in core pmpi ompt; do
	readelf -d "$prefix/lib/libcrit_$library.so" | grep -q "SONAME.*\[libcrit_$library\.so\.[0-9]*\]" ||
		fault "libcrit_$library.so has no SONAME with a version"
done
# What README and the manual pages point to is there.
while read -r page; do
	[[ -e $prefix/$page ]] || fault "README or a manual page points to $page, which is not installed"
done < <(
	grep -oEh '[A-Za-z/]+\.md' "$prefix/share/doc/crit/README.md" | sed 's,^,share/doc/crit/,'
	grep -oEh 'share/doc/crit/[A-Za-z/]+\.md' "$prefix"/share/man/man*/*
)

# What pkg-config says is there; what bash completes is what this crit knows.
said() { PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@" crit; }
[[ $(said --variable=preload) == "$prefix/lib/libcrit_pmpi.so" && -e $(said --variable=preload) ]] ||
	fault "crit.pc: preload is $(said --variable=preload)"
printf '#include <crit.h>\nint main(void) { crit_region_end(); return 0; }\n' >"$scratch/phase.c"
# shellcheck disable=SC2046 # options
cc $(said --cflags) -o "$scratch/phase" "$scratch/phase.c" || fault "crit.pc: crit.h is not in $(said --cflags)"
env "${module[@]}" cc -o "$scratch/phase" "$scratch/phase.c" || fault "modulefile: crit.h is not found"
[[ -e $(said --variable=includedir)/crit.f90 ]] || fault "crit.pc: no crit.f90 in $(said --variable=includedir)"
[[ $("$prefix/bin/crit" --version) == "crit $(said --modversion) "* ]] ||
	fault "crit.pc: version is $(said --modversion)"
completed=$(bash -c '. "$1/share/bash-completion/completions/crit"
COMP_WORDS=(crit rep) COMP_CWORD=1
_crit "$1/bin/crit" rep crit && echo "${COMPREPLY[*]}"' - "$prefix") || true
[[ $completed == report ]] || fault "completion: offers '$completed'"

run openmpi mpirun.openmpi --oversubscribe -np 2 -x LD_PRELOAD=libcrit_pmpi.so \
	"$scratch/heat.openmpi"
run mpich mpirun.mpich -np 2 -genv LD_PRELOAD libcrit_pmpi.so "$scratch/heat.mpich"
for flavour in openmpi mpich; do
	read -ra options < <(as_user crit env "--mpi=$flavour")
	run "env-$flavour" "mpirun.$flavour" "${options[@]}" -np 2 "$scratch/heat.$flavour"
done
run crit-run crit run -- mpirun.openmpi --oversubscribe -np 2 "$scratch/heat.openmpi"

# Moved as a whole, the parts still find each other.
mv "$prefix" "$scratch/moved"
[[ $("$scratch/moved/bin/crit" env --export) == *"$scratch/moved/lib/libcrit_pmpi.so"* ]] ||
	fault "moved: crit env says $("$scratch/moved/bin/crit" env --export)"
mv "$scratch/moved" "$prefix"

# make uninstall takes away all of it, and what it has not brought stays.
make -s -C "$source" BUILD="$build" uninstall >/dev/null
left=$(find "$prefix" -mindepth 1 | paste -sd' ')
[[ $left == "$prefix/share $prefix/share/man" ]] || fault "make uninstall leaves $left"
[[ ! -e ${notes[0]} && ! -e ${notes[1]} ]] || fault "make uninstall leaves its lists"

# A build for another prefix, without Slurm and OTF2: it says what is left out, and knows no prefix.
configure()
{
	PKG_CONFIG_LIBDIR=$scratch/pc cmake -S "$source" -B "$1" -G Ninja -DBUILD_TESTING=OFF \
		-DCMAKE_INSTALL_PREFIX=/nowhere/else -DCMAKE_IGNORE_PATH=/usr/include "${@:2}" >"$1.said" 2>&1 ||
		fault "cannot configure: $(tail -3 "$1.said")"
}
mkdir "$scratch/pc" "$scratch/otf2"
IFS=: read -ra known < <(pkg-config --variable=pc_path pkg-config)
for directory in "${known[@]}"; do
	[[ ! -d $directory ]] || find "$directory" -name '*.pc' ! -name 'otf2*' -exec ln -sf -t "$scratch/pc" {} +
done
configure "$scratch/poor" -DCMAKE_INSTALL_LIBDIR=lib64
grep -q '}/lib64 >/etc/ld.so.conf.d/crit.conf' "$scratch/poor/cmake_install.cmake" ||
	fault "libraries go to lib64, and the line for ld.so.conf does not say so"
said=$(grep 'message("crit: left out' "$scratch/poor/cmake_install.cmake") || true
[[ $said == *"OTF2 archives: "*"install "* && $said == *"srun --crit"*"install "* ]] ||
	fault "the installation does not say what is left out: $said"
if grep -l /nowhere/else "$scratch/poor"/{build.ninja,compile_commands.json}; then
	fault "the prefix is compiled in: another one would build all anew"
fi
# otf2-config stands in for pkg-config.
mkdir "$scratch/otf2"/{include,lib}
cat >"$scratch/otf2/otf2-config" <<END
#!/bin/sh
case \$1 in
--cppflags) echo -I$scratch/otf2/include ;;
--ldflags) echo -L$scratch/otf2/lib ;;
--libs) echo -lo2 ;;
esac
END
chmod 755 "$scratch/otf2/otf2-config"
PATH=$PATH:$scratch/otf2 configure "$scratch/rich"
for wanted in "$scratch/otf2/include" "-L$scratch/otf2/lib" -lo2; do
	grep -q -e "$wanted" "$scratch/rich/build.ninja" || fault "$wanted, which otf2-config says, is not used"
done
! grep -q 'left out: OTF2' "$scratch/rich/cmake_install.cmake" || fault "otf2-config is there, and OTF2 left out"
# What is installed is built without a test.
if ninja -C "$build" -t inputs product | grep '^tests/'; then
	fault "make install builds tests"
fi
exit $((faults > 0))
