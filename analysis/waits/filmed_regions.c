// SPDX-License-Identifier: BSD-3-Clause
// A ring of parallel regions for each process that has any.
#include "analysis/waits/filmed_regions.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/hash.h"
#include "core/base/index.h"

#define REGIONS_MAX 64u

struct crit_filmed_process {
	struct crit_filmed_region regions[REGIONS_MAX]; /* a ring */
	uint64_t count;
};

static int number_processes(struct crit_filmed_regions *regions, const struct crit_results *run)
{
	struct crit_index index = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < run->thread_count && !rc; i++) {
		const struct crit_thread_row *thread = &run->threads[i];
		const uint64_t hash = crit_hash_mix(thread->pid, (uint64_t)thread->node << 32);
		struct crit_probe probe;
		uint32_t first = crit_index_first(&index, hash, &probe);

		while (first != CRIT_NONE && (run->threads[first].node != thread->node ||
					      run->threads[first].pid != thread->pid))
			first = crit_index_next(&index, &probe);
		regions->processes[i] = first == CRIT_NONE ? i : first;
		if (first == CRIT_NONE)
			rc = crit_index_put(&index, hash, i);
	}
	crit_index_fini(&index);
	return rc;
}

int crit_filmed_regions_init(struct crit_filmed_regions *regions, const struct crit_results *run)
{
	regions->thread_count = run->thread_count;
	regions->processes = calloc(run->thread_count + 1, sizeof(*regions->processes));
	regions->rows = calloc(run->thread_count + 1, sizeof(struct crit_filmed_process *));
	if (!regions->processes || !regions->rows)
		return -ENOMEM;
	return number_processes(regions, run);
}

void crit_filmed_regions_fini(struct crit_filmed_regions *regions)
{
	for (size_t i = 0; regions->rows && i < regions->thread_count; i++)
		free(regions->rows[i]);
	free(regions->rows);
	free(regions->processes);
	*regions = (struct crit_filmed_regions){ 0 };
}

int crit_filmed_regions_enter(struct crit_filmed_regions *regions,
			      const struct crit_filmed_region *entered)
{
	struct crit_filmed_process **process = &regions->rows[regions->processes[entered->primary]];

	if (!*process)
		*process = calloc(1, sizeof(**process));
	if (!*process)
		return -ENOMEM;
	(*process)->regions[(*process)->count++ % REGIONS_MAX] = *entered;
	return 0;
}

const struct crit_filmed_region *crit_filmed_regions_find(const struct crit_filmed_regions *regions,
							  uint32_t thread, uint64_t number)
{
	const struct crit_filmed_process *process = regions->rows[regions->processes[thread]];

	for (uint64_t i = 0; process && i < process->count && i < REGIONS_MAX; i++) {
		const struct crit_filmed_region *region =
			&process->regions[(process->count - 1 - i) % REGIONS_MAX];

		if (!number || region->number == number)
			return region;
	}
	return NULL;
}
