#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that believe to be elsewhere: on two nodes, in a time namespace.
# usage: nodes.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
if [ "$(id -u)" -ne 0 ]; then
	echo "skip: needs root, to give each rank a host name"
	exit 77
fi

# The program of a rank: a host name and a collector of its own.
cat >"$trial/node" <<END
#!/usr/bin/env bash
rank=\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}
unset OMPI_COMM_WORLD_LOCAL_SIZE MPI_LOCALNRANKS
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

	# a container whose clock is 5000 s ahead: all stamps are the host's nevertheless
	name=late-$flavour
	compose preload "$flavour" 2 barrier_imbalance -p -n 10 -m 30:10
	dir=$trial/$name report=$trial/$name/report.json
	CRIT_DIR=$dir unshare --time --monotonic 5000 "${command[@]}" >"$trial/$name.out" 2>&1
	[ "$(ask 'r["losses"]["tag_disagreements"] + r["losses"]["late_records"]')" = 0 ] &&
		[ "$(ask 'r["job"]["window_s"] < 1000')" = True ]
	point "$flavour: time namespace" $? "share of rank 0: $(ask 'share(0)')"
done
trial_end
