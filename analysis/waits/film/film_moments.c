// SPDX-License-Identifier: BSD-3-Clause
// Reads many entries of a film at once, of which those of one time follow one another.
#include "analysis/waits/film/film_moments.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

#define READ_AT_ONCE 256u /* entries: they stay in a core's first cache */

void crit_film_moments_init(struct crit_film_moments *moments, struct crit_film *film,
			    uint64_t begin_ns)
{
	*moments = (struct crit_film_moments){ .film = film, .time_ns = begin_ns };
	crit_film_rewind(film);
}

void crit_film_moments_fini(struct crit_film_moments *moments)
{
	free(moments->rows);
	*moments = (struct crit_film_moments){ 0 };
}

/* Room behind what follows, which goes to the begin of the rows.  Errors: -ENOMEM. */
static int make_room(struct crit_film_moments *moments)
{
	const size_t kept = (size_t)(moments->end - moments->next);
	int rc;

	if (moments->next > moments->rows)
		memmove(moments->rows, moments->next, kept * sizeof(*moments->rows));
	rc = crit_array_grow(&moments->rows, &moments->capacity, kept + READ_AT_ONCE + 1,
			     sizeof(*moments->rows));
	moments->next = moments->rows;
	moments->end = moments->rows + kept;
	return rc;
}

int crit_film_moments_read(struct crit_film_moments *moments)
{
	int rc;

	do {
		rc = make_room(moments);
		if (!rc)
			rc = crit_film_back_many(moments->film, READ_AT_ONCE, moments->end);
		if (rc < 0)
			return rc;
		moments->end += rc;
		moments->whole = moments->end;
		if (moments->next == moments->end)
			return 0;
		moments->end->time_ns = moments->end[-1].time_ns + 1;
	} while (rc && moments->next->time_ns == moments->end[-1].time_ns);
	while (rc && moments->whole[-1].time_ns == moments->end[-1].time_ns)
		moments->whole--;
	return 1;
}
