#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# An installed tree serves an ordinary user from any directory; the library needs no path.
# usage: installed.sh BUILD
set -euo pipefail
build=$(cd "$1" && pwd)
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
	"${drop[@]}" env HOME="$scratch/home" XDG_RUNTIME_DIR= CRIT_OTF2=0 "${module[@]}" "$@"
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

chmod 755 "$scratch"
mkdir -m 777 "$scratch/home"
cmake --install "$build" --prefix "$prefix" >/dev/null
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

# What pkg-config says is there; what bash completes is what this crit knows.
said() { PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@" crit; }
[[ $(said --variable=preload) == "$prefix/lib/libcrit_pmpi.so" && -e $(said --variable=preload) ]] ||
	fault "crit.pc: preload is $(said --variable=preload)"
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
exit $((faults > 0))
