#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every #include "room/…" follows the arrows between rooms.  usage: arrows.sh ROOT
set -euo pipefail
root=$1
source "${BASH_SOURCE%/*}/files.sh"

# What each room may include: patterns on the included path.  Generated headers carry no room.
declare -A sees=(
	[core]='core/*'
	[bpf]='bpf/* core/abi/*.h'
	[collector]='collector/* core/*'
	[pmpi]='pmpi/* core/*'
	[ompt]='ompt/* core/*'
	[analysis]='analysis/* core/*'
	[otf2]='otf2/* analysis/* core/*'
	[report]='report/* analysis/* core/*'
	[cli]='cli/* core/* analysis/* report/* otf2/*'
	[jobs]='core/*'
	[tests]='*'
)

# may ROOM PATH: is the arrow allowed?
may()
{
	local pattern
	local -a patterns
	read -ra patterns <<<"${sees[$1]}"
	for pattern in "${patterns[@]}"; do
		# shellcheck disable=SC2053 # the right side is a pattern
		[[ $2 == $pattern ]] && return 0
	done
	return 1
}

seen=0
while IFS= read -r file; do
	room=${file%%/*}
	if [[ -z ${sees[$room]:-} ]]; then
		house_fault "$file: '$room' is not a room"
		continue
	fi
	while IFS=: read -r line text; do
		path=${text#*\"}
		path=${path%%\"*}
		seen=$((seen + 1))
		if [[ $path != */* ]]; then
			# One without a room is generated into the room's build folder.
			[[ -e $root/${file%/*}/$path ]] &&
				house_fault "$file:$line: \"$path\": include from the root"
		elif ! may "$room" "$path"; then
			house_fault "$file:$line: $room may not include \"$path\""
		fi
	done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$root/$file" || true)
done < <(house_files "$root" -name '*.[ch]')
((seen)) || house_fault "no #include found below $root"
house_verdict arrows
