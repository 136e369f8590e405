#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# 10,000 connects of another user to a collector that root started: at most 1 % of a CPU where they come in a second.
# usage: strangers.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/collector.sh
. "$(dirname "$0")/../lib/collector.sh"
trial_begin "$1"
needs_root "to start a collector for another user"
connects=10000
stranger=65533

# Prints how many connects did not fail, and then the last error.
knock() {
	python3 -c '
import socket, sys
made, why = 0, ""
for i in range(int(sys.argv[2])):
	with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
		try:
			s.connect(sys.argv[1])
			made += 1
		except OSError as error:
			why = error.strerror
print(made, why)' "$socket" "$1"
}

collector_begin
said=$(stat -c '%u %a' "$socket")
[ "$said" = "$trial_nobody 600" ]
point "the socket is its user's alone" $? "$said"

export -f knock
export socket
as_user "$stranger" bash -c "knock $connects"
before=$(collector_cpu_ns)
said=$("${command[@]}")
after=$(collector_cpu_ns)
[ "$said" = "0 Permission denied" ]
point "connects of a stranger" $? "made: $said"
within "CPU time of the collector, ns per connect" "$(((after - before) / connects))" 0 1000

as_user "$trial_nobody" bash -c 'knock 1'
said=$("${command[@]}")
[ "${said%% *}" = 1 ]
point "its user is let in" $? "made: $said"
collector_end
trial_end
