#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# crit waits: a late receiver, late progress, a late root and a late part of a reduction are the causes; a leaf that
# comes late to a broadcast is nobody's.
# usage: partners.sh BUILD-DIRECTORY [full]
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "for the full kernel half"
wants_cpus=1

# share RANK: of all waiting, per cent.
share() {
	ask 'round(100 * sum(c["share"] for c in r["causes"] if c["rank"] == '"$1"'
		and c["kind"] in ("code", "blocked")), 1)' \
		"$trial/waits"
}

for flavour in "${flavours[@]}"; do
	for case in "receiver 1 0" "progress 1 0" "wait 1 0" "wait_progress 1 0" "exchange 1 0" "elsewhere 1 0" \
		${2:+"all 1 0"} "leaf 0 2" "gather 1 2"; do
		read -r mode late innocent <<<"$case"
		launch "$mode-$flavour" run "$flavour" 3 late_partners "$mode" 20
		"$crit" waits --json --by=rank "$dir" >"$trial/waits" 2>"$trial/waits.err"
		[ $? -ne 1 ] # 3: the kernel lost a record, which is not what this is about
		point "$mode, $flavour: the laws of waits hold" $? "$(cat "$trial/waits.err")"
		within "$mode, $flavour: waited for rank $late, per cent" "$(share "$late")" 85 100
		within "$mode, $flavour: waited for rank $innocent, per cent" "$(share "$innocent")" 0 12
	done
done
trial_end
