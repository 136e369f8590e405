// SPDX-License-Identifier: BSD-3-Clause
// Writes what rewind.h yields, latest first, so that the end of the new film is the begin.
#include "analysis/waits/resolved_film.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct later { /* what is known of a thread from the entries read so far, which are later */
	uint64_t until_ns;
	uint32_t bucket; /* CRIT_FILM_NO_BUCKET: none is known */
	bool is_queued, is_asleep;
	bool is_woken; /* it sleeps, and waits for who woke it */
};

struct crit_film_turning {
	struct crit_resolved_film_options options;
	struct crit_film *film; /* that is written */
	struct later *threads;
	uint64_t *bucket_ns;
	int failed;
	struct crit_err err;
};

/* Counts the time that a thread was in its bucket, had a CPU and did not wait for a waker. */
static void count(struct crit_film_turning *turning, uint32_t thread, uint64_t time_ns)
{
	struct later *later = &turning->threads[thread];

	if (later->bucket != CRIT_FILM_NO_BUCKET && !later->is_queued && !later->is_woken)
		turning->bucket_ns[later->bucket] += later->until_ns - time_ns;
	later->until_ns = time_ns;
}

/* The bucket that a thread was in until what was read begins now. */
static int begin_bucket(struct crit_film_turning *turning, uint32_t thread, uint64_t time_ns)
{
	struct later *later = &turning->threads[thread];
	const struct crit_film_entry entry = {
		.time_ns = time_ns, .node = thread, .number = later->bucket, .type = CRIT_FILM_FROM
	};

	count(turning, thread, time_ns);
	if (later->bucket == CRIT_FILM_NO_BUCKET)
		return 0;
	return crit_film_put(turning->film, &entry, &turning->err);
}

/* Sleep is the thread's time, unless it waited for a waker. */
static int note_sleep(struct crit_film_turning *turning, const struct crit_film_entry *entry)
{
	const uint32_t thread = entry->type == CRIT_FILM_WOKEN ? entry->number : entry->node;
	struct later *later;

	if (thread >= turning->options.thread_count)
		return -EPROTO;
	later = &turning->threads[thread];
	count(turning, thread, entry->time_ns);
	if (entry->type != CRIT_FILM_WOKEN)
		later->is_asleep = entry->type == CRIT_FILM_WAKE;
	later->is_woken = later->is_asleep && entry->type == CRIT_FILM_WOKEN;
	return 0;
}

/* The begin or end of a thread's wait: what the thread did until then, and what it does then. */
static int take_wait(struct crit_film_turning *turning, const struct crit_film_entry *entry)
{
	struct crit_film_entry turned = *entry;
	struct later *later;

	if (entry->node >= turning->options.thread_count ||
	    crit_film_told(entry) >= turning->options.bucket_count)
		return -EPROTO;
	later = &turning->threads[entry->node];
	count(turning, entry->node, entry->time_ns);
	turned.more = later->bucket == CRIT_FILM_NO_BUCKET ? 0 : crit_film_tell(later->bucket);
	later->bucket = crit_film_told(entry);
	return crit_film_put(turning->film, &turned, &turning->err);
}

static int take_cpu(struct crit_film_turning *turning, const struct crit_film_entry *entry)
{
	struct later *later;

	if (entry->node >= turning->options.thread_count)
		return entry->node & CRIT_FILM_OBJECT ? 0 : -EPROTO;
	later = &turning->threads[entry->node];
	count(turning, entry->node, entry->time_ns);
	if (entry->type == CRIT_FILM_QUEUE && !later->is_queued)
		return 0; /* it had a CPU until later (rewind.h) */
	later->is_queued = entry->type == CRIT_FILM_RUN;
	return crit_film_put(turning->film, entry, &turning->err);
}

static int take_until(struct crit_film_turning *turning, const struct crit_film_entry *entry)
{
	int rc;

	if (entry->node >= turning->options.thread_count ||
	    entry->number >= turning->options.bucket_count)
		return -EPROTO;
	rc = begin_bucket(turning, entry->node, entry->time_ns);
	turning->threads[entry->node].bucket = entry->number;
	return rc;
}

static int take(struct crit_film_turning *turning, const struct crit_film_entry *entry)
{
	int rc;

	if (entry->type == CRIT_FILM_QUEUE || entry->type == CRIT_FILM_RUN)
		return take_cpu(turning, entry);
	if (crit_film_is_state(entry->type) || entry->type == CRIT_FILM_WOKEN) {
		rc = note_sleep(turning, entry);
		return rc ? rc : crit_film_put(turning->film, entry, &turning->err);
	}
	if (crit_film_is_late((enum crit_film_type)entry->type))
		return crit_film_put(turning->film, entry, &turning->err);
	if (entry->node & CRIT_FILM_OBJECT) /* what it needs is enough */
		return 0;
	if (crit_film_tells(entry))
		return take_wait(turning, entry);
	return entry->type == CRIT_FILM_UNTIL ? take_until(turning, entry)
					      : crit_film_put(turning->film, entry, &turning->err);
}

static void destroy(struct crit_film_turning *turning)
{
	crit_film_destroy(turning->film);
	free(turning->threads);
	free(turning->bucket_ns);
	free(turning);
}

int crit_film_turning_create(const struct crit_resolved_film_options *options,
			     struct crit_film_turning **ret_turning, struct crit_err *err)
{
	struct crit_film_turning *turning = calloc(1, sizeof(*turning));
	int rc = -ENOMEM;

	if (!turning)
		return crit_err_set(err, rc, "out of memory");
	turning->options = *options;
	turning->bucket_ns = calloc(options->bucket_count + 1, sizeof(*turning->bucket_ns));
	turning->threads = calloc(options->thread_count + 1, sizeof(*turning->threads));
	if (turning->bucket_ns && turning->threads)
		rc = crit_film_create(&options->file, &turning->film, err);
	else
		(void)crit_err_set(err, rc, "out of memory");
	if (rc) {
		destroy(turning);
		return rc;
	}
	for (size_t i = 0; i < options->thread_count; i++)
		turning->threads[i].bucket = CRIT_FILM_NO_BUCKET;
	*ret_turning = turning;
	return 0;
}

void crit_film_turning_take(struct crit_film_turning *turning,
			    const struct crit_film_entry *entries, size_t count)
{
	for (size_t i = 0; i < count && !turning->failed; i++)
		turning->failed = entries[i].time_ns < turning->options.begin_ns
					  ? -EPROTO
					  : take(turning, &entries[i]);
}

int crit_film_turning_end(struct crit_film_turning *turning, struct crit_filmed_run *ret_run,
			  struct crit_err *err)
{
	const struct crit_resolved_film_options *options = &turning->options;
	int rc = turning->failed;

	*ret_run = (struct crit_filmed_run){ .options = { .begin_ns = options->begin_ns,
							  .thread_count = options->thread_count,
							  .bucket_count = options->bucket_count } };
	for (uint32_t i = 0; i < options->thread_count && !rc; i++)
		rc = begin_bucket(turning, i, options->begin_ns);
	if (!rc)
		rc = crit_film_finish(turning->film, &turning->err);
	if (!rc) {
		ret_run->film = turning->film;
		ret_run->bucket_ns = turning->bucket_ns;
		turning->film = NULL;
		turning->bucket_ns = NULL;
	} else if (turning->err.text[0]) {
		(void)crit_err_set(err, rc, "%s", turning->err.text);
	} else {
		(void)crit_err_set(err, rc, "cannot turn the film of the waits round: %s",
				   strerror(-rc));
	}
	destroy(turning);
	return rc;
}

void crit_filmed_run_fini(struct crit_filmed_run *run)
{
	crit_film_destroy(run->film);
	free(run->bucket_ns);
	*run = (struct crit_filmed_run){ 0 };
}
