/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a resolved film (resolved_film.h), all that happened at one time together, in order.
 *
 * Memory: entries of one time, and some that follow.
 */
#ifndef CRIT_FILM_MOMENTS_H
#define CRIT_FILM_MOMENTS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/film/film.h"

struct crit_film_moments {
	struct crit_film *film; /* borrowed */
	struct crit_film_entry *now; /* of the present time, until the next one is asked for */
	size_t count; /* of these */
	uint32_t types; /* of these, as a set */
	uint64_t time_ns; /* of these */
	/* what follows: until where all of a time was read, and all; behind it a row to stop at */
	struct crit_film_entry *next, *whole, *end;
	struct crit_film_entry *rows; /* that hold all these */
	size_t capacity;
};

/* Of a finished film, from its last entry on; no time is before begin_ns. */
void crit_film_moments_init(struct crit_film_moments *moments, struct crit_film *film,
			    uint64_t begin_ns);
void crit_film_moments_fini(struct crit_film_moments *moments);

/* Reads all of the next time.  Yields 1; 0: there is none.  Errors: -ENOMEM; those of the film. */
int crit_film_moments_read(struct crit_film_moments *moments);

/*
 * The entries of the next time, which the caller may change.  Yields 1; 0: there are none.
 * Errors: as above; -EPROTO: their time is before the present one.
 */
static inline int crit_film_moments_next(struct crit_film_moments *moments)
{
	int rc = moments->next < moments->whole ? 1 : crit_film_moments_read(moments);
	const struct crit_film_entry *row = moments->next;
	uint32_t types = 0;
	uint64_t time_ns;

	if (rc <= 0)
		return rc;
	time_ns = row->time_ns;
	if (time_ns < moments->time_ns)
		return -EPROTO;
	do
		types |= crit_film_type_bit(row->type);
	while ((++row)->time_ns == time_ns);
	moments->now = moments->next;
	moments->count = (size_t)(row - moments->now);
	moments->next += moments->count;
	moments->types = types;
	moments->time_ns = time_ns;
	return 1;
}

/* What is known without reading: the entry so many behind the first of the present time. */
static inline bool crit_film_moments_soon(const struct crit_film_moments *moments, size_t more,
					  struct crit_film_entry *ret_entry)
{
	const size_t known = (size_t)(moments->end - moments->now);

	if (more >= known)
		return crit_film_soon(moments->film, (uint32_t)(more - known), ret_entry);
	*ret_entry = moments->now[more];
	return true;
}

#endif
