// SPDX-License-Identifier: BSD-3-Clause
// Writes what rewind.h yields, latest first, so that the end of the new film is the begin.
#include "analysis/waits/resolved_film.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/rewind.h"

struct later { /* what is known of a thread from the entries read so far, which are later */
	uint64_t until_ns;
	uint32_t bucket; /* CRIT_FILM_NO_BUCKET: none is known */
};

struct resolving {
	const struct crit_resolved_film_options *options;
	struct crit_film *film; /* that is written */
	struct later *threads;
	uint64_t *bucket_ns;
	struct crit_err *err;
};

/* The bucket that a thread was in until what was read begins now. */
static int begin_bucket(struct resolving *resolving, uint32_t thread, uint64_t time_ns)
{
	struct later *later = &resolving->threads[thread];
	const struct crit_film_entry entry = {
		.time_ns = time_ns, .node = thread, .number = later->bucket, .type = CRIT_FILM_FROM
	};

	if (later->bucket == CRIT_FILM_NO_BUCKET)
		return 0;
	resolving->bucket_ns[later->bucket] += later->until_ns - time_ns;
	return crit_film_put(resolving->film, &entry, resolving->err);
}

static int take(struct resolving *resolving, const struct crit_film_entry *entry)
{
	const struct crit_resolved_film_options *options = resolving->options;
	int rc;

	if (entry->type != CRIT_FILM_UNTIL)
		return crit_film_put(resolving->film, entry, resolving->err);
	if (entry->node & CRIT_FILM_OBJECT)
		return 0;
	if (entry->node >= options->thread_count || entry->number >= options->bucket_count)
		return -EPROTO;
	rc = begin_bucket(resolving, entry->node, entry->time_ns);
	resolving->threads[entry->node] = (struct later){ entry->time_ns, entry->number };
	return rc;
}

static int turn_round(struct resolving *resolving, struct crit_film *film)
{
	struct crit_rewind rewind;
	int rc;

	crit_rewind_init(&rewind, film);
	while ((rc = crit_rewind_next(&rewind)) > 0) {
		if (rewind.time_ns < resolving->options->begin_ns)
			rc = -EPROTO;
		for (size_t i = 0; i < rewind.count && rc >= 0; i++)
			rc = take(resolving, &rewind.now[i]);
		if (rc < 0)
			break;
	}
	crit_rewind_fini(&rewind);
	for (uint32_t i = 0; i < resolving->options->thread_count && !rc; i++)
		rc = begin_bucket(resolving, i, resolving->options->begin_ns);
	return rc ? rc : crit_film_finish(resolving->film, resolving->err);
}

int crit_resolved_film_create(struct crit_film *film,
			      const struct crit_resolved_film_options *options,
			      uint64_t *ret_bucket_ns, struct crit_film **ret_film,
			      struct crit_err *err)
{
	struct resolving resolving = {
		.options = options,
		.threads = calloc(options->thread_count + 1, sizeof(*resolving.threads)),
		.bucket_ns = ret_bucket_ns,
		.err = err,
	};
	int rc = resolving.threads ? crit_film_create(&options->file, &resolving.film, err)
				   : -ENOMEM;

	for (size_t i = 0; i < options->thread_count && !rc; i++)
		resolving.threads[i].bucket = CRIT_FILM_NO_BUCKET;
	memset(ret_bucket_ns, 0, options->bucket_count * sizeof(*ret_bucket_ns));
	if (!rc)
		rc = turn_round(&resolving, film);
	free(resolving.threads);
	if (!rc) {
		*ret_film = resolving.film;
		return 0;
	}
	crit_film_destroy(resolving.film);
	return err->text[0] ? rc
			    : crit_err_set(err, rc, "cannot turn the film of the waits round: %s",
					   strerror(-rc));
}
