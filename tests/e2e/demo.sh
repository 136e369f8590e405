#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The demonstration: profile a small MPI solver with unequal ranks, show the report, leave a trace for a viewer.
# usage: demo.sh BUILD
set -euo pipefail
build=$(cd "$1" && pwd)

# mpirun wants to be told twice that root is meant.
if ((EUID == 0)); then
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# As installed: the library is found by its name, from any directory.
export LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

export CRIT_FINISH_S=60 # the report is shown below

scratch=$build/demo
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
echo "demo: mpirun -np 2 -x LD_PRELOAD=libcrit_pmpi.so ./heat" >&2
cp "$build/tests/apps/heat.openmpi" heat
mpirun.openmpi --oversubscribe -np 2 -x LD_PRELOAD=libcrit_pmpi.so ./heat 1000 >&2

reports=(crit-*/report.txt)
if [[ ! -s ${reports[0]} ]]; then
	echo "demo: no report.txt below $scratch: look at $build/bin/crit doctor" >&2
	exit 1
fi
echo "demo: $scratch/${reports[0]}" >&2
cat "${reports[0]}"
if "$build/bin/crit" --version | grep -q 'built without OTF2'; then
	exit 0
fi
# The archive follows the report; crit verify waits for it.
"$build/bin/crit" verify "${reports[0]%/*}" >&2
echo "demo: open $scratch/${reports[0]%/*}/traces.otf2 in Vampir; docs/vampir.md says what to look at" >&2
