#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Damaged recordings of real programs, their checksums right again: each command of crit that reads them ends with one
# of its own exit codes, whatever was hit.  usage: mutated.sh BUILD-DIRECTORY [COUNT [PRESET]]
# With PRESET (asan) the reader is that preset's crit, built here.
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
count=${2:-50}
is_in_line=
bytes_max=256K # of a recording: the rest is cut off, as by a crash
reader=$crit
if [ -n "${3:-}" ]; then
	root=$(realpath "$(dirname "$0")/../..")
	reader=$root/build-$3/bin/crit
	cmake -S "$root" --preset "$3" >"$trial/configured" && cmake --build "$root/build-$3" --target crit \
		>"$trial/built" 2>&1
	point "crit of preset $3" $? "$(tail -n 1 "$trial/built")"
fi
export ASAN_OPTIONS=exitcode=99:detect_leaks=0 UBSAN_OPTIONS=exitcode=99 MALLOC_CHECK_=3 CRIT_FINISH_S=0

# recorded NAME MODE FLAVOUR RANKS PROGRAM [ARGUMENT…]: a run of it, in a directory of its own.
recordings=()
recorded() {
	local directory=$trial/recorded-$1
	shift
	compose "$@"
	CRIT_DIR=$directory "${command[@]}" >"$trial/out" 2>&1
	point "recorded: ${4##*/}" $? "$(du -sh "$directory" 2>&1 | cut -f 1)"
	truncate -s "<$bytes_max" "$directory"/*.crit
	recordings+=("$directory")
}

declare -A codes
faults=0
played=0
broken=0 # films that contradict themselves, costs that break a law, waits that are not in their thread's cells
# reads COMMAND ARGUMENT…: one of the codes of crit, within a minute.
reads() {
	local code
	timeout -k 2 60 "$reader" "$@" >"$trial/said" 2>"$trial/words" </dev/null
	code=$?
	codes[$code]=$((${codes[$code]:-0} + 1))
	[ "$code" -le 3 ] && return
	faults=$((faults + 1))
	cp -r "$trial/damaged" "$trial/fault-$faults"
	echo "fault $faults: crit $*: code $code: $(tail -n 3 "$trial/words" | tr '\n' ' ')"
}

trial_has statuses.mpich MPICH || exit 77
recorded mpi run mpich 3 statuses exchange
recorded deputies run openmpi 2 deputies 40 3 1
recorded threads run none 0 "$apps/mutex_equal"
[ ! -x "$apps/hybrid-gnu.openmpi" ] || recorded hybrid preload openmpi 2 "$apps/hybrid-gnu.openmpi"

# Of three damaged recordings one has nothing to play: there are more until enough were played.
for ((seed = 1; seed <= count || (played <= count / 2 && seed <= 4 * count); seed++)); do
	from=${recordings[seed % ${#recordings[@]}]}
	rm -rf "$trial/damaged"
	mkdir "$trial/damaged"
	for file in "$from"/*.crit; do
		"$build/tests/crit-mutate" "$file" "$trial/damaged/${file##*/}" "$seed" || exit 1
	done
	reads report "$trial/damaged"
	reads report --active=kernel --json "$trial/damaged"
	reads export otf2 "$trial/damaged"
	reads export otf2 --samples "$trial/damaged"
	reads diff "$trial/damaged" "$from"
	reads verify "$trial/damaged"
	reads waits "$trial/damaged"
	[[ $(cat "$trial/words") = *"cannot play"* || $(cat "$trial/words") = *" ns"* ]] && broken=$((broken + 1))
	reads waits --json "$trial/damaged"
	[ -s "$trial/said" ] || continue # nothing to play
	mv "$trial/said" "$trial/waits.json"
	played=$((played + 1))
	reads report --json "$trial/damaged"
	said=$("$(dirname "$0")/../waits/cells.py" "$trial/waits.json" "$trial/said" 2>&1) && continue
	broken=$((broken + 1))
	echo "seed $seed: $(head -n 2 <<<"$said")"
done
said=
for code in "${!codes[@]}"; do said+="$code: ${codes[$code]} times  "; done
[ "$faults" -eq 0 ]
point "$((seed - 1)) damaged recordings" $? "exit codes $said"
[ "$broken" -eq 0 ] && [ "$played" -gt $((count / 2)) ]
point "the laws of waits hold in each" $? "broken: $broken of $played that could be played"
for code in 0 3; do # some damage is told of, and some does not matter
	[ "${codes[$code]:-0}" -gt 0 ]
	point "some end with $code" $? ""
done
trial_end
