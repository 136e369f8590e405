/* SPDX-License-Identifier: BSD-3-Clause */
/* crit-merge, whatever carries what its processes tell each other. */
#ifndef CRIT_MERGE_H
#define CRIT_MERGE_H

#include "analysis/cluster/transport.h"

struct crit_elf_reader;

/*
 * Runs one of the processes.  Process 0 speaks for all; answers the exit code of this one.
 * reader: takes it; made before MPI_Init, after which forking is not safe everywhere; may be NULL.
 */
int crit_merge_main(int argc, char **argv, const struct crit_transport *transport,
		    struct crit_elf_reader *reader);

#endif
