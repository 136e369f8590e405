// SPDX-License-Identifier: BSD-3-Clause
// Joins buckets by the calls around them, and samples of buckets by function.
#include "report/causes/fix_sites.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/array.h"
#include "report/causes/cause_who.h"

#define STANDARD_ERRORS 3

struct collecting { /* parts as they come, and their sites */
	const struct crit_fix_input *input;
	struct crit_fix_sites *sites;
	uint32_t *numbers; /* of each place its site, from 1 */
	size_t capacity;
};

/* Parts of one site. */
static int compare_parts(const void *a, const void *b)
{
	const struct crit_fix_part *left = a, *right = b;
	int order = crit_cause_compare_who(&left->who, &right->who);

	return order ? order : crit_by_number(left->bucket, right->bucket);
}

bool crit_fix_is_code(const struct crit_fix_input *input, uint32_t bucket)
{
	const struct crit_code_key *key = &input->keys[bucket];

	return !key->is_call && key->thread < input->results->thread_count &&
	       input->run->bucket_ns[bucket] != 0;
}

/* Adds a part to the site of its place.  Errors: -ENOMEM. */
static int add_part(struct collecting *to, struct crit_fix_part part,
		    const struct crit_code_place *place)
{
	struct crit_fix_sites *sites = to->sites;
	uint32_t *number;

	if (crit_array_grow(&to->numbers, &to->capacity, place->number + 1, sizeof(*to->numbers)))
		return -ENOMEM;
	number = &to->numbers[place->number];
	if (!*number) {
		sites->rows[sites->count].place = place;
		*number = (uint32_t)++sites->count;
	}
	part.site = *number - 1;
	sites->rows[part.site].part_count++;
	sites->parts[sites->part_count++] = part;
	return 0;
}

static struct crit_who unit_of(const struct crit_fix_input *input, uint32_t bucket)
{
	return crit_cause_who_of(input->results, input->keys[bucket].thread, false);
}

static int add_calls(struct collecting *to)
{
	const struct crit_fix_input *input = to->input;
	int rc = 0;

	for (uint32_t i = 0; i < input->costs->bucket_count && !rc; i++)
		if (crit_fix_is_code(input, i))
			rc = add_part(to,
				      (struct crit_fix_part){
					      .who = unit_of(input, i), .bucket = i, .share = 1 },
				      crit_code_places_of(input->places, i));
	return rc;
}

struct sampled { /* a bucket; of a site: all of its buckets */
	uint64_t ns, count, all_ns;
	double share; /* of its time, in which its thread ran */
};

/*
 * Where samples stand for less than the time that threads are in a place, by more than chance, they
 * do not run all the time: they block, or are in the kernel where it is not sampled.
 */
static double running_share(const struct sampled *site)
{
	const double ns = (double)site->ns, all_ns = (double)site->all_ns;

	return site->count && ns * (1 + STANDARD_ERRORS / sqrt((double)site->count)) < all_ns
		       ? ns / all_ns
		       : 1;
}

/* The sites are of calls alone.  Errors: -ENOMEM. */
static int find_running(const struct crit_fix_input *input, const struct crit_fix_sites *sites,
			struct sampled *buckets)
{
	struct sampled *of_sites = calloc(sites->count + 1, sizeof(*of_sites));

	if (!of_sites)
		return -ENOMEM;
	for (size_t i = 0; i < input->samples->count; i++) {
		buckets[input->samples->rows[i].bucket].ns += input->samples->rows[i].cpu_ns;
		buckets[input->samples->rows[i].bucket].count += input->samples->rows[i].count;
	}
	for (size_t i = 0; i < sites->part_count; i++) {
		const struct crit_fix_part *part = &sites->parts[i];
		struct sampled *site = &of_sites[part->site];

		site->ns += buckets[part->bucket].ns;
		site->count += buckets[part->bucket].count;
		site->all_ns += input->run->bucket_ns[part->bucket];
	}
	for (size_t i = 0; i < sites->part_count; i++)
		buckets[sites->parts[i].bucket].share =
			running_share(&of_sites[sites->parts[i].site]);
	free(of_sites);
	return 0;
}

static int add_functions(struct collecting *to, const struct sampled *buckets)
{
	const struct crit_fix_input *input = to->input;
	int rc = 0;

	for (size_t i = 0; i < input->samples->count && !rc; i++) {
		const struct crit_filmed_sample *sample = &input->samples->rows[i];
		const struct sampled *bucket = &buckets[sample->bucket];
		const struct crit_code_place *place;

		if (!crit_fix_is_code(input, sample->bucket) || !sample->cpu_ns)
			continue;
		rc = crit_code_places_function(
			input->places, &input->results->threads[input->keys[sample->bucket].thread],
			sample->address, &place);
		if (rc || !place)
			continue;
		rc = add_part(to,
			      (struct crit_fix_part){ .who = unit_of(input, sample->bucket),
						      .bucket = sample->bucket,
						      .sample_count = sample->count,
						      .sampled_ns = (double)sample->cpu_ns,
						      .sample_squares = sample->squares,
						      .share = bucket->share *
							       (double)sample->cpu_ns /
							       (double)bucket->ns },
			      place);
	}
	return rc;
}

static int add_sampled(struct collecting *to)
{
	struct sampled *buckets = calloc(to->input->costs->bucket_count + 1, sizeof(*buckets));
	int rc = buckets ? find_running(to->input, to->sites, buckets) : -ENOMEM;

	if (!rc)
		rc = add_functions(to, buckets);
	free(buckets);
	return rc;
}

static int collect_parts(const struct crit_fix_input *input, struct crit_fix_sites *sites)
{
	const size_t most = input->costs->bucket_count + input->samples->count + 1;
	struct collecting to = { .input = input, .sites = sites };
	int rc = -ENOMEM;

	sites->parts = crit_lines_room(most, sizeof(*sites->parts));
	sites->rows = crit_lines_alloc(most, sizeof(*sites->rows));
	if (sites->parts && sites->rows)
		rc = add_calls(&to);
	if (!rc && input->samples->count)
		rc = add_sampled(&to);
	free(to.numbers);
	return rc ? rc : crit_code_places_sort(input->places);
}

/* The numbers of sites by place.  Ownership: the caller's.  Errors: NULL, out of memory. */
static uint32_t *order_of(const struct crit_fix_sites *sites)
{
	uint32_t *numbers = calloc(sites->count + 1, sizeof(*numbers));
	uint32_t *keys = calloc(sites->count + 1, sizeof(*keys));
	int rc = numbers && keys ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < sites->count && !rc; i++) {
		numbers[i] = i;
		keys[i] = sites->rows[i].place->order;
	}
	if (!rc)
		rc = crit_array_sort_numbers(numbers, sites->count, keys);
	free(keys);
	if (!rc)
		return numbers;
	free(numbers);
	return NULL;
}

/* Sites by place, each with its parts behind those of the one before.  Errors: -ENOMEM. */
static int order_sites(struct crit_fix_sites *sites)
{
	const struct crit_fix_sites as_they_came = *sites;
	size_t *ends = calloc(sites->count + 1, sizeof(*ends)), part_count = 0;
	uint32_t *order = order_of(sites);

	sites->rows = crit_lines_room(sites->count + 1, sizeof(*sites->rows));
	sites->parts = crit_lines_room(sites->part_count + 1, sizeof(*sites->parts));
	if (order && ends && sites->rows && sites->parts) {
		for (size_t i = 0; i < sites->count; i++) {
			sites->rows[i] = as_they_came.rows[order[i]];
			sites->rows[i].first_part = ends[order[i]] = part_count;
			part_count += sites->rows[i].part_count;
		}
		for (size_t i = 0; i < part_count; i++)
			sites->parts[ends[as_they_came.parts[i].site]++] = as_they_came.parts[i];
	}
	free(as_they_came.rows);
	free(as_they_came.parts);
	free(order);
	free(ends);
	return part_count == sites->part_count ? 0 : -ENOMEM;
}

static bool are_sorted(const struct crit_fix_part *parts, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (compare_parts(&parts[i - 1], &parts[i]) > 0)
			return false;
	return true;
}

/* Sorts a site's parts, and moves them; those of one bucket become one: addresses of a function. */
static void join_parts(struct crit_fix_sites *sites, uint32_t number, size_t *to)
{
	struct crit_fix_site *site = &sites->rows[number];
	struct crit_fix_part *parts = &sites->parts[site->first_part];
	struct crit_fix_part *joined = &sites->parts[*to];
	size_t used = 0;

	if (!are_sorted(parts, site->part_count))
		qsort(parts, site->part_count, sizeof(*parts), compare_parts);
	for (size_t i = 0; i < site->part_count; i++) {
		const struct crit_fix_part *part = &parts[i];
		struct crit_fix_part *last = used ? &joined[used - 1] : NULL;

		if (last && compare_parts(last, part) == 0) {
			last->share += part->share;
			last->sample_count += part->sample_count;
			last->sampled_ns += part->sampled_ns;
			last->sample_squares += part->sample_squares;
		} else {
			joined[used] = *part;
			joined[used++].site = number;
		}
	}
	site->first_part = *to;
	site->part_count = used;
	*to += used;
}

/* Adds up a site's parts from one on that are of one unit; yields the one behind. */
static size_t add_unit(const struct crit_fix_input *input, struct crit_fix_part *parts, size_t from,
		       struct crit_fix_site *site)
{
	double ns = 0, sampled_ns = 0;
	size_t to = from;

	for (; to < site->part_count; to++) {
		const struct crit_fix_part *part = &parts[to];

		if (crit_cause_compare_who(&part->who, &parts[from].who))
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
		parts[i].unit_ns = ns;
	site->ns += ns;
	site->sampled_ns += sampled_ns;
	site->unit_squares += sampled_ns * sampled_ns;
	site->unit_count++;
	return to;
}

int crit_fix_sites_make(const struct crit_fix_input *input, struct crit_fix_sites *ret_sites)
{
	struct crit_fix_sites *sites = ret_sites;
	size_t part_count = 0;
	int rc;

	*sites = (struct crit_fix_sites){ 0 };
	rc = collect_parts(input, sites);
	if (!rc)
		rc = order_sites(sites);
	for (uint32_t i = 0; i < sites->count && !rc; i++) {
		struct crit_fix_site *site = &sites->rows[i];

		join_parts(sites, i, &part_count);
		for (size_t from = 0; from < site->part_count;)
			from = add_unit(input, &sites->parts[site->first_part], from, site);
	}
	sites->part_count = part_count;
	return rc;
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

	if (site->unit_count < 2 || !site->place->before->is_function)
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
