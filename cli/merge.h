/* SPDX-License-Identifier: BSD-3-Clause */
/* crit-merge, whatever carries what its processes tell each other. */
#ifndef CRIT_CLI_MERGE_H
#define CRIT_CLI_MERGE_H

#include "analysis/peers.h"

/* Runs one of the processes.  Peer 0 speaks for all; answers the exit code of this one. */
int crit_merge_main(int argc, char **argv, const struct crit_peers *peers);

#endif
