#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that believe to be on several nodes, one of which lacks the library: the program prints what it prints without
# crit, and the other ranks are recorded.  Where rank 0 lacks it, it is not asked for messages of any tag: those that
# reported to it are among them.
# usage: absent.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
three_on_any
export CRIT_QUIET=1                      # to compare what is printed

# The program of a rank: that of $LACKS is not given the library.
cat >"$trial/node" <<END
#!/usr/bin/env bash
rank=\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}
unset OMPI_COMM_WORLD_LOCAL_SIZE MPI_LOCALNRANKS
[ "\$rank" = "\$LACKS" ] || export LD_PRELOAD=$shim
exec "\$@"
END
chmod +x "$trial/node"

# printed NAME: what the program and its MPI said; UCX, in a rank 0 that lacks the library, says what nobody received.
printed() {
	sort "$trial/$1.out" "$trial/$1.err" | grep -vE "^\[.* UCX  WARN  unexpected tag-receive descriptor"
}

# start NAME FLAVOUR LACKING: most of the time its ranks wait for the one that cannot answer.
start() {
	export LACKS=$3
	compose bare "$2" 3 "$trial/node" "$apps/absent.$2" "$3"
	CRIT_DIR=$trial/$1 timeout -k 5 100 "${command[@]}" >"$trial/$1.out" 2>"$trial/$1.err"
	echo $? >"$trial/$1.status"
}

for flavour in "${flavours[@]}"; do
	for lacking in 2 1 0; do
		launch "bare-$lacking-$flavour" bare "$flavour" 3 absent "$lacking"
	done
done
for flavour in "${flavours[@]}"; do
	for lacking in 2 1 0; do
		start "lacks-$lacking-$flavour" "$flavour" "$lacking" &
	done
done
wait
for flavour in "${flavours[@]}"; do
	for lacking in 2 1 0; do
		name=lacks-$lacking-$flavour
		dir=$trial/$name report=$trial/$name/report.json
		status=$(cat "$trial/$name.status")
		[ "$status" -eq 0 ] && [ -s "$trial/$name.out" ] &&
			diff <(printed "bare-$lacking-$flavour") <(printed "$name") >"$trial/diff"
		point "$name: prints the same" $? "status $status $(head -n 5 "$trial/diff" | paste -sd' ')"
		has_last_report 15
		facts=$(ask '[x["rank"] for x in r["ranks"]], lacks()')
		[[ $facts = *"1 of 3 ranks, not recorded"* && $facts != *"[0, 1, 2]"* ]]
		point "$name: the other two are recorded" $? "$facts"
	done
done
trial_end
