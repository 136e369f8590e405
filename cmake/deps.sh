#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Install what crit needs on Debian or Ubuntu; does nothing when all is there.
# usage: deps.sh [build|check|accept|bench]...
set -euo pipefail

# What the build and the demo need.
build=(build-essential clang llvm libbpf-dev libelf-dev libdw-dev libjansson-dev zlib1g-dev
	libisal-dev libseccomp-dev libcap-dev libcap2-bin openmpi-bin libopenmpi-dev mpich
	libmpich-dev libomp-dev libgmp-dev libopen-trace-format2-dev pkg-config cmake ninja-build python3 util-linux)
# What the tests and the benches need besides; libc6-dbg names the C library's own functions, as that of pthread_join.
check=(libc6-dbg procps bpftrace shellcheck codespell clang-format clang-tidy cppcheck mandoc libclang-rt-dev
	gfortran iproute2 libslurm-dev hpcc pbzip2 otf2-tools python3-otf2 python3-six)
# What make accept needs besides: a Slurm, a viewer of traces, with all of Qt behind it, programs of other people,
# another kernel's machine, and a server with clients.
accept=(e2fsprogs munge slurmctld slurmd slurm-client elfutils vite gromacs lammps mumps-test nwchem-openmpi
	nwchem-data qemu-system-x86 busybox-static cpio mariadb-server sysbench)
# What make bench needs besides: programs that call MPI a lot, and another tracer.
bench=(mumps-test netpipe-openmpi eztrace)

say() { printf 'deps: %s\n' "$*" >&2; }

distribution=$(sed -n 's/^ID=//p' /etc/os-release 2>/dev/null || true)
case $distribution in
debian)
	build+=(bpftool)
	check+=(linux-perf)
	;;
ubuntu)
	build+=(linux-tools-common linux-tools-generic)
	;;
*)
	say "cannot install packages on '${distribution:-unknown}':" \
		"only Debian and Ubuntu are known here;" \
		"install the equivalents of: ${build[*]}; for the tests also: ${check[*]} ${accept[*]}"
	exit 1
	;;
esac

wanted=()
for group in "${@:-build}"; do
	case $group in
	build) wanted+=("${build[@]}") ;;
	check) wanted+=("${check[@]}") ;;
	accept) wanted+=("${accept[@]}") ;;
	bench) wanted+=("${bench[@]}") ;;
	*)
		say "no such group of packages: '$group'; usage: deps.sh [build|check|accept|bench]..."
		exit 2
		;;
	esac
done

# dpkg-query fails when a package is unknown: that package is simply missing.
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
	grep -qx "installed $package" <<<"$installed" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
	exit 0
fi

as_root=()
if ((EUID != 0)); then
	if ! command -v sudo >/dev/null; then
		say "not root, and no sudo; as root: apt-get install ${missing[*]}"
		exit 1
	fi
	as_root=(sudo)
fi
say "installing ${missing[*]}"
"${as_root[@]}" apt-get -qq update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install \
	"${missing[@]}" >/dev/null </dev/null
