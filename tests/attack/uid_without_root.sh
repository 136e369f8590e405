#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# critd --uid of an ordinary user is refused, whomever it names.
# usage: uid_without_root.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "to become another user"
for uid in 0 "$trial_nobody" 65533; do
	as_user "$trial_nobody" timeout 10 "$build/bin/critd" --uid "$uid" --idle-exit 1 --no-kernel \
		--socket-path "$trial/home-$trial_nobody/socket"
	"${command[@]}" >"$trial/out" 2>"$trial/err"
	[ $? -eq 2 ] && grep -q "^critd: --uid $uid needs root" "$trial/err" && [ "$(wc -l <"$trial/err")" = 1 ]
	point "--uid $uid by user $trial_nobody" $? "$(cat "$trial/err")"
	[ ! -e "$trial/home-$trial_nobody/socket" ]
	point "--uid $uid by user $trial_nobody: no socket" $? ""
done
trial_end
