#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit config, crit env, and what bash completes.
# usage: settings.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
unset CRIT_OTF2 CRIT_FINISH_S # trials set them
root=$(cd "$(dirname "$0")/../.." && pwd)

# is NAME GOT WANTED
is() {
	[ "$2" = "$3" ]
	point "$1" $? "$2"
}

# dump VARIABLE FIELD: a field of a line of crit config --dump.
dump() {
	"$crit" config --dump 2>"$trial/dump.err" | awk -F '\t' -v name="$1" -v field="$2" \
		'$1 == name { print $field }'
}

"$crit" config >"$trial/config.out" 2>"$trial/config.err"
is "config: all is well" "$? $(wc -l <"$trial/config.err")" "0 0"
is "config: a line per setting" "$(wc -l <"$trial/config.out")" \
	"$(grep -c '^CRIT_SETTING' "$root/core/base/settings.def")"
is "config: default" "$(dump CRIT_LEVEL 2) $(dump CRIT_LEVEL 3)" "trace default"
export CRIT_LEVEL=profile
is "config: environment" "$(dump CRIT_LEVEL 2) $(dump CRIT_LEVEL 3) $(dump CRIT_LEVEL 4)" \
	"profile environment trace"
export CRIT_LEVEL=profil
is "config: nonsense" "$(dump CRIT_LEVEL 2) $(dump CRIT_LEVEL 3) $(dump CRIT_LEVEL 5)" \
	"trace ignored profil"
nonsense='CRIT_LEVEL=profil is ignored, as it is not one of: trace profile; the default trace holds'
"$crit" config >/dev/null 2>"$trial/config.err"
is "config: nonsense is said" "$? $(grep -c "$nonsense" "$trial/config.err")" "1 1"
CRIT_DIR=$trial/nonsense CRIT_OTF2=no "$crit" run -- true 2>"$trial/run.err"
is "run: nonsense is said" "$? $(head -n 2 "$trial/run.err")" "0 crit run: $nonsense
crit run: CRIT_OTF2=no is ignored, as it is not one of: 0 1; the default 1 holds"
CRIT_DIR=$trial/overruled "$crit" run -l profile -- true 2>"$trial/run.err"
is "run: an option overrules nonsense" "$? $(grep -c ignored "$trial/run.err")" "0 0"
CRIT_DIR=$trial/quiet CRIT_QUIET=1 "$crit" run -- true 2>"$trial/run.err"
is "run: nonsense and CRIT_QUIET" "$? $(wc -c <"$trial/run.err")" "0 0"
"$crit" report "$trial/nonsense" 2>"$trial/report.err" >"$trial/report.out"
is "report: nonsense is said" "$? $(cat "$trial/report.err")" "0 crit report: $nonsense"
CRIT_RING_BYTES=2x "$(dirname "$crit")/critd" --socket-path=/proc/nowhere/s 2>"$trial/critd.err"
is "critd: nonsense is said" "$? $(head -n 1 "$trial/critd.err")" \
	"1 critd: CRIT_RING_BYTES=2x is ignored, as it is no number from 0 to 1073741824; the default 0 holds"
unset CRIT_LEVEL
is "config: a stranger" "$(CRIT_LEVLE=x "$crit" config --dump 2>/dev/null | tail -n 1)" \
	$'CRIT_LEVLE\t\tunknown\t\tx'
CRIT_LEVLE=x "$crit" config >/dev/null 2>"$trial/config.err"
is "config: a stranger is said" "$? $(grep -c CRIT_LEVLE "$trial/config.err")" "1 1"
is "config: tab, newline, backslash" "$(CRIT_DIR=$'a\tb\nc\\d' dump CRIT_DIR 2)" 'a\tb\nc\\d'
"$crit" config --what >/dev/null 2>&1
is "config: wrong option" $? 2
"$crit" config what >/dev/null 2>&1
is "config: an argument" $? 2

is "env: Open MPI" "$("$crit" env --mpi=openmpi)" "-x LD_PRELOAD=$shim"
is "env: MPICH" "$("$crit" env --mpi=mpich)" "-genv LD_PRELOAD $shim"
is "env: Slurm" "$("$crit" env -m slurm)" "--export=ALL,LD_PRELOAD=$shim"
is "env: what is preloaded stays" "$(LD_PRELOAD='liba.so libb.so' "$crit" env --mpi=mpich 2>/dev/null)" \
	"-genv LD_PRELOAD $shim:liba.so:libb.so"
is "env: not twice" "$(LD_PRELOAD=$shim "$crit" env --mpi=mpich)" "-genv LD_PRELOAD $shim"
is "env: settings for other nodes" "$(CRIT_LEVEL=profile CRIT_DIR='a b' "$crit" env --mpi=openmpi)" \
	"-x LD_PRELOAD=$shim -x CRIT_DIR -x CRIT_LEVEL"
"$crit" env --mpi=pvm >/dev/null 2>&1
is "env: no such launcher" $? 2

# A launcher of each kind, as it would answer.
for kind in "openmpi:mpirun (Open MPI) 4.1.4" "mpich:HYDRA build details:" \
	"mpich:Intel(R) MPI Library for Linux* OS, Version 2021"; do
	mkdir -p "$trial/path"
	# shellcheck disable=SC2016
	printf '#!/bin/sh\n[ "$1" = --version ] && echo "%s"\n' "${kind#*:}" >"$trial/path/mpirun"
	chmod +x "$trial/path/mpirun"
	is "env: auto, ${kind#*:}" "$(PATH=$trial/path:/usr/bin:/bin "$crit" env)" \
		"$("$crit" env --mpi="${kind%%:*}")"
done
rm "$trial/path/mpirun"
ln -s /bin/true "$trial/path/srun"
is "env: auto, srun alone" "$(PATH=$trial/path "$crit" env)" "$("$crit" env --mpi=slurm)"
rm "$trial/path/srun"
PATH=$trial/path "$crit" env >/dev/null 2>"$trial/env.err"
is "env: no launcher" "$? $(grep -c -- '--mpi=NAME' "$trial/env.err")" "1 1"
for flavour in "${flavours[@]}"; do
	printf '#!/bin/sh\nexec mpirun.%s "$@"\n' "$flavour" >"$trial/path/mpirun"
	chmod +x "$trial/path/mpirun"
	is "env: auto, the real $flavour" "$(PATH=$trial/path:$PATH "$crit" env)" "$("$crit" env --mpi="$flavour")"
done

# What a shell makes of the exported lines is what was set.
awkward=$' a\'b "c" $HOME `id` \\n *\n\ttab;#&|<>!'
for shell in sh bash; do
	# shellcheck disable=SC2016
	got=$(CRIT_DIR=$awkward "$crit" env --export >"$trial/export.sh" &&
		"$shell" -c '. "$1"; printf "%s|%s." "$CRIT_DIR" "$LD_PRELOAD"' - "$trial/export.sh" 2>/dev/null)
	[ "$got" = "$awkward|$shim." ]
	point "env: --export, $shell" $? "$(wc -l <"$trial/export.sh") lines"
done

# A path that LD_PRELOAD cannot hold.
mkdir -p "$trial/a b/bin" "$trial/a b/lib"
cp "$crit" "$trial/a b/bin/"
: >"$trial/a b/lib/libcrit_pmpi.so"
"$trial/a b/bin/crit" env --mpi=mpich >"$trial/env.out" 2>"$trial/env.err"
is "env: a path with a blank" "$? $(wc -c <"$trial/env.out") $(grep -c 'cannot preload' "$trial/env.err")" "1 0 1"

# replies WORD…: what bash offers at the end of that line.
replies() {
	COMP_WORDS=(crit "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_crit "$crit" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
	((!${#COMPREPLY[@]})) || printf '%s ' "${COMPREPLY[@]}"
}
# runs WORD…: the same, in order; bash lists directories as they lie.
runs() {
	replies "$@" | xargs -n 1 | sort | xargs
}
# shellcheck source=../../jobs/completion/crit.sh
. "$root/jobs/completion/crit.sh"
is "completion: is there" "$(complete -p crit)" "complete -F _crit crit"
is "completion: a command" "$(replies rep)" "report "
offered=$(replies "")
for command in run report what-if doctor config env finish --help; do
	[[ " $offered" == *" $command "* ]]
	point "completion: commands, $command" $? "$offered"
done
is "completion: an option" "$(replies run --lev)" "--level= "
is "completion: options of a command" "$(replies config --)" "--dump --help "
is "completion: a word after =" "$(replies run --level = tr)" "trace "
is "completion: words after =" "$(replies report --csv =)" "ranks threads regions calls sites hot messages collectives "
is "completion: a word after a letter" "$(replies run -l p)" "profile "
is "completion: launchers" "$(replies env --mpi = m)" "mpich "
is "completion: what waits are listed by" "$(replies waits --by = )" "place rank thread site "
mkdir -p "$trial/here/run1" "$trial/here/other" "$trial/here/run2"
: >"$trial/here/run1/node.crit"
: >"$trial/here/run2/node.crit"
cd "$trial/here" || exit 1
is "completion: directories of runs" "$(runs report "")" "run1 run2"
is "completion: runs to play" "$(runs waits "") $(runs what-if "")" "run1 run2 run1 run2"
is "completion: a directory of a run" "$(replies report run2)" "run2 "
is "completion: what to export" "$(replies export "")" "otf2 "
is "completion: a run to export" "$(replies export otf2 run1)" "run1 "
is "completion: any directory for output" "$(replies report -o oth)" "other "
is "completion: the way to a run" "$(cd .. && replies report her)" "here "
ln -s /bin/true "$trial/path/crit-test-program"
PATH=$trial/path:$PATH
is "completion: a program" "$(replies run crit-test-pro)" "crit-test-program "
is "completion: a program after --" "$(replies run -- crit-test-pro)" "crit-test-program "
is "completion: a program after options" "$(replies run --level = trace -o x crit-test-pro)" "crit-test-program "
is "completion: an option of the program" "$(replies run true --lev)" ""
trial_end
