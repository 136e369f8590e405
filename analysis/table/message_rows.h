/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the results for messages, communicators and collectives. */
#ifndef CRIT_MESSAGE_ROWS_H
#define CRIT_MESSAGE_ROWS_H

#include "analysis/mpi/messages.h"

/*
 * Fills results->messages once everything was taken; rank_rows as in identity.h.
 * Errors: -ENOMEM.
 */
int crit_message_rows_fill(struct crit_messages *messages, const uint32_t *rank_rows,
			   struct crit_results *results);

#endif
