#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every header compiles alone, without a warning.  usage: headers.sh ROOT [BUILD]
set -euo pipefail
root=$1
build=${2:-$root/build}
source "${BASH_SOURCE%/*}/files.sh"

packages=$(pkg-config --cflags jansson libisal libbpf libseccomp libdw 2>/dev/null || true)
read -ra packages <<<"$packages"
read -ra openmpi < <(mpicc.openmpi --showme:compile 2>/dev/null || true)
openmp=$(sed -n 's/^CRIT_OMP_TOOLS:PATH=\(.*[^D]\)$/\1/p' "$build/CMakeCache.txt" 2>/dev/null || true)
flags=(-std=gnu11 -fsyntax-only -Wall -Wextra -Werror -D_GNU_SOURCE -I "$root")

# compile HEADER: natively, or as BPF what only the kernel half includes.
compile()
{
	case $1 in
	*.bpf.h | bpf/vmlinux*.h)
		clang -target bpf -D__TARGET_ARCH_x86 "${flags[@]}" -Wno-unused-function \
			-Wno-unknown-attributes -include bpf/vmlinux_min.h -x c -
		;;
	*)
		"${CC:-cc}" "${flags[@]}" -I "$build/pmpi" -I "$build/bpf" -I "$build/collector" \
			"${packages[@]}" "${openmpi[@]}" ${openmp:+-idirafter "$openmp"} -Wno-unused-function -x c -
		;;
	esac
}

seen=0
while IFS= read -r header; do
	seen=$((seen + 1))
	[[ $header != ompt/* || $openmp ]] || continue # not built either
	if ! compile "$header" <<<"#include \"$header\""; then
		house_fault "$header: does not compile alone"
	fi
done < <(house_files "$root" -name '*.h')
((seen)) || house_fault "no header below $root"
house_verdict headers
