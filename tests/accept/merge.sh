#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One run of many nodes: one to four processes of crit-merge, on both MPIs, write what crit report and crit export do,
# to the byte.
# usage: merge.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/archive.sh
. "$(dirname "$0")/../lib/archive.sh"
trial_begin "$1"
unset CRIT_OTF2
"$crit" --version | grep -q 'built without OTF2' && export CRIT_OTF2=0
merge=$build/bin/crit-merge

# merged FLAVOUR PROCESSES ARGUMENT…: fills command[].
merged() {
	local flavour=$1 processes=$2
	shift 2
	command=("mpirun.$flavour")
	[ "$flavour" = openmpi ] && command+=(--oversubscribe)
	command+=(-np "$processes" "$merge" "$@")
}

# exported: the serial archive beside the serial report; crit export says 3 where records were lost.
exported() {
	[ "${CRIT_OTF2-}" = 0 ] && return
	"$crit" export otf2 -o "$trial/serial" "$@" >"$trial/export.out" 2>"$trial/export.err" ||
		grep -q 'records were lost' "$trial/export.err"
}

# events ARCHIVE: its event lines, location by location, as another reader sees them.
events() {
	local location
	for location in 0 1 4294967296; do
		timeout 60 otf2-print -L "$location" "$1/traces.otf2" 2>&1 | head -n 50000
	done
}

# alike NAME STATUS RECORDING…: every way of merging yields the serial report, archive and exit status; an archive's
# identifier, in the anchor, is new each time.
alike() {
	local name=$1 expected=$2 flavour processes
	shift 2
	"$crit" report -o "$trial/serial" "$@" 2>"$trial/serial.err"
	[ $? -eq "$expected" ]
	point "$name: serial" $? "$(head -n 1 "$trial/serial.err")"
	exported "$@"
	point "$name: serial archive" $? "$(head -n 1 "$trial/export.err")"
	for flavour in "${flavours[@]}"; do
		for processes in 1 2 3 4; do
			rm -rf "$trial/merged"
			merged "$flavour" "$processes" -o "$trial/merged" "$@"
			"${command[@]}" >"$trial/merge.out" 2>"$trial/merge.err"
			[ $? -eq "$expected" ] &&
				diff -r -x traces.otf2 "$trial/serial" "$trial/merged" >"$trial/diff"
			point "$name: $flavour, $processes processes" $? \
				"$(head -qn 1 "$trial/merge.err" "$trial/diff")"
		done
		[ "${CRIT_OTF2-}" = 0 ] && continue
		cmp -s <(events "$trial/serial") <(events "$trial/merged")
		point "$name: $flavour, event lines of otf2-print" $? ""
	done
	rm -rf "$trial/serial"
}

# synth NAME OPTION…: a recording in closed form.
synth() {
	local name=$1
	shift
	"$build/bin/crit-synth" "$@" "$trial/$name" >"$trial/$name.truth"
}

synth many -n 64 -r 16 -e 2000 -s 5 -m
synth long -n 8 -r 16 -e 40000 -s 4
alike many 0 "$trial/many"
alike long 0 "$trial/long"
synth spinning -n 3 -r 2 -t 3 -e 10000 -s 1 -S
alike spinning 0 "$trial/spinning"
[ "${CRIT_OTF2-}" = 0 ] || read_by "spinning: merged" "$trial/merged" "$trial/merged/report.json"
synth skewed -n 3 -r 2 -e 50000 -s 1 -m -c 60000
alike skewed 0 "$trial/skewed"
said=$("$trial_lib/report.py" <("$crit" report --json "$trial/skewed") \
	'r["messages"]["losses"]["received_before_sent"], [n["clock_shift_s"] != 0 for n in r["nodes"]]')
[ "$said" = "(0, [False, True, True])" ]
point "skewed: clocks are moved, messages in order" $? "$said"
synth single -n 1 -r 4 -e 10000 -s 1
alike "one node" 0 "$trial/single"

# A node's recording torn in mid-chunk, another's lost: what is left is merged, and is incomplete.
cut=$trial/spinning/node1.crit
truncate -s $(($(stat -c %s "$cut") * 2 / 3)) "$cut"
rm "$trial/spinning/node2.crit"
alike torn 3 "$trial/spinning"

# A file system that is full: the report is there, no half archive, and nobody waits for ever.
if [ "${CRIT_OTF2-}" != 0 ] && [ "$(id -u)" -eq 0 ]; then
	mkdir "$trial/small"
	mount -t tmpfs -o size=2m none "$trial/small"
	for flavour in "${flavours[@]}"; do
		rm -rf "$trial/small"/*
		merged "$flavour" 3 -o "$trial/small" "$trial/long"
		timeout 120 "${command[@]}" >"$trial/merge.out" 2>"$trial/merge.err"
		[ $? -eq 1 ] && grep -q '^crit-merge: .*No space left' "$trial/merge.err" &&
			[ -s "$trial/small/report.json" ] && [ -z "$(find "$trial/small" -name '*traces*')" ]
		point "$flavour: a full file system" $? "$(grep '^crit-merge' "$trial/merge.err")"
	done
	umount "$trial/small"
fi

# Beside the recordings by default; another rule; and nobody records the merge itself.
for flavour in "${flavours[@]}"; do
	rm -f "$trial/many"/report.*
	merged "$flavour" 2 --active=kernel "$trial/many"
	(cd "$trial" && LD_PRELOAD=$shim "${command[@]}" 2>"$trial/merge.err")
	"$crit" report --active=kernel --json "$trial/many" | cmp -s - "$trial/many/report.json"
	point "$flavour: beside the recordings, another rule" $? "$(head -n 1 "$trial/merge.err")"
	[ -z "$(find "$trial" -maxdepth 1 -name 'crit-crit-merge*')" ]
	point "$flavour: not recorded itself" $? ""
	[ "${CRIT_OTF2-}" = 0 ] || [ -s "$trial/many/traces.otf2" ]
	point "$flavour: an archive beside the recordings" $? ""
	rm -rf "$trial/many"/traces*
	(cd "$trial" && CRIT_OTF2=0 "${command[@]}" 2>"$trial/merge.err") && [ ! -e "$trial/many/traces.otf2" ]
	point "$flavour: no archive with CRIT_OTF2=0" $? "$(head -n 1 "$trial/merge.err")"
	merged "$flavour" 2 "$trial/nothing"
	"${command[@]}" >"$trial/merge.out" 2>"$trial/merge.err"
	[ $? -eq 1 ] && [ "$(grep -c '^crit-merge: cannot open' "$trial/merge.err")" -eq 1 ]
	point "$flavour: no such directory" $? "$(grep '^crit-merge' "$trial/merge.err")"
	merged "$flavour" 2
	"${command[@]}" >"$trial/merge.out" 2>"$trial/merge.err"
	[ $? -eq 2 ] && [ "$(grep -c '^crit-merge: no recording given' "$trial/merge.err")" -eq 1 ]
	point "$flavour: no argument" $? ""
done
trial_end
