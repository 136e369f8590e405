/* SPDX-License-Identifier: BSD-3-Clause */
/* The recordings of a run's other nodes: which node reports, and waiting for the rest. */
#ifndef CRIT_NODES_H
#define CRIT_NODES_H

#include <stdbool.h>

/*
 * Is it this node that reports on the recordings in a directory?  Not when its own has moved away,
 * or when that of the node it names first, the first recorded rank's, lies there too.
 */
bool crit_nodes_is_reporter(const char *directory);

/*
 * Waits until all nodes that this node's recording names have whole recordings in the directory, or
 * for the time given.
 */
void crit_nodes_wait(const char *directory, int timeout_ms);

#endif
