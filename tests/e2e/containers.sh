#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks in a container with a root directory and a pid namespace of its own: with a collector inside, which has no use
# for the kernel half there, and with the host's, which has.  What is mounted is what critd(8) lists.
# usage: containers.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "to make namespaces"
[ ${#flavours[@]} -gt 0 ] || exit 77
flavour=${flavours[0]}
mkdir -p "$trial/root" "$trial/work" "$trial/crit/bin" "$trial/crit/lib" "$trial/run"
cp "$build/bin/crit" "$build/bin/critd" "$trial/crit/bin/"
cp -P "$build"/lib/libcrit_* "$trial/crit/lib/"
wants_cpus=1

# The root of the container: system, crit and program; then the directory of the run, and others FROM:TO.
cat >"$trial/enter.sh" <<'END'
set -e
root=$1
shift
mount --make-rprivate /
mount -t tmpfs none "$root"
mkdir -p "$root"/{usr,etc,proc,dev,tmp,old}
for name in bin sbin lib lib64; do [ ! -e "/$name" ] || ln -s "usr/$name" "$root/$name"; done
for mounted in /usr:/usr /etc:/etc /dev:/dev $MOUNTS; do
	mkdir -p "$root${mounted#*:}"
	mount --rbind "${mounted%%:*}" "$root${mounted#*:}"
done
mount -t proc proc "$root/proc"
cd "$root"
pivot_root . old
umount -l /old
exec "$@"
END

# contain MOUNTS COMMAND…: in a container; sets status.
contain() {
	MOUNTS="$trial/crit:/opt/crit $apps:/apps $trial_lib:/first $trial/work:/work $1" unshare --mount --pid --fork \
		env -u XDG_RUNTIME_DIR bash "$trial/enter.sh" "$trial/root" env -C /work "${@:2}" >"$trial/out" 2>&1
	status=$?
}

# contained NAME MODE SUM-OF-RUNNING MOUNTS: two ranks, 3:1.
contained() {
	local name=$1 mode=$2 launch=("mpirun.$flavour" -np 2)
	dir=$trial/work/$name
	report=$dir/report.json
	[ "$flavour" = openmpi ] && launch+=(-x LD_PRELOAD=/opt/crit/lib/libcrit_pmpi.so) ||
		launch+=(-genv LD_PRELOAD /opt/crit/lib/libcrit_pmpi.so)
	launch+=(/first/first_in_line "/apps/barrier_imbalance.$flavour" -n 12 -p -m 30:10)
	whole_cpus contain "$3" "CRIT_DIR=/work/$name" "${launch[@]}"
	has_last_report 10
	[ "$status" -eq 0 ] && [ "$(ask 'r["job"]["mode"], len(r["ranks"])')" = "('$mode', 2)" ]
	point "$name: mode is $mode" $? "exit $status, $(sed -n 2p "$dir/report.txt")"
	within "$name: share(0)" "$(ask 'share(0)')" 0.75 0.9
	check_laws "$name"
}

# asks_doctor NAME STATUS MOUNTS PATTERN…
asks_doctor() {
	local name=$1 expected=$2 pattern bad=""
	contain "$3" /opt/crit/bin/crit doctor
	for pattern in "${@:4}"; do
		grep -qE "^$pattern" "$trial/out" || bad+=" no \"$pattern\""
	done
	[ "$status" -eq "$expected" ] && [ -z "$bad" ]
	point "$name: doctor" $? "exit $status${bad:-, $(grep -m 1 privileges "$trial/out")}"
}

contained inside approximate /sys:/sys
said=$(ask '[x["what"] for x in r["missing"]]')
[ "$said" = "[\"wakeups on $(uname -n): critd is not in the host's pid namespace\"]" ]
point "inside: report says why" $? "$said"
asks_doctor inside 1 /sys:/sys 'MISSING trial run .*not the host' 'MISSING privileges .*pid namespace' \
	' +fix: share the host'

"$build/bin/critd" --service --socket-path "$trial/run/host.sock" 2>"$trial/critd.err" &
host=$!
wait_for 5 test -S "$trial/run/host.sock"
export CRIT_SOCKET=/run/crit/host.sock
contained host full "$trial/run:/run/crit"
[ "$(ask '[x["what"] for x in r["missing"]]')" = "[]" ] && grep -q ' barrier_imbalance\.c:[0-9]' "$dir/report.txt"
point "host: nothing is missing, lines have names" $? "$(grep -m 1 ' barrier_imb.*c:[0-9]' "$dir/report.txt")"
asks_doctor host 0 "$trial/run:/run/crit" 'ok +kernel BTF +the collector that serves you' 'ok +trial run' \
	'ok +privileges +the collector that serves you has them' 'nothing is missing'
kill "$host"
wait "$host"
trial_end
