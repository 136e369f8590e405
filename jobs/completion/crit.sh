# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Completion of crit for bash.  Commands and options are what crit itself says with --help.

# _crit_words WORD LIST: those of the list that begin so.
_crit_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1")
}

# _crit_directories WORD: directories; only those of runs, if there are any.
_crit_directories()
{
	local directory runs=()
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -d -- "$1")
	for directory in "${COMPREPLY[@]}"; do
		compgen -G "$directory/*.crit" >/dev/null && runs+=("$directory")
	done
	((!${#runs[@]})) || COMPREPLY=("${runs[@]}")
}

# _crit_value CRIT COMMAND OPTION WORD: what may follow the option; false when nothing may.
_crit_value()
{
	case $3 in
	-l | --level) _crit_words "$4" "trace profile" ;;
	--omp) _crit_words "$4" "llvm" ;;
	-a | --active) _crit_words "$4" "default kernel poll-active may-wait-active" ;;
	-m | --mpi) _crit_words "$4" "auto openmpi mpich slurm" ;;
	-p | --pid) _crit_words "$4" "$(ps -o pid= -u "$EUID" 2>/dev/null)" ;;
	-o | --output | --directory) _crit_directories "$4" ;;
	--csv) _crit_words "$4" "ranks threads regions calls sites hot messages collectives" ;;
	--by) if [[ $2 == waits ]]; then _crit_words "$4" "place rank thread site"; else
		_crit_words "$4" "line function library"
	fi ;;
	--color) _crit_words "$4" "auto always never" ;;
	-*) [[ $("$1" "$2" --help 2>/dev/null </dev/null) == *"$3="* ]] ;; # anything may
	*) false ;;
	esac
}

# _crit_program: the place of the program of crit run, where it begins before the cursor.
_crit_program()
{
	local at
	for ((at = 2; at < COMP_CWORD; at++)); do
		case ${COMP_WORDS[at]} in
		--) ((++at)) && break ;;
		-[olap] | =) ((++at)) ;;
		--output | --level | --active | --pid | --omp) [[ ${COMP_WORDS[at + 1]} == = ]] || ((++at)) ;;
		-*) ;;
		*) break ;;
		esac
	done
	((at < COMP_CWORD)) || [[ ${COMP_WORDS[at - 1]} == -- ]] && echo "$at"
}

# _crit CRIT WORD PREVIOUS
_crit()
{
	local crit=$1 word=${2#=} option=$3 command=${COMP_WORDS[1]} program
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_crit_words "$word" "$("$crit" --help 2>/dev/null </dev/null |
			sed -n 's/^  crit \([a-z-]*\) .*/\1/p') --help --version"
		return
	fi
	program=$([[ $command != run ]] || _crit_program)
	if [[ -n $program ]]; then
		if declare -F _command_offset >/dev/null; then
			_command_offset "$program"
		else
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -c -- "$word" && compgen -f -- "$word")
		fi
		return
	fi
	# bash cuts --level=tr into three words
	if [[ $option == = ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if _crit_value "$crit" "$command" "$option" "$word"; then
		return
	fi
	if [[ $word == -* ]]; then
		_crit_words "$word" "$("$crit" "$command" --help 2>/dev/null </dev/null |
			grep -oE -- '--[a-z][a-z-]*=?' | sort -u)"
		[[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null
		return
	fi
	case $command in
	run) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
	export)
		_crit_words "$word" otf2
		((COMP_CWORD == 2)) || _crit_directories "$word"
		;;
	report | waits | what-if | annotate | diff | verify | finish | gather) _crit_directories "$word" ;;
	esac
}

complete -F _crit crit
