/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a film from its end, all that happened at one time together, latest first.
 *
 * Causes and needs are in the film when they became known, which is later than their time: they
 * are kept until that is reached, but for those of sends too small to wait.  So is the QUEUE of a
 * thread that had a CPU in what was taken for its time in a queue: the one before it means nothing.
 * Memory: entries of one time, and causes that are kept.
 */
#ifndef CRIT_REWIND_H
#define CRIT_REWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/film/entry_queue.h"
#include "analysis/waits/film/film.h"

struct crit_rewind {
	struct crit_film *film; /* borrowed */
	/*
	 * What was read since it was emptied, latest first; of one time causes last, by node.
	 * Behind it there is room, in which the entry ahead lies.
	 */
	struct crit_entry_list read;
	size_t before; /* of these: of later times than the one that was read last */
	uint64_t time_ns; /* of that */
	struct crit_entry_queue causes; /* until their time comes */
	bool has_ahead; /* the next that is no cause was read */
	uint32_t bytes_from[CRIT_FILM_GROUPS]; /* sends wait from that size on */
};

/* Of a finished film. */
void crit_rewind_init(struct crit_rewind *rewind, struct crit_film *film);
void crit_rewind_fini(struct crit_rewind *rewind);

/*
 * Reads the entries of the time before.  Yields 1, and 0 at the film's begin.
 * Errors: -ENOMEM; -EPROTO: entries in no order; those of the film.
 */
int crit_rewind_next(struct crit_rewind *rewind);

/* What was read so far is no longer needed. */
void crit_rewind_empty(struct crit_rewind *rewind);

#endif
