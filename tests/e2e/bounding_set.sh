#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# An ordinary user whose critd has file capabilities, with and without them in the bounding set, as containers have it;
# what else takes them away; and doctor, who says what there is.
# usage: bounding_set.sh BUILD-DIRECTORY
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
needs_root "to become another user and to give critd capabilities"
wanted=cap_bpf,cap_perfmon

# copy_with FLAG: a copy of the programs for ordinary users, critd with file capabilities of that kind.
copy_with() {
	copy=$trial/with+$1
	mkdir -p "$copy/bin" "$copy/lib"
	cp "$build/bin/crit" "$build/bin/critd" "$copy/bin/"
	cp -P "$build"/lib/libcrit_* "$copy/lib/"
	setcap "$wanted+$1" "$copy/bin/critd"
	chmod -R a+rX "$copy"
}

declare -A limits=([full]=--clear-groups [without]="--bounding-set=-bpf,-perfmon,-sys_admin" [nnp]=--no-new-privs)

# run_with NAME LIMIT ENVIRONMENT… COMMAND…: in a directory of an ordinary user; sets status, dir, report.
run_with() {
	local name=$1 limit=$2 above
	shift 2
	above=$(mktemp -d "$trial/$name.XXXX")
	chown "$trial_nobody" "$above"
	dir=$above/run
	report=$dir/report.json
	as_user "$trial_nobody" env "CRIT_DIR=$dir" "$@"
	setpriv "${limits[$limit]}" "${command[@]}" >"$trial/$name.out" 2>"$trial/$name.err"
	status=$?
}

# has_mode NAME MODE: of the last run, which ended well.
has_mode() {
	[ "$status" -eq 0 ] && [ "$(ask 'r["job"]["mode"]')" = "$2" ]
	point "$1: mode is $2" $? "exit $status, $(sed -n 2p "$dir/report.txt" 2>&1)"
}

# doctor NAME STATUS PATTERN…: its exit status and lines, of the last copy; limits[], before[] and program[] before it.
doctor() {
	local name=$1 expected=$2 pattern bad=""
	shift 2
	as_user "$trial_nobody" "${before[@]}" "$copy/bin/crit" doctor "${program[@]}"
	"${around[@]}" setpriv "${limits[$limit]}" "${command[@]}" >"$trial/doctor.out" 2>&1
	status=$?
	for pattern in "$@"; do
		grep -qE "^$pattern" "$trial/doctor.out" || bad+=" no \"$pattern\""
	done
	[ "$status" -eq "$expected" ] && [ -z "$bad" ]
	point "doctor, $name" $? "exit $status${bad:-, $(grep -m 1 privileges "$trial/doctor.out")}"
}
around=()
before=()
program=()
container='start the container with CAP_BPF and CAP_PERFMON '

copy_with p
limit=full doctor "+p, full" 0 'ok +privileges .* has the file capabilities' 'ok +trial run' 'nothing is missing'
limit=without doctor "+p, without" 1 'MISSING privileges .* not in this container.s bounding set' " +fix: $container" \
	'MISSING trial run .*approximate' 'crit works, but'
limit=nnp doctor "+p, nnp" 1 'MISSING privileges .*no_new_privs is set here' 'MISSING trial run .*approximate'
before=(unshare --user --map-root-user)
limit=full doctor "+p, user namespace" 1 'MISSING privileges .*user namespace' ' +fix: serve it from the host'
before=()
around=(unshare --mount sh -c "mount --bind $copy $copy && mount -o remount,bind,nosuid $copy && exec \"\$@\"" sh)
limit=full doctor "+p, nosuid" 1 'MISSING privileges .*mounted nosuid' 'MISSING trial run .*approximate'
around=(unshare --mount sh -c "mount -t tmpfs none /dev/shm && mkdir /dev/shm/crit-$trial_nobody && exec \"\$@\"" sh)
limit=full doctor "squatted directory" 0 \
	"- +socket directory +/dev/shm/crit-$trial_nobody belongs to user 0, not to user $trial_nobody; ask root"
around=()
for pair in "full full" "without approximate" "nnp approximate"; do
	read -r limit mode <<<"$pair"
	run_with "run-$limit" "$limit" "$copy/bin/crit" run -- "$apps/burn" 50
	has_mode "+p, $limit, crit run" "${mode/full/kernel only}"
	if [ "$limit" = without ]; then
		said=$(ask '[x["mend"] for x in r["missing"]]')
		grep -q "$container" <<<"$said"
		point "+p, $limit, crit run: what would help" $? "$said"
	fi
	if [ "$limit" = nnp ] || [ ${#flavours[@]} -eq 0 ]; then
		continue
	fi
	run_with "ranks-$limit" "$limit" "LD_PRELOAD=$copy/lib/libcrit_pmpi.so" "mpirun.${flavours[-1]}" -np 2 \
		"$apps/exchange_only.${flavours[-1]}"
	has_mode "+p, $limit, ${flavours[-1]}" "$mode"
done

# The kernel does not execute a file that is to have at once (+ep) what it cannot be given.
copy_with ep
run_with run-ep full "$copy/bin/crit" run -- "$apps/burn" 50
has_mode "+ep, full, crit run" "kernel only"
run_with run-ep without "$copy/bin/crit" run -- "$apps/burn" 50
said="cannot start critd: Operation not permitted; its file capabilities are not in this container's bounding set; "
said+="fix: sudo setcap $wanted+p"
[ "$status" -eq 0 ] && grep -qx "crit run: nothing is recorded: $said /.*/critd" "$trial/run-ep.err" &&
	[ "$(wc -l <"$trial/run-ep.err")" = 1 ]
point "+ep, without, crit run: runs, says why unrecorded" $? "exit $status, $(head -n 1 "$trial/run-ep.err")"
limit=without doctor "+ep, without" 1 'MISSING privileges .*does not execute critd' ' +fix: sudo setcap .*[+]p ' \
	'MISSING trial run .*cannot start critd' 'crit records nothing here'
limit=full doctor "+ep, full" 0 'nothing is missing'
trial_end
