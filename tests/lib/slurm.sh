# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A Slurm for tests on one machine, trial.sh with it: a munged, a slurmctld, and a slurmd in each node.  A node is a
# process that sleeps in namespaces of its own: host name, network, mounts (so that /run, where collectors listen, is
# its own, too), shared memory.  Kernel, processes and all other files are one.
# usage: trial_begin BUILD; slurm_install; slurm_up COUNT; …; trial_end.  Needs root.
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "${BASH_SOURCE[0]}")/trial.sh"

slurm_programs=(munged slurmctld slurmd srun sbatch scancel scontrol squeue sinfo ip)
slurm_nodes=()
slurm_holders=()
slurm_cpus=8 # of a node, more than there are: steps wait for each other otherwise

# slurm_needs: is all here?  If not, says what is missing and returns 1.
slurm_needs() {
	local program
	PATH=$PATH:/usr/sbin:/sbin
	if [ "$(id -u)" -ne 0 ]; then
		echo "skip: needs root, to make nodes"
		return 1
	fi
	for program in "${slurm_programs[@]}"; do
		command -v "$program" >/dev/null && continue
		echo "skip: $program is missing; cmake/deps.sh accept installs it"
		return 1
	done
	[ -e "$build/lib/slurm/crit.so" ] && return 0
	echo "skip: the plug-in for srun is not built; cmake/deps.sh check installs what it needs"
	return 1
}

# An installation of crit in $prefix, which prolog and epilog belong to.
slurm_install() {
	prefix=$trial/crit
	cmake --install "$build" --prefix "$prefix" >/dev/null
}

# slurm_up COUNT [LINE…]: n1, n2, …, all idle.  The lines go into slurm.conf.
slurm_up() {
	local count=$1 i
	shift
	slurm=$trial/slurm
	slurm_network=10.211.9
	mkdir -p "$slurm/ctld"
	trap 'slurm_down; trial_cleanup' EXIT
	for ((i = 1; i <= count; i++)); do
		slurm_nodes+=("n$i")
		echo "$slurm_network.$i n$i"
	done >"$slurm/hosts"
	echo "127.0.0.1 localhost" >>"$slurm/hosts"
	for i in "${slurm_nodes[@]}"; do
		slurm_add_node "$i" || return 1
	done
	slurm_connect_nodes || return 1
	slurm_configure "$@" >"$slurm/slurm.conf"
	export SLURM_CONF=$slurm/slurm.conf
	slurm_start || return 1
	wait_for 60 slurm_is_idle
}

slurm_add_node() {
	# shellcheck disable=SC2016
	setsid unshare --net --uts --ipc --mount --propagation private bash -euc '
		mount --bind "$1/hosts" /etc/hosts
		mount -t tmpfs -o mode=1777 shm /dev/shm
		mount -t tmpfs -o mode=755 run /run
		mkdir "$1/files-$2"
		chmod 1777 "$1/files-$2"
		hostname "$2"
		ip link set lo up
		echo $$ >"$1/$2.pid"
		exec sleep infinity' bash "$slurm" "$1" </dev/null >"$slurm/$1.log" 2>&1 &
	wait_for 10 [ -s "$slurm/$1.pid" ] || return 1
	slurm_holders+=("$(cat "$slurm/$1.pid")")
}

# A bridge in the first node, which vanishes with it, and a wire to it from each node; a bridge is no device to UCX.
slurm_connect_nodes() {
	local i
	on_node n1 ip link add bridge type bridge || return 1
	on_node n1 ip link set bridge up
	for ((i = 0; i < ${#slurm_holders[@]}; i++)); do
		on_node n1 ip link add "wire$i" type veth peer name eth0 netns "${slurm_holders[i]}" || return 1
		on_node n1 ip link set "wire$i" master bridge up
		on_node "${slurm_nodes[i]}" ip addr add "$slurm_network.$((i + 1))/24" dev eth0
		on_node "${slurm_nodes[i]}" ip link set eth0 up
	done
}

# on_node NODE COMMAND [ARGUMENT…]
on_node() {
	local holder
	holder=$(cat "$slurm/$1.pid")
	HOSTNAME=$1 TMPDIR=$slurm/files-$1 nsenter -t "$holder" --net --uts --ipc --mount --wd="$PWD" "${@:2}"
}

slurm_configure() {
	local node i=0
	cat <<-END
		ClusterName=crit
		SlurmctldHost=n1($slurm_network.1)
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$slurm/munge.sock
		StateSaveLocation=$slurm/ctld
		SlurmdSpoolDir=$slurm/spool-%n
		SlurmctldPidFile=$slurm/slurmctld.pid
		SlurmdPidFile=$slurm/slurmd-%n.pid
		SlurmctldLogFile=$slurm/slurmctld.log
		SlurmdLogFile=$slurm/slurmd-%n.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SchedulerType=sched/backfill
		SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0
		SlurmdParameters=config_overrides
		ReturnToService=2
		MpiDefault=none
		KillWait=2
		OverTimeLimit=0
		JobRequeue=1
		InactiveLimit=0
		TmpFS=$slurm/files-%n
		PlugStackConfig=$slurm/plugstack.conf
		PrologFlags=Alloc
	END
	printf '%s\n' "$@"
	for node in "${slurm_nodes[@]}"; do
		i=$((i + 1))
		echo "NodeName=$node NodeHostname=$node NodeAddr=$slurm_network.$i CPUs=$slurm_cpus State=UNKNOWN"
	done
	echo "PartitionName=all Nodes=n[1-$i] Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES"
}

slurm_start() {
	local node
	(
		umask 077
		head -c 128 /dev/urandom >"$slurm/munge.key"
	)
	# one munged for all nodes: a socket in the file system belongs to no network
	munged --force --key-file="$slurm/munge.key" --socket="$slurm/munge.sock" --pid-file="$slurm/munged.pid" \
		--log-file="$slurm/munged.log" --seed-file="$slurm/munge.seed" --num-threads=2 2>"$slurm/munged.err" ||
		return 1
	echo "optional $prefix/lib/slurm/crit.so prolog=$prefix/libexec/crit/slurm/prolog" >"$slurm/plugstack.conf"
	on_node n1 slurmctld -c || return 1
	for node in "${slurm_nodes[@]}"; do
		on_node "$node" slurmd -N "$node" || return 1
	done
}

# All nodes are idle: no job is left, nothing was drained.
slurm_is_idle() {
	[ "$(on_node n1 sinfo -h -N -t idle -o '%N %T' 2>/dev/null | grep -c ' idle$')" = "${#slurm_nodes[@]}" ]
}

# slurm_stop SIGNAL FILE: the daemon whose number is in FILE, if it still is what it says.
slurm_stop() {
	local pid name=${2##*/}
	name=${name%.pid}
	pid=$(cat "$2" 2>/dev/null) || return 0
	[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "${name%%-*}" ] || return 0
	kill "-$1" "$pid"
}

slurm_is_down() {
	local file
	for file in "$slurm"/{slurmd-*,slurmctld,munged}.pid; do
		! slurm_stop 0 "$file" || [ ! -e "$file" ] || return 1
	done
}

slurm_down() {
	local node pid
	[ ! -s "$slurm/slurmctld.pid" ] || on_node n1 timeout 5 scancel --state=RUNNING,PENDING 2>/dev/null
	for node in "$slurm"/{slurmd-*,slurmctld,munged}.pid; do
		slurm_stop TERM "$node"
	done
	wait_for 10 slurm_is_down
	for node in "$slurm"/{slurmd-*,slurmctld,munged}.pid; do
		slurm_stop KILL "$node"
	done
	for pid in "${slurm_holders[@]}"; do
		kill "$pid" 2>/dev/null
	done
	slurm_holders=() slurm_nodes=()
}

# slurm_as UID COMMAND…: on the first node, as an ordinary user in a home of his own.
slurm_as() {
	local command
	as_user "$@"
	home=$trial/home-$1
	(cd "$home" && on_node n1 "${command[@]}")
}
