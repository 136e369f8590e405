#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that believe to be elsewhere: on two nodes, in a time namespace.
# usage: nodes.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "to give each rank a host name"

# The program of a rank: a host name and a collector of its own.
cat >"$trial/node" <<END
#!/usr/bin/env bash
rank=\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}
unset OMPI_COMM_WORLD_LOCAL_SIZE MPI_LOCALNRANKS
export SLURM_NNODES=\$((rank + 1)) # parts of a heterogeneous job
[ "\$rank" != "\${LEFT_OUT:-}" ] || export CRIT_DISABLE=1
export XDG_RUNTIME_DIR=$trial/runtime-\$rank CRIT_DIR=\$1-%h
mkdir -p -m 700 "\$XDG_RUNTIME_DIR"
exec unshare --uts bash -c 'hostname "n\$0"; LD_PRELOAD=$shim exec "\$@"' "\$rank" "\${@:2}"
END
chmod +x "$trial/node"

for flavour in "${flavours[@]}"; do
	name=$trial/nodes-$flavour
	launch "bare-$flavour" bare "$flavour" 2 "$trial/node" "$name" \
		"$apps/every_call.$flavour" "$name.rank"
	[ "$status" -eq 0 ] && [ "$(cat "$name".rank.* | grep -c ^result)" -eq 16 ]
	point "$flavour: results" $? "status $status"
	[ -s "$name-n0/n0.crit" ] && [ -s "$name-n0/n1.crit" ] && [ ! -e "$name-n1/n1.crit" ]
	point "$flavour: both recordings in rank 0's directory" $? "$(ls -d "$name"-n*/*.crit)"

	# rank 0's node reports on both, and nothing is left of the other's directory
	dir=$name-n0 report=$name-n0/report.json
	has_last_report 10
	[ "$(ask 'r["job"]["nodes"], len(r["ranks"]), lacks()')" = "(2, 2, [])" ] &&
		wait_for 5 [ ! -e "$name-n1" ]
	point "$flavour: one report of both nodes" $? "$(ask 'r["missing"]') $(ls -A "$name-n1" 2>/dev/null)"

	# one clock, compared over TCP or shared memory at both ends: the truth is 0
	# (a machine that is busy in so short a run shows a drift nobody believes: one comparison is left)
	clocks=$(ask '[(n["clock"][:8], abs(n["clock_offset_s"]) <= n["clock_bound_s"] < 0.01) for n in r["nodes"]]')
	[ "$clocks" = "[('referenc', True), ('compared', True)]" ]
	point "$flavour: clocks compared" $? "$clocks $(ask '[n["clock_bound_s"] for n in r["nodes"]]')"

	mkdir "$trial/away"
	mv "$dir/n1.crit" "$trial/away"
	: >"$dir/n1.crit.tmp" # as of one that was killed meanwhile
	"$crit" report --json "$dir" >"$trial/alone.json" 2>/dev/null
	[ $? -eq 3 ] && [ "$(ask 'any(x["what"].startswith("node n1:") for x in r["missing"])' \
		"$trial/alone.json")" = True ]
	point "$flavour: the node that is missing is named" $? "$(ask 'r["missing"]' "$trial/alone.json")"

	taken=$("$crit" gather "$dir" "$trial/away") # exit 3 where the kernel hid too many switches
	[ "$taken" = "$dir/n1.crit" ] && [ "$(ask 'lacks(), len(r["ranks"])')" = "([], 2)" ]
	point "$flavour: gathered" $? "$taken"
	"$crit" gather "$dir" "$trial/away" >/dev/null 2>"$trial/gather.err"
	[ $? -eq 1 ] && grep -q 'there is one already' "$trial/gather.err" && rm -r "$trial/away"
	point "$flavour: once is enough" $? "$(cat "$trial/gather.err")"

	# where the first rank is left out, the next one has the say
	name=$trial/second-$flavour
	LEFT_OUT=0 launch "second-bare-$flavour" bare "$flavour" 3 "$trial/node" "$name" \
		"$apps/barrier_imbalance.$flavour" -p -n 2 -m 1:1:1
	[ "$status" -eq 0 ] && [ -s "$name-n1/n1.crit" ] && [ -s "$name-n1/n2.crit" ] && [ ! -e "$name-n0" ]
	point "$flavour: rank 0 left out: both in rank 1's directory" $? "$(ls -d "$name"-n*/*.crit)"

	# a container whose clock is 5000 s ahead: all stamps are the host's nevertheless
	name=late-$flavour
	compose preload "$flavour" 2 barrier_imbalance -p -n 10 -m 30:10
	dir=$trial/$name report=$trial/$name/report.json
	CRIT_DIR=$dir unshare --time --monotonic 5000 "${command[@]}" >"$trial/$name.out" 2>&1
	has_last_report 10 &&
		[ "$(ask 'r["losses"]["tag_disagreements"] + r["losses"]["late_records"]')" = 0 ] &&
		[ "$(ask 'r["job"]["window_s"] < 1000')" = True ]
	point "$flavour: time namespace" $? "share of rank 0: $(ask 'share(0)')"
done
trial_end
