#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Three nodes without a shared file system: the report says who is missing, and recordings are brought home.
# usage: gather.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/cluster.sh
. "$(dirname "$0")/../lib/cluster.sh"
trial_begin "$1"
cluster_needs || exit 77
cluster_up 3
point "three nodes" $? "$(cat "$cluster"/*.log)"

# bring NODE TO: a copy of the node's own directory, as scp would make it.
bring() {
	cp -r "/proc/$(cat "$cluster/$1.pid")/root$node_files/run" "$2"
}

# finish_at_home GATHER_S: what a finisher on the first node makes of $home.
finish_at_home() {
	CRIT_GATHER_S=$1 on_node n1 "$crit" finish --directory "$home" --late
}

# is_gathered STATUS: all in one report, of crit gather's answer or nobody's.
is_gathered() {
	report=$home/report.json
	[ "$1" -eq 0 ] && [ "$(ask '[x["node"] for x in r["ranks"]], lacks(), checks() < 1e-9')" = \
		"(['n1', 'n1', 'n2', 'n2', 'n3', 'n3'], [], True)" ]
}

for flavour in "${flavours[@]}"; do
	name=apart-$flavour
	for node in "${cluster_nodes[@]}"; do on_node "$node" rm -rf "$node_files/run"; done
	export CRIT_GATHER_S=0
	cluster_directory=$node_files/run
	cluster_launch "$name" "$shim" "$flavour" 2 deadlines -n 1 -m 100:100:100:200:100:100
	unset CRIT_GATHER_S
	point "$name: program" "$status" "$(head -n 1 "$trial/$name.err")"
	for node in "${cluster_nodes[@]}"; do
		wait_for 20 on_node "$node" test ! -e "$node_files/run/.finish.lock"
		bring "$node" "$trial/$name-$node"
	done
	home=$trial/$name-n1
	report=$home/report.json
	said=$(ask '[x["what"] for x in r["missing"] if x["what"].startswith("node")], len(r["ranks"])')
	[ "$said" = "(['node n2: its recording is not here', 'node n3: its recording is not here'], 2)" ]
	point "$name: first node's report names the others" $? "$said"
	"$crit" report "$home" >"$trial/$name.txt" 2>&1
	[ $? -eq 3 ]
	point "$name: exit 3" $? "$(grep -c 'not here' "$trial/$name.txt") nodes named"

	rm -f "$home"/report.*
	"$crit" gather "$home" "$trial/$name-n2" "$trial/$name-n3/n3.crit" >"$trial/$name.gathered" 2>&1
	is_gathered $?
	point "$name: gathered" $? "$(tr '\n' ' ' <"$trial/$name.gathered")"
	said=$(stat -c %a "$home"/n[23].crit | sort -u)
	[ "$said" = "$(printf %o $((0666 & ~$(umask))))" ]
	point "$name: permissions are what the umask leaves" $? "$said"
done

# A finisher waits until the others' recordings are whole, but not for longer than it may.
mkdir "$trial/others"
mv "$home"/n[23].crit "$trial/others"
rm -f "$home"/report.*
before=$trial/apart-${flavours[0]}-n2 # the same node, another run
if [ "$home" != "$trial/apart-${flavours[0]}-n1" ]; then
	"$crit" gather "$home" "$before" >"$trial/other.out" 2>"$trial/other.err"
	[ $? -eq 1 ] && grep -q 'is of another run' "$trial/other.err" && [ ! -e "$home/n2.crit" ]
	point "another run's recording is refused" $? "$(cat "$trial/other.err")"
	rm -f "$home"/report.*
fi
finish_at_home 0
said=$(ask 'len(r["ranks"]), sum(x["what"].startswith("node") for x in r["missing"])')
[ "$said" = "(2, 2)" ]
point "CRIT_GATHER_S=0: reports at once" $? "$said"
rm -f "$home"/report.*
cp "$trial/others/n2.crit" "$home"
head -c 4096 "$trial/others/n3.crit" >"$home/n3.crit"
finish_at_home 600 &
finisher=$!
sleep 0.5 # it could be done by now
[ ! -e "$home/report.json" ]
point "CRIT_GATHER_S: waits while one is not whole" $? "$(find "$home" -name 'report*')"
cp "$trial/others/n3.crit" "$home"
wait "$finisher"
is_gathered $?
point "CRIT_GATHER_S: goes on when all are whole" $? "$(ask '[x["rank"] for x in r["ranks"]], lacks()')"
trial_end
