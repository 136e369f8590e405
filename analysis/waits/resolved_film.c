// SPDX-License-Identifier: BSD-3-Clause
// Writes what rewind.h yields, latest first, so that the end of the new film is the begin.
#include "analysis/waits/resolved_film.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/film/rewind.h"

struct later { /* what is known of a thread from the entries read so far, which are later */
	uint64_t until_ns;
	uint32_t bucket; /* CRIT_FILM_NO_BUCKET: none is known */
	bool is_queued, is_asleep;
	bool is_woken; /* it sleeps, and waits for who woke it */
};

struct resolving {
	const struct crit_resolved_film_options *options;
	struct crit_film *film; /* that is written */
	struct later *threads;
	uint64_t *bucket_ns;
	struct crit_err *err;
};

/* Counts the time that a thread was in its bucket, had a CPU and did not wait for a waker. */
static void count(struct resolving *resolving, uint32_t thread, uint64_t time_ns)
{
	struct later *later = &resolving->threads[thread];

	if (later->bucket != CRIT_FILM_NO_BUCKET && !later->is_queued && !later->is_woken)
		resolving->bucket_ns[later->bucket] += later->until_ns - time_ns;
	later->until_ns = time_ns;
}

/* The bucket that a thread was in until what was read begins now. */
static int begin_bucket(struct resolving *resolving, uint32_t thread, uint64_t time_ns)
{
	struct later *later = &resolving->threads[thread];
	const struct crit_film_entry entry = {
		.time_ns = time_ns, .node = thread, .number = later->bucket, .type = CRIT_FILM_FROM
	};

	count(resolving, thread, time_ns);
	if (later->bucket == CRIT_FILM_NO_BUCKET)
		return 0;
	return crit_film_put(resolving->film, &entry, resolving->err);
}

/* Sleep is the thread's time, unless it waited for a waker. */
static int note_sleep(struct resolving *resolving, const struct crit_film_entry *entry)
{
	const uint32_t thread = entry->type == CRIT_FILM_WOKEN ? entry->number : entry->node;
	struct later *later;

	if (thread >= resolving->options->thread_count)
		return -EPROTO;
	later = &resolving->threads[thread];
	count(resolving, thread, entry->time_ns);
	if (entry->type != CRIT_FILM_WOKEN)
		later->is_asleep = entry->type == CRIT_FILM_WAKE;
	later->is_woken = later->is_asleep && entry->type == CRIT_FILM_WOKEN;
	return 0;
}

static int take(struct resolving *resolving, const struct crit_film_entry *entry)
{
	const struct crit_resolved_film_options *options = resolving->options;
	const bool is_cpu = entry->type == CRIT_FILM_QUEUE || entry->type == CRIT_FILM_RUN;
	int rc;

	if (entry->type == CRIT_FILM_WOKEN || entry->type == CRIT_FILM_SLEEP ||
	    entry->type == CRIT_FILM_WAKE) {
		rc = note_sleep(resolving, entry);
		return rc ? rc : crit_film_put(resolving->film, entry, resolving->err);
	}
	if (crit_film_is_late((enum crit_film_type)entry->type))
		return crit_film_put(resolving->film, entry, resolving->err);
	if (entry->node & CRIT_FILM_OBJECT) /* what it needs is enough */
		return 0;
	if (entry->type != CRIT_FILM_UNTIL && !is_cpu)
		return crit_film_put(resolving->film, entry, resolving->err);
	if (entry->node >= options->thread_count ||
	    (!is_cpu && entry->number >= options->bucket_count))
		return -EPROTO;
	if (is_cpu) {
		count(resolving, entry->node, entry->time_ns);
		resolving->threads[entry->node].is_queued = entry->type == CRIT_FILM_RUN;
		return crit_film_put(resolving->film, entry, resolving->err);
	}
	rc = begin_bucket(resolving, entry->node, entry->time_ns);
	resolving->threads[entry->node].bucket = entry->number;
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

static int resolve(struct crit_film *film, struct resolving *resolving)
{
	const struct crit_resolved_film_options *options = resolving->options;
	int rc;

	resolving->threads = calloc(options->thread_count + 1, sizeof(*resolving->threads));
	if (!resolving->threads || !resolving->bucket_ns)
		return -ENOMEM;
	for (size_t i = 0; i < options->thread_count; i++)
		resolving->threads[i].bucket = CRIT_FILM_NO_BUCKET;
	rc = crit_film_create(&options->file, &resolving->film, resolving->err);
	return rc ? rc : turn_round(resolving, film);
}

int crit_filmed_run_make(struct crit_film *film, const struct crit_resolved_film_options *options,
			 struct crit_filmed_run *ret_run, struct crit_err *err)
{
	struct resolving resolving = {
		.options = options,
		.bucket_ns = calloc(options->bucket_count + 1, sizeof(*resolving.bucket_ns)),
		.err = err,
	};
	int rc = resolve(film, &resolving);

	free(resolving.threads);
	ret_run->film = resolving.film;
	ret_run->bucket_ns = resolving.bucket_ns;
	ret_run->options.begin_ns = options->begin_ns;
	ret_run->options.thread_count = options->thread_count;
	ret_run->options.bucket_count = options->bucket_count;
	if (!rc || err->text[0])
		return rc;
	return crit_err_set(err, rc, "cannot turn the film of the waits round: %s", strerror(-rc));
}

void crit_filmed_run_fini(struct crit_filmed_run *run)
{
	crit_film_destroy(run->film);
	free(run->bucket_ns);
	*run = (struct crit_filmed_run){ 0 };
}
