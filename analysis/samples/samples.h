/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides the CMetric of each thread among the code addresses at which it was sampled, and the
 * paths by which they were called.
 *
 * A sample counts for what its thread is in at that instant, by the account: thread, region, call
 * and class.  Each such cell's CMetric is divided by the weights of its samples, so that the sums
 * over addresses are those of the metric to the last bit; that of a cell without any is not
 * sampled.  Samples change no other figure.  docs/metric.md, "Lines and functions".
 */
#ifndef CRIT_SAMPLES_H
#define CRIT_SAMPLES_H

#include "analysis/account/engine.h"
#include "analysis/schema/trace.h"

#define CRIT_SAMPLES_ROW_BYTES 80u

struct crit_blocks;
struct crit_samples;

/*
 * Begins to listen to the engine, which is borrowed until destroy.  Errors: -ENOMEM, -ENOSPC.
 */
int crit_samples_create(struct crit_engine *engine, struct crit_samples **ret_samples);
void crit_samples_destroy(struct crit_samples *samples); /* accepts NULL */

struct crit_samples_listener { /* is told of every sample that counts.  Errors end the analysis */
	void *user;
	int (*on_sample)(void *user, uint32_t thread, uint64_t time_ns,
			 const struct crit_trace_sample *sample);
};

/* Copied.  Before the replay begins. */
void crit_samples_listen(struct crit_samples *samples,
			 const struct crit_samples_listener *listener);

/*
 * Of a sample that was handed to the engine's step sink, n is known: the first of which that was
 * not so yet.
 */
void crit_samples_weigh(struct crit_samples *samples, uint32_t active);

/* What was counted so far, in rows; borrowed until the next sample.  Yields how many. */
size_t crit_samples_rows(const struct crit_samples *samples, const void **ret_rows);

/*
 * Adds a row of another process.  Range: any bytes, aligned as a crit_fix.  Errors: -ENOMEM;
 * -EPROTO: it is none of this run.
 */
int crit_samples_add_row(struct crit_samples *samples, const void *row);

/* The time in which threads are blocked, counted beside samples and as long as these. */
struct crit_blocks *crit_samples_blocks(const struct crit_samples *samples);

/*
 * Fills results->samples and blocks once the replay is over; thread_rows: of threads, in the
 * results.
 * Errors: -ENOMEM.
 */
int crit_samples_fill(const struct crit_samples *samples, const uint32_t *thread_rows,
		      struct crit_results *results);

#endif
