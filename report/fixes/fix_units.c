// SPDX-License-Identifier: BSD-3-Clause
// Which threads work, and how long in their code.
#include "report/fixes/fix_units.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/table/lost_units.h"
#include "report/causes/cause_who.h"

int crit_fix_units_make(const struct crit_fix_input *input, struct crit_fix_units *ret_units)
{
	const size_t thread_count = input->results->thread_count;
	struct crit_fix_units *units = ret_units;
	double sum_ns = 0;

	*units = (struct crit_fix_units){ 0 };
	if (input->results->has_ranks)
		return 0;
	units->is_working = crit_lost_units_mark(input->results);
	units->thread_ns = calloc(thread_count + 1, sizeof(*units->thread_ns));
	if (!units->is_working || !units->thread_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < input->costs->bucket_count; i++) {
		const uint32_t thread = input->keys[i].thread;

		if (!crit_fix_is_code(input, i) || !units->is_working[thread])
			continue;
		units->count += units->thread_ns[thread] <= 0;
		units->thread_ns[thread] += (double)input->run->bucket_ns[i];
		sum_ns += (double)input->run->bucket_ns[i];
	}
	units->mean_ns = units->count ? sum_ns / (double)units->count : 0;
	return 0;
}

void crit_fix_units_fini(struct crit_fix_units *units)
{
	free(units->is_working);
	free(units->thread_ns);
	*units = (struct crit_fix_units){ 0 };
}

double crit_fix_units_mean(const struct crit_fix_units *units, const struct crit_fix_sites *sites,
			   const struct crit_fix_site *site, uint32_t *ret_count)
{
	const struct crit_who *last = NULL;
	double sum_ns = 0;

	*ret_count = 0;
	for (size_t i = 0; i < site->part_count; i++) {
		const struct crit_fix_part *part = &sites->parts[site->first_part + i];

		if (last && crit_cause_compare_who(last, &part->who) == 0)
			continue;
		last = &part->who;
		if (!crit_fix_units_has(units, last))
			continue;
		sum_ns += part->unit_ns;
		++*ret_count;
	}
	return *ret_count ? sum_ns / *ret_count : 0;
}
