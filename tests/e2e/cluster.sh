#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Three nodes, two ranks on each: one result, also of what is damaged, lost, or dies.
# usage: cluster.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"
trial_begin "$1"
cluster_needs || exit 77
cluster_up 3
point "three nodes" $? "$(cat "$cluster"/*.log)"

# A slow rank on the second node, and a slow third node.
ms=400:400:400:1000:700:700

# launch_known NAME: once more where strangers held a rank up for long, four times at most; fills error.
launch_known() {
	local i
	for ((i = 0; i < 4; i++)); do
		rm -rf "${trial:?}/$1"
		cluster_launch "$1" "$shim" "$flavour" 2 deadlines -n 1 -m "$ms"
		[ "$status" -eq 0 ] && has_last_report 15 || return
		read -r error _ < <("$trial_lib/deadlines.py" 1 "$ms" "$report")
		! python3 -c "import sys; sys.exit(not ${error:-9} <= 0.1)" || return 0
	done
}

for flavour in "${flavours[@]}"; do
	name=run-$flavour
	launch_known "$name"
	point "$name: program and report" $? "status $status $(head -n 1 "$trial/$name.err")"
	said=$(ask 'r["job"]["nodes"], len(r["ranks"]), lacks()')
	[ "$said" = "(3, 6, [])" ] && [ "$(find "$dir" -name '*.crit' | wc -l)" -eq 3 ]
	point "$name: one result of three nodes" $? "$said"
	check_laws "$name"
	within "$name: error of the shares" "${error:-none}" 0 0.1

	# nodes earn what their ranks earn; on the second one rank 3 works longest
	said=$(ask '([(n["ranks"], n["imbalance"]["slowest"]) for n in r["nodes"]][1],
		abs(sum(n["share"] for n in r["nodes"]) - 1) < 1e-9,
		max(abs(n["cmetric_s"] - sum(x["cmetric_s"] for x in r["ranks"] if x["node"] == n["host"]))
			for n in r["nodes"]) < 1e-9)')
	[ "$said" = "((2, 'rank 3'), True, True)" ]
	point "$name: rows of nodes" $? "$said $(ask '[n["cmetric_s"] for n in r["nodes"]]')"

	# one kernel, so the truth is 0; a drift that nobody believes leaves one comparison, as in shim/nodes.sh
	said=$(ask '[(n["clock"][:8], abs(n["clock_offset_s"]) <= n["clock_bound_s"] < 0.05) for n in r["nodes"]]')
	[ "$said" = "[('referenc', True), ('compared', True), ('compared', True)]" ]
	point "$name: clocks compared" $? "$said $(ask '[n["clock_bound_s"] for n in r["nodes"]]')"
done

# The same without the shim in the launcher's environment: crit run on each rank.
cluster_launch inside "" "${flavours[0]}" 2 "$crit" run -- "$apps/deadlines.${flavours[0]}" -n 1 -m 50:50:50:100:50:50
has_last_report 15
said=$(ask 'r["job"]["nodes"], len(r["ranks"]), lacks()')
[ "$said" = "(3, 6, [])" ] && [ "$(grep -c '^crit: report' "$trial/inside.err")" -eq 1 ]
point "crit run on each rank: one result of three nodes" $? "$said $(tail -n 1 "$trial/inside.err")"
dir=$trial/$name report=$dir/report.json

# One node's recording is damaged or lost: the rest is merged, and the report names the node.
home=$dir
damage_lost() { rm "$1"; }
damage_empty() { truncate -s 0 "$1"; }
damage_cut() { truncate -s -100 "$1"; } # in the last chunk
damage_flipped() { # among the last records of the kernel; what tells of a rank may lie anywhere else
	PYTHONPATH=$trial_lib python3 - "$1" <<'END'
import sys

import recording
with open(sys.argv[1], "r+b") as file:
    data = file.read()
    last = [bytes(payload) for kind, payload in recording.chunks(data) if kind == 2][-1]
    at = data.rindex(last) + len(last) // 2
    file.seek(at)
    file.write(bytes([data[at] ^ 0x10]))
END
}
merge_damaged() {
	local launch=("mpirun.$flavour" -np 2)
	[ "$flavour" = mpich ] || launch+=(--oversubscribe)
	rm -rf "$trial/merged"
	"${launch[@]}" "$build/bin/crit-merge" -o "$trial/merged" "$trial/damaged" \
		>"$trial/damaged.out" 2>"$trial/damaged.err"
}
# what: ranks left, lines that must be there
declare -A told=(
	[lost]="4 node n2: its recording is not here"
	[empty]="4 node n2: nothing in its recording can be read"
	[cut]="6 bytes cut at the end of the recording on n2: what came after"
	[flipped]="6 chunk with a wrong checksum in the recording on n2"
)
for damage in lost empty cut flipped; do
	rm -rf "$trial/damaged"
	cp -r "$home" "$trial/damaged"
	damage_$damage "$trial/damaged/n2.crit"
	"$crit" report --json "$trial/damaged" >"$trial/damaged.json" 2>"$trial/damaged.err"
	status=$?
	report=$trial/damaged.json
	[ "$status" -eq 3 ] && grep -qF "${told[$damage]#* }" "$report"
	point "$damage: exit 3, and what is unknown" $? "$status: $(ask '[x["what"] for x in r["missing"]][0]')"
	[ "$(ask 'len(r["ranks"]), rank(3)["cmetric_s"] if len(r["ranks"]) == 6 else 0, checks() < 1e-9' |
		cut -d, -f1,3)" = "(${told[$damage]%% *}, True)" ]
	point "$damage: the rest is merged" $? "$(ask '[x["rank"] for x in r["ranks"]], checks()')"
	merge_damaged
	[ $? -eq 3 ] && cmp -s "$report" "$trial/merged/report.json"
	point "$damage: crit-merge says the same" $? "$(head -n 1 "$trial/damaged.err")"
done
rm "$trial"/damaged/*.crit
touch "$trial/damaged/n1.crit" "$trial/damaged/n2.crit"
"$crit" report "$trial/damaged" >"$trial/damaged.out" 2>"$trial/damaged.err"
[ $? -eq 1 ] && grep -q "cannot read .*n[12].crit" "$trial/damaged.err"
point "nothing left to merge: exit 1" $? "$(cat "$trial/damaged.err")"

# A rank on the second node is gone before MPI_Finalize: launched bare or not, all ends alike.  MPICH's launcher
# and the other ranks, in MPI_Finalize, may wait for ever then; once they are killed, what crit started ends.
if [ -x "$apps/ends.openmpi" ]; then
	name=vanish
	cluster_launch "bare-$name" "" openmpi 1 ends vanish 0.3
	bare=$status
	cluster_launch "$name" "$shim" openmpi 1 ends vanish 0.3
	[ "$status" -eq "$bare" ] && [ "$status" -ne 124 ]
	point "$name: exit status" $? "$status, bare $bare"
	has_last_report 15
	said=$(ask '[(x["rank"], x["node"]) for x in r["ranks"]], rank(1)["has_closed"]')
	[ "$said" = "([(0, 'n1'), (1, 'n2'), (2, 'n3')], False)" ]
	point "$name: all ranks in the report" $? "$said"
	check_laws "$name"
fi
has_no_crit() {
	! pgrep -f "^[^ ]*(critd|crit) .*$trial" >/dev/null
}
if [ -x "$apps/ends.mpich" ]; then
	name=vanish-mpich
	cluster_patience=10 cluster_spared="bin/crit*" cluster_launch "$name" "$shim" mpich 1 ends vanish 0.3
	wait_for 30 has_no_crit
	point "$name: crit ends" $? "status $status $(pgrep -af "^[^ ]*(critd|crit) .*$trial" | head -n 2)"
	has_last_report 15
	said=$(ask '[(x["rank"], x["node"]) for x in r["ranks"]], rank(1)["has_closed"]')
	[ "$said" = "([(0, 'n1'), (1, 'n2'), (2, 'n3')], False)" ]
	point "$name: all ranks in the report" $? "$said"
	check_laws "$name"
fi
trial_end
