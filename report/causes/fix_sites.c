// SPDX-License-Identifier: BSD-3-Clause
// Joins buckets by the calls around them, and samples of buckets by function.
#include "report/causes/fix_sites.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/array.h"
#include "report/causes/cause_site.h"

#define STANDARD_ERRORS 3

static int compare_parts(const void *a, const void *b)
{
	const struct crit_fix_part *left = a, *right = b;
	int order = crit_cause_compare_place(&left->place, &right->place);

	if (!order)
		order = crit_cause_compare_who(&left->place.who, &right->place.who);
	return order ? order : crit_by_number(left->bucket, right->bucket);
}

bool crit_fix_is_code(const struct crit_fix_input *input, uint32_t bucket)
{
	const struct crit_code_key *key = &input->keys[bucket];

	return !key->is_call && key->thread < input->results->thread_count &&
	       input->run->bucket_ns[bucket] != 0;
}

static void add_calls(const struct crit_fix_input *input, struct crit_fix_sites *sites)
{
	for (uint32_t i = 0; i < input->costs->bucket_count; i++) {
		const struct crit_code_key *key = &input->keys[i];
		struct crit_fix_part *part = &sites->parts[sites->part_count];

		if (!crit_fix_is_code(input, i))
			continue;
		*part = (struct crit_fix_part){ .bucket = i, .share = 1 };
		part->place.has_place = true;
		part->place.who = crit_cause_who_of(input->results, key->thread, false);
		crit_cause_find_place(&part->place, key, input->results, input->symbols);
		sites->part_count++;
	}
}

struct sampled { /* a bucket */
	uint64_t ns, count;
	double share; /* of its time, in which its thread ran */
};

/*
 * Where samples stand for less than the time that threads are in a place, by more than chance, they
 * do not run all the time: they block, or are in the kernel where it is not sampled.
 */
static void find_running(const struct crit_fix_input *input, const struct crit_fix_part *parts,
			 size_t count, struct sampled *buckets)
{
	double all_ns = 0, sampled_ns = 0, samples = 0, share = 1;

	for (size_t i = 0; i < count; i++) {
		all_ns += (double)input->run->bucket_ns[parts[i].bucket];
		sampled_ns += (double)buckets[parts[i].bucket].ns;
		samples += (double)buckets[parts[i].bucket].count;
	}
	if (samples > 0 && sampled_ns * (1 + STANDARD_ERRORS / sqrt(samples)) < all_ns)
		share = sampled_ns / all_ns;
	for (size_t i = 0; i < count; i++)
		buckets[parts[i].bucket].share = share;
}

/* parts: of calls alone. */
static void find_all_running(const struct crit_fix_input *input, const struct crit_fix_sites *sites,
			     struct sampled *buckets)
{
	for (size_t i = 0; i < input->samples->count; i++) {
		buckets[input->samples->rows[i].bucket].ns += input->samples->rows[i].cpu_ns;
		buckets[input->samples->rows[i].bucket].count += input->samples->rows[i].count;
	}
	for (size_t from = 0, to; from < sites->part_count; from = to) {
		const struct crit_fix_part *first = &sites->parts[from];

		for (to = from; to < sites->part_count; to++)
			if (crit_cause_compare_place(&sites->parts[to].place, &first->place))
				break;
		find_running(input, first, to - from, buckets);
	}
}

static void add_functions(const struct crit_fix_input *input, struct crit_fix_sites *sites,
			  const struct sampled *buckets)
{
	for (size_t i = 0; i < input->samples->count; i++) {
		const struct crit_filmed_sample *sample = &input->samples->rows[i];
		const struct sampled *bucket = &buckets[sample->bucket];
		struct crit_fix_part *part = &sites->parts[sites->part_count];
		const struct crit_thread_row *thread;

		if (!crit_fix_is_code(input, sample->bucket) || !sample->cpu_ns)
			continue;
		thread = &input->results->threads[input->keys[sample->bucket].thread];
		*part = (struct crit_fix_part){ .bucket = sample->bucket,
						.sample_count = sample->count,
						.sampled_ns = (double)sample->cpu_ns,
						.sample_squares = sample->squares,
						.share = bucket->share * (double)sample->cpu_ns /
							 (double)bucket->ns };
		part->place.has_place = true;
		part->place.who = crit_cause_who_of(input->results,
						    input->keys[sample->bucket].thread, false);
		sites->part_count += crit_cause_find_function(&part->place, sample->address, thread,
							      input->symbols);
	}
}

static int collect_parts(const struct crit_fix_input *input, struct crit_fix_sites *sites)
{
	const size_t bucket_count = input->costs->bucket_count;
	struct sampled *buckets = calloc(bucket_count + 1, sizeof(*buckets));
	size_t call_count;

	sites->parts =
		crit_lines_alloc(bucket_count + input->samples->count + 1, sizeof(*sites->parts));
	if (!sites->parts || !buckets) {
		free(buckets);
		return -ENOMEM;
	}
	add_calls(input, sites);
	qsort(sites->parts, sites->part_count, sizeof(*sites->parts), compare_parts);
	find_all_running(input, sites, buckets);
	call_count = sites->part_count;
	add_functions(input, sites, buckets);
	free(buckets);
	if (sites->part_count != call_count)
		qsort(sites->parts, sites->part_count, sizeof(*sites->parts), compare_parts);
	return 0;
}

/* Parts of one bucket that are neighbours become one: addresses of a function. */
static void join_parts(struct crit_fix_sites *sites)
{
	size_t used = 0;

	for (size_t i = 0; i < sites->part_count; i++) {
		const struct crit_fix_part *part = &sites->parts[i];
		struct crit_fix_part *last = used ? &sites->parts[used - 1] : NULL;

		if (last && compare_parts(last, part) == 0) {
			last->share += part->share;
			last->sample_count += part->sample_count;
			last->sampled_ns += part->sampled_ns;
			last->sample_squares += part->sample_squares;
		} else {
			sites->parts[used++] = *part;
		}
	}
	sites->part_count = used;
}

/* Adds up the parts from one on that are of one unit; yields the one behind. */
static size_t add_unit(const struct crit_fix_input *input, struct crit_fix_sites *sites,
		       size_t from, struct crit_fix_site *site)
{
	double ns = 0, sampled_ns = 0;
	size_t to = from;

	for (; to < sites->part_count; to++) {
		const struct crit_fix_part *part = &sites->parts[to];

		if (crit_cause_compare_place(&part->place, &site->place) ||
		    crit_cause_compare_who(&part->place.who, &sites->parts[from].place.who))
			break;
		ns += part->share * (double)input->run->bucket_ns[part->bucket];
		sampled_ns += part->sampled_ns;
		site->sample_count += part->sample_count;
		site->sample_squares += part->sample_squares;
		for (int kind = 0; kind < CRIT_PART_COUNT; kind++)
			site->path_ns += part->share *
					 (double)input->costs->buckets[part->bucket].path_ns[kind];
	}
	for (size_t i = from; i < to; i++)
		sites->parts[i].unit_ns = ns;
	site->ns += ns;
	site->sampled_ns += sampled_ns;
	site->unit_squares += sampled_ns * sampled_ns;
	site->unit_count++;
	return to;
}

int crit_fix_sites_make(const struct crit_fix_input *input, struct crit_fix_sites *ret_sites)
{
	struct crit_fix_sites *sites = ret_sites;
	int rc;

	*sites = (struct crit_fix_sites){ 0 };
	rc = collect_parts(input, sites);
	if (rc)
		return rc;
	join_parts(sites);
	sites->rows = crit_lines_alloc(sites->part_count + 1, sizeof(*sites->rows));
	if (!sites->rows)
		return -ENOMEM;
	for (size_t i = 0; i < sites->part_count;) {
		struct crit_fix_site *site = &sites->rows[sites->count++];

		site->place = sites->parts[i].place;
		site->place.who = (struct crit_who){ .rank = CRIT_NONE, .thread = CRIT_NONE };
		site->first_part = i;
		while (i < sites->part_count &&
		       !crit_cause_compare_place(&sites->parts[i].place, &site->place))
			i = add_unit(input, sites, i, site);
		site->part_count = i - site->first_part;
	}
	return 0;
}

int crit_fix_sites_make_calls(const struct crit_fix_input *input, struct crit_fix_sites *ret_sites)
{
	static const struct crit_filmed_samples none;
	struct crit_fix_input calls_alone = *input;

	calls_alone.samples = &none;
	return crit_fix_sites_make(&calls_alone, ret_sites);
}

bool crit_fix_site_is_uneven(const struct crit_fix_site *site)
{
	const double free_count = (double)site->unit_count - 1;
	const double variance = 2 / (9 * free_count);
	double beyond; /* of units' sums of squares, what they would have were they equal */

	if (site->unit_count < 2 || !site->place.is_function)
		return site->unit_count > 1;
	beyond = site->unit_squares - site->sampled_ns * site->sampled_ns / site->unit_count;
	/* one unit's sum varies by sample_squares / unit_count, were they equal */
	return cbrt(beyond / (site->sample_squares / site->unit_count) / free_count) >
	       1 - variance + 3 * sqrt(variance);
}

void crit_fix_sites_fini(struct crit_fix_sites *sites)
{
	free(sites->rows);
	free(sites->parts);
	*sites = (struct crit_fix_sites){ 0 };
}
