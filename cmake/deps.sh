#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Install what crit needs on Debian or Ubuntu; does nothing when all is there.
# usage: deps.sh [build|check]...
set -euo pipefail

# What the build and the demo need.
build=(build-essential clang llvm libbpf-dev libelf-dev libdw-dev libjansson-dev zlib1g-dev
	libisal-dev libseccomp-dev libcap-dev libcap2-bin openmpi-bin libopenmpi-dev mpich
	libmpich-dev libgmp-dev pkg-config cmake ninja-build python3 util-linux)
# What the tests and the benches need besides.
check=(bpftrace shellcheck codespell clang-format clang-tidy cppcheck mandoc libclang-rt-dev
	hpcc pbzip2)

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
		"install the equivalents of: ${build[*]}; for the tests also: ${check[*]}"
	exit 1
	;;
esac

wanted=()
for group in "${@:-build}"; do
	case $group in
	build) wanted+=("${build[@]}") ;;
	check) wanted+=("${check[@]}") ;;
	*)
		say "no such group of packages: '$group'; usage: deps.sh [build|check]..."
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
