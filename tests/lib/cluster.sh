# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A cluster for tests on one machine, trial.sh with it.  A node is a process that sleeps in namespaces of its own: host
# name, network, mounts.  It has its own files at $node_files, and an address on a bridge that nothing else is on, in a
# network namespace of its own: what the machine filters or routes is no matter.
# Kernel, processes, memory and all other files are one, and so is the clock unless a node is told otherwise.
# Open MPI's messages go over the bridge; MPICH's, over shared memory all the same: its UCX, kept to TCP, hangs in
# MPI_Finalize every other time, on one plain machine as well.
# usage: cluster_needs || exit 77; cluster_up COUNT; cluster_compose …; …; trial_end.
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "${BASH_SOURCE[0]}")/trial.sh"

cluster_network=10.211.7
cluster_nodes=()
cluster_holders=()
declare -A cluster_time=() # of a node: "SECONDS NANOSECONDS" its CLOCK_MONOTONIC is ahead of the host's
declare -A cluster_clock=() # of a node: its CRIT_TEST_CLOCK
declare -A cluster_delay=() # of a node: microseconds what it sends, and what it is sent, is under way
cluster_relays=()
cluster_directory= # of a run, where it is none that the nodes share

# cluster_needs: can nodes be made here?  If not, says why.
cluster_needs() {
	local why
	if [ "$(id -u)" -ne 0 ]; then
		echo "skip: needs root, to make network namespaces"
		return 1
	fi
	why=$(unshare --net --uts --mount bash -ec '
		hostname none
		ip link add bridge type bridge
		ip link add one type veth peer name other' 2>&1) && return
	echo "skip: no nodes can be made here: $(head -n 1 <<<"$why")"
	return 1
}

# cluster_up COUNT: n1, n2, …  What was set for them by name holds from now on.
cluster_up() {
	local count=$1 i
	cluster=$trial/cluster
	node_files=$trial/node # a mount point; what is in it differs from node to node
	mkdir -p "$cluster" "$node_files"
	trap 'cluster_down; trial_cleanup' EXIT
	# shellcheck disable=SC2016
	setsid unshare --net bash -euc '
		ip link add bridge type bridge
		ip link set bridge up
		echo $$ >"$1/switch.pid"
		exec sleep infinity' bash "$cluster" </dev/null >"$cluster/switch.log" 2>&1 &
	wait_for 10 [ -s "$cluster/switch.pid" ] || return 1
	cluster_switch=$(cat "$cluster/switch.pid")
	cluster_holders=("$cluster_switch")
	cluster_nodes=()
	for ((i = 1; i <= count; i++)); do
		cluster_nodes+=("n$i")
		echo "$cluster_network.$i n$i"
	done >"$cluster/hosts"
	echo "127.0.0.1 localhost" >>"$cluster/hosts"
	for ((i = 1; i <= count; i++)); do
		cluster_add "n$i" "$cluster_network.$i" || return 1
	done
	cluster_write_agent
}

# cluster_add NODE ADDRESS
cluster_add() {
	local node=$1 address=$2 holder way=()
	# shellcheck disable=SC2206
	[ -z "${cluster_time[$node]:-}" ] || way=("$trial_lib/elsewhen" ${cluster_time[$node]})
	echo "CRIT_TEST_CLOCK=${cluster_clock[$node]:-}" >"$cluster/$node.environment"
	# shellcheck disable=SC2016
	setsid "${way[@]}" unshare --net --uts --mount --propagation private bash -euc '
		mount -t tmpfs -o mode=1777 files "$3"
		if [ ! -e /etc/hosts ]; then # as on a system just bootstrapped
			cp -a /etc "$3/etc"
			: >"$3/etc/hosts"
			mount --bind "$3/etc" /etc
		fi
		mount --bind "$1/hosts" /etc/hosts
		mkdir -m 700 "$3/runtime"
		hostname "$2"
		ip link set lo up
		echo $$ >"$1/$2.pid"
		exec sleep infinity' bash "$cluster" "$node" "$node_files" \
		</dev/null >"$cluster/$node.log" 2>&1 &
	wait_for 10 [ -s "$cluster/$node.pid" ] || return 1
	holder=$(cat "$cluster/$node.pid")
	cluster_holders+=("$holder")
	cluster_connect "$node" "$holder" "${cluster_delay[$node]:-}" &&
		nsenter -t "$holder" --net ip addr add "$address/24" dev eth0 &&
		nsenter -t "$holder" --net ip link set eth0 up
}

# cluster_connect NODE HOLDER [DELAYS]: a wire to the bridge, or two taps and who carries frames between them.
cluster_connect() {
	local node=$1 holder=$2 delays=$3 switch=(nsenter -t "$cluster_switch" --net)
	if [ -z "$delays" ]; then
		"${switch[@]}" ip link add "$node" type veth peer name eth0 netns "$holder" || return 1
	else
		# shellcheck disable=SC2086
		"${switch[@]}" "$apps/relay" "$node" "$holder" eth0 $delays &
		cluster_relays+=("$!")
		disown
		wait_for 10 nsenter -t "$holder" --net ip link show eth0 >/dev/null 2>&1 || return 1
	fi
	"${switch[@]}" ip link set "$node" master bridge up
}

# What launchers call as they would ssh: agent [OPTION…] NODE COMMAND…
cluster_write_agent() {
	local node first_in_line=$trial_lib/first_in_line
	{
		echo '#!/usr/bin/env bash'
		declare -p cluster cluster_time node_files | sed 's/^declare --/declare/'
		echo "first_in_line=$first_in_line"
		cat <<'END'
while [[ $1 = -* ]]; do shift; done
node=$1
shift
set -a
. "$cluster/$node.environment"
set +a
[ -n "$CRIT_TEST_CLOCK" ] || unset CRIT_TEST_CLOCK
export HOSTNAME=$node TMPDIR=$node_files XDG_RUNTIME_DIR=$node_files/runtime
way=(--net --uts --mount --root)
[ -z "${cluster_time[$node]:-}" ] || way+=(--time)
exec setsid -w "$first_in_line" nsenter -t "$(cat "$cluster/$node.pid")" "${way[@]}" --wd="$PWD" sh -c "$*"
END
	} >"$cluster/agent"
	chmod +x "$cluster/agent"
	for node in "${cluster_nodes[@]}"; do echo "$node slots=64"; done >"$cluster/hostfile"
}

# on_node NODE COMMAND [ARGUMENT…]
on_node() {
	local node=$1
	shift
	"$cluster/agent" "$node" "$(printf '%q ' "$@")"
}

# Fills command[] with a launch from the first node: LIBRARY FLAVOUR RANKS-PER-NODE PROGRAM [ARGUMENT…]
# LIBRARY is preloaded; "" for a bare run.
cluster_compose() {
	local library=$1 flavour=$2 each=$3 program=$4 launch=()
	shift 4
	[ -x "$program" ] || program=$apps/$program.$flavour
	if [ "$flavour" = mpich ]; then
		launch=(mpirun.mpich -launcher ssh -launcher-exec "$cluster/agent" -iface eth0
			-hosts "$(IFS=,; echo "${cluster_nodes[*]}")" -ppn "$each"
			-np $((each * ${#cluster_nodes[@]})) ${library:+-genv LD_PRELOAD "$library"})
	else
		launch=(mpirun.openmpi --hostfile "$cluster/hostfile" --map-by "ppr:$each:node" --bind-to none
			--mca plm rsh --mca plm_rsh_agent "$cluster/agent" --mca pml ob1
			--mca btl "tcp,vader,self" --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0
			--mca mpi_yield_when_idle 1 -x CRIT_DIR ${library:+-x "LD_PRELOAD=$library"})
	fi
	command=(on_node "${cluster_nodes[0]}" "${launch[@]}" "$trial_lib/first_in_line" "$program" "$@")
}

# cluster_launch NAME LIBRARY FLAVOUR RANKS-PER-NODE PROGRAM…: to its end, which must come; sets status, dir, report.
cluster_launch() {
	local name=$1
	shift
	cluster_compose "$@"
	dir=${cluster_directory:-$trial/$name}
	report=$dir/report.json
	export CRIT_DIR=$dir
	export -f on_node
	export cluster
	# shellcheck disable=SC2016
	timeout -k 5 "${cluster_patience:-60}" bash -c '"$@"' bash "${command[@]}" \
		>"$trial/$name.out" 2>"$trial/$name.err" </dev/null
	status=$?
	unset CRIT_DIR
	[ "$status" -ne 124 ] || cluster_clear
}

# Ends what runs in the nodes, but not the nodes, nor executables whose path ends in $cluster_spared.
cluster_clear() {
	local process spaces=" " spared=" ${cluster_holders[*]} ${cluster_relays[*]} "
	for process in "${cluster_holders[@]}"; do
		spaces+="$(readlink "/proc/$process/ns/net") "
	done
	for process in /proc/[0-9]*; do
		[[ $spared = *" ${process#/proc/} "* ]] ||
			[[ $spaces != *" $(readlink "$process/ns/net") "* ]] ||
			[[ -n ${cluster_spared:-} && $(readlink "$process/exe") = */$cluster_spared ]] ||
			kill -KILL "${process#/proc/}"
	done 2>/dev/null
}

cluster_down() {
	cluster_clear
	kill "${cluster_holders[@]}" "${cluster_relays[@]}" 2>/dev/null
	rm -rf "$cluster"
	cluster_holders=() cluster_relays=() cluster_nodes=()
}
