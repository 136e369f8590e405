// SPDX-License-Identifier: BSD-3-Clause
// A film is played backwards once, for what waits cost and to be turned round, and ends.
#include "analysis/waits/filming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/backwards/backplay.h"
#include "analysis/waits/filming_state.h"
#include "analysis/waits/turning_thread.h"

/* The thread that ends last, the lowest of these; no thread: thread_count. */
static uint32_t last_thread(const struct crit_filming *filming)
{
	size_t last = filming->thread_count;

	for (size_t i = 0; i < filming->thread_count; i++) {
		if (filming->threads[i].has_begun &&
		    (last == filming->thread_count ||
		     filming->threads[i].end_ns > filming->threads[last].end_ns))
			last = i;
	}
	return (uint32_t)last;
}

/* What a node does in each bucket.  Errors: NULL, out of memory. */
static uint8_t *parts_of(const struct crit_code_keys *keys)
{
	uint8_t *parts = calloc(keys->count + 1, 1);

	for (size_t i = 0; parts && i < keys->count; i++) {
		if (keys->rows[i].thread == CRIT_NONE)
			parts[i] = CRIT_PART_OUTSIDE;
		else if (crit_code_key_is_lock(&keys->rows[i]))
			parts[i] = CRIT_PART_TRANSFER;
	}
	return parts;
}

static bool is_same_region(const struct crit_code_key *left, const struct crit_code_key *right)
{
	return left->thread == right->thread && left->region == right->region &&
	       left->is_around == right->is_around;
}

/* The first bucket of the same thread and region as each.  Errors: NULL, out of memory. */
static uint32_t *region_vertices(const struct crit_code_keys *keys)
{
	uint32_t *vertices = calloc(keys->count + 1, sizeof(*vertices));
	struct crit_index index = { 0 };
	bool is_full = !vertices;

	for (uint32_t i = 0; i < keys->count && !is_full; i++) {
		const struct crit_code_key *key = &keys->rows[i];
		const uint64_t hash =
			crit_hash_mix(key->is_around, (uint64_t)key->thread << 32 | key->region);
		struct crit_probe probe;
		uint32_t first = crit_index_first(&index, hash, &probe);

		while (first != CRIT_NONE && !is_same_region(&keys->rows[first], key))
			first = crit_index_next(&index, &probe);
		if (first == CRIT_NONE)
			is_full = crit_index_put(&index, hash, i) != 0;
		vertices[i] = first == CRIT_NONE ? i : first;
	}
	crit_index_fini(&index);
	if (!is_full)
		return vertices;
	free(vertices);
	return NULL;
}

/* The time of waits that need no act, and the call with most of it. */
static void tell_actless(const struct crit_filming *filming, struct crit_costs *costs)
{
	for (uint16_t call = 0; call < CRIT_FILMED_CALLS; call++) {
		const uint64_t ns = filming->actless.call_ns[call];

		costs->actless_ns += ns;
		if (ns > costs->actless_most_ns) {
			costs->actless_most_ns = ns;
			costs->actless_most_call = call ? call : CRIT_CODE_IDLE;
		}
	}
}

/* Plays the film, and keeps what comes of turning it round, or why nothing does. */
static int play(struct crit_filming *filming, struct crit_backplay_options *options,
		struct crit_costs *ret_costs, struct crit_err *err)
{
	const struct crit_resolved_film_options resolved = { .file = filming->options.file,
							     .begin_ns = filming->begin_ns,
							     .thread_count = filming->thread_count,
							     .bucket_count = filming->keys.count };
	struct crit_turning_thread *turning = NULL;
	int rc;

	if (filming->options.has_needs)
		filming->run_failed =
			crit_turning_thread_create(&resolved, &turning, &filming->run_err);
	if (turning)
		options->reader =
			(struct crit_backplay_reader){ turning, crit_turning_thread_take };
	rc = crit_backplay(filming->film, options, ret_costs, err);
	if (!rc && filming->options.has_needs)
		tell_actless(filming, ret_costs);
	if (turning)
		filming->run_failed =
			crit_turning_thread_end(turning, &filming->run, &filming->run_err);
	return rc;
}

int crit_filming_play(struct crit_filming *filming, size_t edges_max, struct crit_costs *ret_costs,
		      struct crit_err *err)
{
	const uint32_t last = filming->threads ? last_thread(filming) : 0;
	struct crit_backplay_options options = { .begin_ns = filming->begin_ns,
						 .end_ns = filming->end_ns,
						 .thread_count = filming->thread_count,
						 .bucket_count = filming->keys.count,
						 .edges_max = edges_max,
						 .last_thread = last };
	uint32_t *vertices = NULL;
	uint8_t *parts;
	int rc;

	if (!filming->threads)
		return crit_err_set(err, -EFBIG,
				    "waits are not followed in a run of more than %u threads",
				    CRIT_FILMING_THREADS);
	if (filming->end_ns <= filming->begin_ns)
		return crit_err_set(err, -ENODATA,
				    "no waits one by one: the recording is of level profile or "
				    "lost its begin; CRIT_LEVEL=trace has them");
	if (last == filming->thread_count)
		return crit_err_set(err, -ENODATA, "nothing was recorded of any thread");
	for (size_t i = 0; i < filming->thread_count; i++)
		crit_filmed_end_waits(&filming->threads[i], filming->end_ns, &filming->actless);
	rc = crit_filming_put_ends(filming);
	crit_filming_forget_threads(filming);
	if (rc)
		return crit_err_set(err, rc, "%s", filming->err.text);
	parts = parts_of(&filming->keys);
	if (filming->options.are_regions_apart)
		vertices = region_vertices(&filming->keys);
	options.bucket_parts = parts;
	options.bucket_vertices = vertices;
	if (!parts || (filming->options.are_regions_apart && !vertices))
		rc = crit_err_set(err, -ENOMEM, "out of memory");
	else
		rc = play(filming, &options, ret_costs, err);
	free(vertices);
	free(parts);
	return rc;
}

int crit_filming_resolve(struct crit_filming *filming, struct crit_filmed_run *ret_run,
			 struct crit_err *err)
{
	*ret_run = (struct crit_filmed_run){ 0 };
	if (filming->run_failed)
		return crit_err_set(err, filming->run_failed, "%s", filming->run_err.text);
	if (!filming->run.film)
		return crit_err_set(err, -ENODATA, "no film was played to be turned round");
	*ret_run = filming->run;
	filming->run = (struct crit_filmed_run){ 0 };
	ret_run->options.outside = CRIT_CODE_OUTSIDE;
	memcpy(ret_run->free_waits, filming->counts.free, sizeof(ret_run->free_waits));
	return 0;
}

void crit_filming_forget_threads(struct crit_filming *filming)
{
	for (size_t i = 0; filming->threads && i < filming->thread_count; i++) {
		crit_filmed_thread_fini(&filming->threads[i]);
	}
	crit_filmed_regions_fini(&filming->regions);
	crit_lock_holders_fini(&filming->locks);
	free(filming->threads);
	filming->threads = NULL;
}

void crit_filming_destroy(struct crit_filming *filming)
{
	if (!filming)
		return;
	crit_filming_forget_threads(filming);
	crit_filmed_run_fini(&filming->run);
	crit_film_destroy(filming->film);
	crit_code_keys_fini(&filming->keys);
	crit_filmed_samples_fini(&filming->samples);
	free(filming);
}
