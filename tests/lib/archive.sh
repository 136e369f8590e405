# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What scripts that look at OTF2 archives share, trial.sh with it.
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "${BASH_SOURCE[0]}")/trial.sh"

archive_patience=600 # seconds for a reader; python3-otf2 takes three minutes for ten million events

# figure_of WHAT DIRECTORY [REPORT]: as Debian's python3 reads it; faults go to python.err.
figure_of() {
	timeout "$archive_patience" /usr/bin/python3 "$trial_lib/otf2_check.py" "$2/traces.otf2" "${3:-$report}" "$1" \
		2>"$trial/python.err"
}

# read_by NAME DIRECTORY [REPORT]: otf2-print is silent on stderr, python agrees with the report, no fault.
# Leaves events: how many there are.
read_by() {
	local name=$1 place=$2 said
	timeout "$archive_patience" otf2-print --silent "$place/traces.otf2" >"$trial/print.out" \
		2>"$trial/print.err" && [ ! -s "$trial/print.err" ]
	point "$name: otf2-print" $? "$(head -n 1 "$trial/print.err")"
	events=$(figure_of events "$place" "${3:-$report}") && [ ! -s "$trial/python.err" ]
	point "$name: python3-otf2 agrees with the report" $? "$events events $(head -n 1 "$trial/python.err")"
	said=$("$crit" verify "$place" 2>"$trial/verify.err")
	point "$name: crit verify" $? "$(tail -n 1 <<<"$said")"
	[[ $said == *", $events events,"* ]]
	point "$name: verify has read them all" $? ""
	[ ! -e "$place/.traces.tmp" ] && [ ! -e "$place/.finish.lock" ]
	point "$name: nothing unfinished is left" $? ""
}

# drawn_by_vite NAME DIRECTORY [STATES]: as many states as there are regions entered, or STATES of them, since what is
# narrower than a pixel is left out.  Its exit status says nothing.
drawn_by_vite() {
	local name=$1 svg=$trial/$1.svg wanted drawn
	QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=$trial timeout "$archive_patience" \
		vite -e "$svg" "$2/traces.otf2" >"$trial/vite.out" 2>&1
	point "$name: vite ends" $? "$(tail -n 1 "$trial/vite.out")"
	wanted=${3:-$(figure_of enters "$2")}
	drawn=$(grep -o '<rect' "$svg" | wc -l)
	[ "$wanted" -gt 0 ] && [ "$drawn" -ge "$wanted" ]
	point "$name: states drawn" $? "$drawn rectangles, at least $wanted"
	rm -f "$svg"
}
