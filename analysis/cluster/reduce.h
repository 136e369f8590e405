/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a distributed analysis: sums of all processes come to process 0. */
#ifndef CRIT_REDUCE_H
#define CRIT_REDUCE_H

#include "analysis/cluster/rounds.h"

/*
 * Brings what every process has found out to process 0: its model, engine and messages then hold
 * what one process would have.  Errors: -ENOMEM, -EPROTO, the transport's.
 */
int crit_reduce(struct crit_rounds *rounds);

#endif
