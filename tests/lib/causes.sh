# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What crit waits says of a run: the table of causes, and whether its laws hold; trial.sh with it.
# usage: . causes.sh; trial_begin BUILD-DIRECTORY; record NAME COMMAND…; waits; whole $? NAME
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "${BASH_SOURCE[0]}")/trial.sh"

# record COMMAND…: sets dir.
record() {
	dir=$trial/$1
	shift
	whole_cpus record_once "$@"
}

record_once() {
	CRIT_DIR=$dir "$crit" run -- "$@" >"$trial/out" 2>"$trial/err"
}

# waits OPTION…: what crit waits says of the run in $dir.
waits() {
	"$crit" waits "$@" "$dir" >"$trial/waits" 2>"$trial/waits.err"
}

# cause ROW COLUMN: of the table of causes.
cause() {
	sed -n '/^Causes/,/^$/p' "$trial/waits" | awk -v row="$1" -v column="$2" '
		head && NR == head + row { print $column + 0 }
		$1 == "cost" && $2 == "s" { head = NR }'
}

# first_share: of all that is in the table of who the first row names, with its want of CPUs, which a busy machine adds.
first_share() {
	sed -n '/^Causes/,/^$/p' "$trial/waits" | awk '
		head { who = substr($0, match($0, /threads? /)); sub(/: wants a CPU.*/, "", who) }
		head && first == "" { first = who }
		head && who == first { sum += $2 }
		$1 == "cost" && $2 == "s" { head = 1 }
		END { print sum + 0 }'
}

whole() {
	local is_whole lost=''
	[ "$1" -eq 0 ] && ! grep -q 'in circles' "$trial/waits"
	is_whole=$?
	[ "$1" -ne 3 ] || lost=$(ask '{name: count for name, count in r["losses"].items() if count}' "$dir/report.json")
	point "$2: the laws of waits hold, none in circles" $is_whole \
		"$(grep 'in circles' "$trial/waits")$(cat "$trial/waits.err") $lost"
}

# laws STATUS NAME: the same, but the kernel may have lost a record, which is not what this is about.
laws() {
	whole $(($1 == 3 ? 0 : $1)) "$2"
}
