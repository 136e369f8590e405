// SPDX-License-Identifier: BSD-3-Clause
// Joins buckets by the calls around them, and samples of buckets by function.
#include "report/causes/fix_sites.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/array.h"
#include "report/causes/cause_site.h"

static int compare_parts(const void *a, const void *b)
{
	const struct crit_fix_part *left = a, *right = b;
	int order = crit_cause_compare_place(&left->place, &right->place);

	if (!order)
		order = crit_cause_compare_who(&left->place.who, &right->place.who);
	return order ? order : crit_by_number(left->bucket, right->bucket);
}

/* A thread is there, and in no call. */
static bool is_code(const struct crit_fix_input *input, uint32_t bucket)
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

		if (!is_code(input, i))
			continue;
		*part = (struct crit_fix_part){ .bucket = i, .share = 1 };
		part->place.has_place = true;
		part->place.who = crit_cause_who_of(input->results, key->thread, false);
		crit_cause_find_place(&part->place, key, input->results, input->symbols);
		sites->part_count++;
	}
}

/* sampled_ns: of each bucket. */
static void add_functions(const struct crit_fix_input *input, struct crit_fix_sites *sites,
			  const uint64_t *sampled_ns)
{
	for (size_t i = 0; i < input->samples->count; i++) {
		const struct crit_filmed_sample *sample = &input->samples->rows[i];
		struct crit_fix_part *part = &sites->parts[sites->part_count];
		const struct crit_thread_row *thread;

		if (!is_code(input, sample->bucket) || !sample->cpu_ns)
			continue;
		thread = &input->results->threads[input->keys[sample->bucket].thread];
		*part = (struct crit_fix_part){ .bucket = sample->bucket,
						.sample_count = sample->count,
						.share = (double)sample->cpu_ns /
							 (double)sampled_ns[sample->bucket] };
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
	uint64_t *sampled_ns = calloc(bucket_count + 1, sizeof(*sampled_ns));

	sites->parts = calloc(bucket_count + input->samples->count + 1, sizeof(*sites->parts));
	if (!sites->parts || !sampled_ns) {
		free(sampled_ns);
		return -ENOMEM;
	}
	for (size_t i = 0; i < input->samples->count; i++)
		sampled_ns[input->samples->rows[i].bucket] += input->samples->rows[i].cpu_ns;
	add_calls(input, sites);
	add_functions(input, sites, sampled_ns);
	free(sampled_ns);
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
	double ns = 0, samples = 0;
	size_t to = from;

	for (; to < sites->part_count; to++) {
		const struct crit_fix_part *part = &sites->parts[to];

		if (crit_cause_compare_place(&part->place, &site->place) ||
		    crit_cause_compare_who(&part->place.who, &sites->parts[from].place.who))
			break;
		ns += part->share * (double)input->run->bucket_ns[part->bucket];
		samples += part->sample_count;
		for (int kind = 0; kind < CRIT_PART_COUNT; kind++)
			site->path_ns += part->share *
					 (double)input->costs->buckets[part->bucket].path_ns[kind];
	}
	for (size_t i = from; i < to; i++)
		sites->parts[i].unit_ns = ns;
	site->ns += ns;
	site->sample_count += (uint64_t)samples;
	site->sample_squares += samples * samples;
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
	sites->rows = calloc(sites->part_count + 1, sizeof(*sites->rows));
	if (!sites->rows)
		return -ENOMEM;
	for (size_t i = 0; i < sites->part_count;) {
		struct crit_fix_site *site = &sites->rows[sites->count++];

		site->place = sites->parts[i].place;
		site->place.who = (struct crit_who){ CRIT_NONE, CRIT_NONE };
		site->first_part = i;
		while (i < sites->part_count &&
		       !crit_cause_compare_place(&sites->parts[i].place, &site->place))
			i = add_unit(input, sites, i, site);
		site->part_count = i - site->first_part;
	}
	return 0;
}

bool crit_fix_site_is_uneven(const struct crit_fix_site *site)
{
	const double variance = 2 / (9 * ((double)site->unit_count - 1));
	const double mean = (double)site->sample_count / (double)site->unit_count;
	double chi_square;

	if (site->unit_count < 2 || !site->place.is_function)
		return site->unit_count > 1;
	chi_square = site->sample_squares / mean - (double)site->sample_count;
	return cbrt(chi_square / ((double)site->unit_count - 1)) >
	       1 - variance + 3 * sqrt(variance);
}

void crit_fix_sites_fini(struct crit_fix_sites *sites)
{
	free(sites->rows);
	free(sites->parts);
	*sites = (struct crit_fix_sites){ 0 };
}
