// SPDX-License-Identifier: BSD-3-Clause
// Numbers the code of all ranks, and compares what they have of it.
#include "report/causes/code_excess.h"

#include <errno.h>
#include <stdlib.h>

#include "report/causes/cause_who.h"

/* How many there are to do the same: ranks, or threads in runs without. */
static size_t count_units(const struct crit_fix_input *input, const struct crit_fix_sites *sites)
{
	const size_t thread_count = input->results->thread_count;
	bool *has_code = calloc(thread_count + 1, sizeof(*has_code));
	size_t count = 0;

	for (size_t i = 0; has_code && i < sites->part_count; i++) {
		const uint32_t thread = input->keys[sites->parts[i].bucket].thread;

		count += !has_code[thread];
		has_code[thread] = true;
	}
	free(has_code);
	return input->results->rank_count ? input->results->rank_count : count;
}

/*
 * The most threads of one unit that have a site; seen: of each thread the number of the last site
 * it was counted for, from 1.
 */
static size_t most_threads(const struct crit_fix_input *input, const struct crit_fix_sites *sites,
			   uint32_t number, uint32_t *seen)
{
	const struct crit_fix_site *site = &sites->rows[number - 1];
	const struct crit_fix_part *part = &sites->parts[site->first_part], *first = part;
	size_t most = 0, threads = 0;

	for (size_t i = 0; i < site->part_count; i++, part++) {
		const uint32_t thread = input->keys[part->bucket].thread;

		if (crit_cause_compare_who(&first->who, &part->who)) {
			first = part;
			threads = 0;
		}
		threads += seen[thread] != number;
		seen[thread] = number;
		most = threads > most ? threads : most;
	}
	return most;
}

static uint64_t path_of(const struct crit_fix_input *input, const struct crit_fix_part *part)
{
	return input->costs->buckets[part->bucket].path_ns[CRIT_PART_SELF];
}

/* do_count: how many threads could have done what is in the site. */
static void find_path_excess(const struct crit_fix_input *input, const struct crit_fix_sites *sites,
			     const struct crit_fix_site *site, size_t do_count, double *path_ns)
{
	const struct crit_fix_part *parts = &sites->parts[site->first_part];
	const double mean_ns = site->ns / (double)do_count;
	double sum_ns = 0;

	for (size_t i = 0; i < site->part_count; i++)
		sum_ns += (double)path_of(input, &parts[i]);
	for (size_t i = 0; i < site->part_count && sum_ns > mean_ns; i++)
		path_ns[parts[i].bucket] =
			(double)path_of(input, &parts[i]) * (1 - mean_ns / sum_ns);
}

/* Of each bucket that is code between calls the number of its site.  Errors: NULL, -ENOMEM. */
static uint32_t *number_codes(const struct crit_fix_input *input,
			      const struct crit_fix_sites *sites)
{
	uint32_t *codes = calloc(input->costs->bucket_count + 1, sizeof(*codes));

	for (size_t i = 0; codes && i < input->costs->bucket_count; i++)
		codes[i] = CRIT_NONE;
	for (uint32_t i = 0; codes && i < sites->count; i++) {
		const struct crit_fix_site *site = &sites->rows[i];

		for (size_t part = 0; part < site->part_count; part++)
			codes[sites->parts[site->first_part + part].bucket] = i;
	}
	return codes;
}

static int find_delays(const struct crit_fix_input *input, const struct crit_fix_sites *sites,
		       struct crit_delays *ret_delays)
{
	uint32_t *codes = number_codes(input, sites);
	const struct crit_delay_options options = {
		.begin_ns = input->run->options.begin_ns,
		.thread_count = input->run->options.thread_count,
		.bucket_count = input->costs->bucket_count,
		.keys = input->keys,
		.codes = codes,
	};
	int rc = codes ? crit_delays_find(input->run->film, &options, ret_delays) : -ENOMEM;

	free(codes);
	return rc;
}

static int find_paths_excess(const struct crit_fix_input *input, const struct crit_fix_sites *sites,
			     double *path_ns)
{
	const size_t unit_count = count_units(input, sites);
	uint32_t *seen = calloc(input->results->thread_count + 1, sizeof(*seen));

	for (uint32_t i = 0; seen && i < sites->count && unit_count; i++)
		find_path_excess(input, sites, &sites->rows[i],
				 unit_count * most_threads(input, sites, i + 1, seen), path_ns);
	free(seen);
	return seen ? 0 : -ENOMEM;
}

int crit_code_excess_make(const struct crit_fix_input *input, struct crit_code_excess *ret_excess)
{
	struct crit_fix_sites sites;
	int rc = crit_fix_sites_make_calls(input, &sites);

	*ret_excess = (struct crit_code_excess){
		.path_ns = calloc(input->costs->bucket_count + 1, sizeof(*ret_excess->path_ns)),
	};
	if (!rc && !ret_excess->path_ns)
		rc = -ENOMEM;
	if (!rc)
		rc = find_paths_excess(input, &sites, ret_excess->path_ns);
	if (!rc)
		rc = find_delays(input, &sites, &ret_excess->delays);
	crit_fix_sites_fini(&sites);
	return rc;
}

void crit_code_excess_fini(struct crit_code_excess *excess)
{
	crit_delays_fini(&excess->delays);
	free(excess->path_ns);
	*excess = (struct crit_code_excess){ 0 };
}
