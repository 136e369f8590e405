#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Messages a program counts itself, against report.json and the tables, on both MPIs.
# usage: messages.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"

for flavour in "${flavours[@]}"; do
	for ranks in 2 3; do
		name=$flavour-$ranks
		launch "$name" preload "$flavour" "$ranks" messages
		[ "$status" -eq 0 ] && has_last_report 10
		point "$name: program and report" $? "status $status"
		check_laws "$name"
		figures=$("$trial_lib/compare_messages.py" "$dir" "$trial/$name.out")
		point "$name: messages" $? "$figures"
	done

	# at level profile who waits little is not recorded, but still known to be last
	CRIT_LEVEL=profile launch "$flavour-profile" preload "$flavour" 2 messages
	[ "$(ask '[(x["last"][0]["rank"], x["instances"] >= 15) for x in r["messages"]["collectives"]
		if x["name"] == "MPI_Allreduce"]')" = "[(1, True)]" ]
	point "$flavour-profile: who arrives last" $? \
		"$(ask '[x["last"] for x in r["messages"]["collectives"] if x["name"] == "MPI_Allreduce"]')"
	[ "$(ask 'r["messages"]["until_s"]')" = 0.0 ]
	point "$flavour-profile: no trace" $? ""

	# messages too long for their buffers are received, and collectives that fail are counted
	launch "$flavour-fail" preload "$flavour" 2 statuses fail
	said=$(ask '[[(x["from_rank"], x["to_rank"], x["sent_messages"], x["received_messages"])
		for x in r["messages"]["pairs"]], r["messages"]["losses"]["freed_requests"],
		sorted((x["name"][4:], x["instances"], x["incomplete_instances"]) for x in
			r["messages"]["collectives"])]')
	[ "$said" = "[[(0, 1, 9, 9), (1, 0, 1, 1)], 0, [('Barrier', 4, 0), ('Bcast', 1, 0)]]" ]
	point "$flavour-fail: messages and collectives" $? "$said"
	said=$(ask '" ".join(x + " %d" % c["failed"] for x in ("Recv", "Send", "Sendrecv", "Bcast",
		"Wait", "Test", "Waitany", "Waitall", "Irecv")
		for c in r["mpi_calls"] if c["name"] == "MPI_" + x)')
	[ "$said" = "Recv 2 Send 2 Sendrecv 2 Bcast 3 Wait 2 Test 1 Waitany 1 Waitall 1 Irecv 0" ]
	point "$flavour-fail: calls that returned an error" $? "$said"

	# names of communicators, in C and Fortran, in the tables and in the archive
	CRIT_OTF2=1 launch "$flavour-name" preload "$flavour" 2 comm_name
	has_last_report 10
	said=$(ask '[(x["communicator_name"], x["instances"]) for x in r["messages"]["collectives"]
		if x["communicator_name"] != "MPI_COMM_WORLD"]')
	[ "$said" = "[('ocean', 2), ('a name that is longer than one part of a name has room', 2), ('after', 2)]" ]
	point "$flavour-name: communicators by name" $? "$said"
	grep -q '^"ocean",MPI_Barrier,4,' "$dir/collectives.csv" && grep -q 'MPI_Barrier *ocean' "$dir/report.txt"
	point "$flavour-name: in the tables" $? "$(grep -c ocean "$dir/report.txt")"
	if command -v otf2-print >/dev/null && wait_for 10 test -s "$dir/traces.otf2"; then
		said=$(otf2-print -G "$dir/traces.otf2" | grep -cE '^COMM .*"(ocean|after)"')
		[ "$said" = 2 ]
		point "$flavour-name: in the archive" $? "$said"
	fi
	for interface in mpifh usempi usempif08; do
		[ -x "$apps/comm_name_fortran_$interface.$flavour" ] || continue
		launch "$flavour-$interface" preload "$flavour" 2 "comm_name_fortran_$interface"
		said=$(ask '[x["communicator_name"] for x in r["messages"]["collectives"]]')
		[ "$said" = "['MPI_COMM_WORLD', 'atmosphere']" ]
		point "$flavour-$interface: communicator by name" $? "$said"
	done

	[ "$flavour" = mpich ] || continue
	# MPICH does not fill in the status of MPI_Isendrecv: what was posted holds, wildcards stay unknown
	launch exchange preload mpich 3 statuses exchange
	said=$(ask '[[(x["from_rank"], x["to_rank"], x["sent_messages"], x["received_messages"])
		for x in r["messages"]["pairs"]], [r["messages"]["losses"][x] for x in
		("unknown_sources", "unusable_statuses")]]')
	[ "$said" = "[[(0, 1, 6, 4), (1, 2, 6, 4), (2, 0, 6, 4)], [6, 18]]" ]
	point "exchange: sources without a status" $? "$said"
	said=$(ask 'sum("clock" in x["what"] for x in r["missing"])')
	[ "$said" = 0 ]
	point "exchange: no word of clocks on one node" $? "$said rows"
done
trial_end
