#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# On other kernels, in a virtual machine without acceleration: the kernel half loads, and two ranks that MPICH
# starts there have the report they have here.  Of its four CPUs one is offline, so their numbers have a hole.  Says
# nothing of costs.
# usage: kernels.sh BUILD-DIRECTORY [KERNEL-IMAGE...]; Debian's own of today where none is named.
# shellcheck source-path=SCRIPTDIR source=../lib/trial.sh
. "$(dirname "$0")/../lib/trial.sh"
trial_begin "$1"
shift

for program in qemu-system-x86_64 busybox cpio mpirun.mpich; do
	command -v "$program" >/dev/null || {
		echo "skipped: $program is not installed; make accept installs it"
		exit 77
	}
done

# Debian's kernel of small virtual machines, which needs no module for a console and memory; fills images.
fetch_image() {
	local package
	package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: //p')
	mkdir -p "$trial/package"
	(cd "$trial/package" && apt-get -qq download "$package") >/dev/null 2>"$trial/package.err" &&
		dpkg -x "$trial"/package/*.deb "$trial/package"
	images=("$trial"/package/boot/vmlinuz-*)
}

# add PATH...: files and the libraries they want, at the same place in the machine.
add() {
	local path file
	for path in "$@"; do
		while read -r file; do
			[ -e "$root$file" ] || install -D "$(realpath "$file")" "$root$file"
		done < <(echo "$path"; ldd "$path" 2>/dev/null | grep -oE '/[^ ]+')
	done
}

# What the machine does when it is up: its findings go to the console, between lines that nobody else writes.
make_root() {
	mkdir -p "$root"/{proc,sys,dev,tmp,run,out,bin,etc}
	add "$(realpath "$build/bin/crit")" "$(realpath "$build/bin/critd")" "$build/lib/libcrit_pmpi.so" \
		"$build"/lib/libcrit_pmpi_mpich.so "$build"/lib/libcrit_ompt.so "$apps/barrier_imbalance.mpich" \
		"$(command -v mpirun.mpich)" "$(command -v hydra_pmi_proxy)" "$(command -v busybox)"
	find "$build/lib" -name 'libcrit_*' | while read -r file; do add "$file"; done
	echo "root:x:0:0:root:/:/bin/sh" >"$root/etc/passwd"
	cat >"$root/init" <<END
#!$(command -v busybox) sh
$(command -v busybox) --install -s /bin
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm && mount -t tmpfs tmpfs /dev/shm
ifconfig lo 127.0.0.1 up
hostname machine
echo 0 >/sys/devices/system/cpu/cpu1/online
echo "KERNEL \$(uname -r)"
$build/bin/crit doctor 2>&1 | sed 's/^/DOCTOR /'
CRIT_DIR=/out/run $build/bin/crit run -- mpirun.mpich -np 2 -hosts localhost -launcher fork \\
	$apps/barrier_imbalance.mpich -n 20 -m 60:20 2>&1 | sed 's/^/SAID /'
for i in \$(seq 120); do [ -s /out/run/report.json ] || sleep 1; done
gzip -c /out/run/report.json | base64 | sed 's/^/REPORT /'
poweroff -f
END
	chmod +x "$root/init"
	(cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$trial/initrd"
}

# boot IMAGE NAME: to its end, which must come; fills report.  Without cmpxchg16b, after which QEMU 7.2 now and then
# leaves garbage in the flags: a double fault in kmalloc, 2 of 14 boots of 6.12.
boot() {
	timeout -k 5 "${kernel_patience:-420}" qemu-system-x86_64 -accel tcg,thread=multi -cpu max,-cx16 -smp 4 \
		-m 1536 -kernel "$1" -initrd "$trial/initrd" -append "console=ttyS0 quiet panic=-1" -no-reboot \
		-display none -monitor none -serial "file:$trial/$2.console" </dev/null >"$trial/$2.err" 2>&1
	point "$2: the machine ends" $? "$(tail -n 1 "$trial/$2.console" | tr -d '\r')"
	report=$trial/$2.json
	tr -d '\r' <"$trial/$2.console" | sed -n 's/^REPORT //p' |
		base64 -d 2>/dev/null | gzip -dc >"$report" 2>/dev/null
}

root=$trial/root
images=("$@")
((${#images[@]})) || fetch_image
[ -r "${images[0]}" ]
point "a kernel" $? "$(cat "$trial/package.err" 2>/dev/null)"
make_root
for image in "${images[@]}"; do
	name=${image##*/vmlinuz-}
	boot "$image" "$name"
	said=$(ask '([(x["kernel_half"], x["cpus"]) for x in r["nodes"]], len(r["ranks"]), lacks(), lost(),
		checks() < 1e-9)')
	[ "$said" = "([('bpf', 3)], 2, [], 0, True)" ]
	point "$name: a whole report" $? \
		"$said $(grep -a "^\(DOCTOR [^on]\|SAID\)" "$trial/$name.console" | tr -d '\r' | head -n 3)"
	# rank 0 works for 60 ms of each turn, rank 1 for 20
	said=$(ask 'share(0) > share(1), len(r["hot"]) > 1')
	[ "$said" = "(True, True)" ]
	point "$name: shares, and lines" $? "$said $(ask 'share(0), len(r["hot"])')"
	within "$name: complete call paths, per cent" "$(python3 -S "$trial_lib/paths.py" "$report" complete)" 90 100
done
trial_end
