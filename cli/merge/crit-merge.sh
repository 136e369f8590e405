#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# crit-merge: runs the crit-merge of the MPI library whose launcher started it.
# usage: mpirun crit-merge [OPTION...] DIRECTORY|FILE...
set -eu
here=$(dirname "$(readlink -f "$0")")

# What a batch script preloads for the program it measures is not for us.
unset LD_PRELOAD OMP_TOOL_LIBRARIES
export CRIT_DISABLE=1

if [ -n "${PMI_FD-}${PMI_RANK-}${PMI_SIZE-}" ]; then
	flavours="mpich openmpi"
else
	flavours="openmpi mpich"
fi
for flavour in $flavours; do
	[ -x "$here/crit-merge.$flavour" ] && exec "$here/crit-merge.$flavour" "$@"
done
echo "crit-merge: no crit-merge.openmpi or crit-merge.mpich beside $here/crit-merge; install one" >&2
exit 1
