// SPDX-License-Identifier: BSD-3-Clause
// Few maps of a process are kept: who asks is at most a moment behind the last ones.
#include "analysis/unwind/process_maps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define VERSIONS_MAX 4

struct maps_version {
	uint64_t first_ns;
	uint64_t last_ns;
	struct crit_unwind_maps maps;
	struct crit_unwind_maps between; /* it and the next one; made when asked for */
	bool has_between;
};

struct crit_mapped_process {
	uint32_t pid;
	uint32_t version_count;
	uint64_t used_at; /* the last use of all */
	bool has_dropped; /* versions before these */
	struct maps_version versions[VERSIONS_MAX];
};

static const struct crit_unwind_maps unknown;

static struct crit_mapped_process *find(const struct crit_process_maps *maps, uint32_t pid,
					struct crit_probe *ret_probe)
{
	uint32_t row = crit_index_first(&maps->numbers, crit_hash_mix(pid, 0), ret_probe);

	while (row != CRIT_NONE && maps->processes[row].pid != pid)
		row = crit_index_next(&maps->numbers, ret_probe);
	return row == CRIT_NONE ? NULL : &maps->processes[row];
}

static void drop_version(struct crit_process_maps *maps, struct maps_version *version)
{
	maps->mapping_count -= version->maps.mapping_count + version->between.mapping_count;
	crit_unwind_maps_fini(&version->maps);
	crit_unwind_maps_fini(&version->between);
	version->has_between = false;
	maps->forgotten_count++;
}

static void drop_oldest(struct crit_process_maps *maps, struct crit_mapped_process *process)
{
	drop_version(maps, &process->versions[0]);
	memmove(process->versions, process->versions + 1,
		--process->version_count * sizeof(process->versions[0]));
	memset(&process->versions[process->version_count], 0, sizeof(process->versions[0]));
	process->has_dropped = true;
}

/* The last one takes its row. */
static void forget(struct crit_process_maps *maps, struct crit_mapped_process *process)
{
	const uint32_t row = (uint32_t)(process - maps->processes);
	const struct crit_mapped_process *last = &maps->processes[maps->process_count - 1];
	struct crit_probe probe;

	for (uint32_t i = 0; i < process->version_count; i++)
		drop_version(maps, &process->versions[i]);
	(void)find(maps, process->pid, &probe); /* it is there */
	crit_index_remove(&maps->numbers, &probe);
	if (process != last) {
		(void)find(maps, last->pid, &probe);
		crit_index_replace(&maps->numbers, &probe, row);
		*process = *last;
	}
	memset(&maps->processes[--maps->process_count], 0, sizeof(*process));
}

static void forget_least_used(struct crit_process_maps *maps)
{
	struct crit_mapped_process *least = &maps->processes[0];

	for (size_t i = 1; i < maps->process_count; i++)
		if (maps->processes[i].used_at < least->used_at)
			least = &maps->processes[i];
	forget(maps, least);
}

/* The process that was used last stays, with all it has. */
static void make_room(struct crit_process_maps *maps)
{
	const size_t mapping_max = maps->mapping_max ? maps->mapping_max
						     : CRIT_PROCESS_MAPPINGS_MAX;

	while (maps->mapping_count > mapping_max && maps->process_count > 1)
		forget_least_used(maps);
}

static struct crit_mapped_process *insert(struct crit_process_maps *maps, uint32_t pid)
{
	const uint32_t process_max = maps->process_max ? maps->process_max : CRIT_PROCESS_MAPS_MAX;
	struct crit_mapped_process *process;

	if (maps->process_count >= process_max)
		forget_least_used(maps);
	if (crit_array_grow(&maps->processes, &maps->process_capacity, maps->process_count + 1,
			    sizeof(*maps->processes)) ||
	    crit_index_put(&maps->numbers, crit_hash_mix(pid, 0), (uint32_t)maps->process_count))
		return NULL;
	process = &maps->processes[maps->process_count++];
	process->pid = pid;
	return process;
}

static bool is_same(const struct crit_unwind_maps *a, const struct crit_unwind_maps *b)
{
	return a->mapping_count == b->mapping_count &&
	       (!a->mapping_count ||
		memcmp(a->mappings, b->mappings, a->mapping_count * sizeof(*a->mappings)) == 0);
}

/* Takes the maps seen. */
static int append(struct crit_process_maps *maps, uint32_t pid, uint64_t time_ns,
		  struct crit_unwind_maps *seen)
{
	struct crit_probe probe;
	struct crit_mapped_process *process = find(maps, pid, &probe);
	struct maps_version *last;

	if (!process)
		process = insert(maps, pid);
	if (!process)
		return -ENOMEM;
	process->used_at = ++maps->use_count;
	last = process->version_count ? &process->versions[process->version_count - 1] : NULL;
	if (last && time_ns < last->last_ns)
		time_ns = last->last_ns;
	if (last && is_same(&last->maps, seen)) {
		last->last_ns = time_ns;
		crit_unwind_maps_fini(seen);
		return 0;
	}
	if (process->version_count == VERSIONS_MAX)
		drop_oldest(maps, process);
	process->versions[process->version_count++] = (struct maps_version){
		.first_ns = time_ns,
		.last_ns = time_ns,
		.maps = *seen,
	};
	maps->mapping_count += seen->mapping_count;
	make_room(maps);
	return 0;
}

int crit_process_maps_add(struct crit_process_maps *maps, struct crit_mapped_files *files,
			  uint32_t pid, uint64_t time_ns, const char *text, size_t text_bytes)
{
	struct crit_unwind_maps seen = { 0 };
	int rc = crit_unwind_maps_add(&seen, files, text, text_bytes);

	if (!rc)
		rc = append(maps, pid, time_ns, &seen);
	if (rc)
		crit_unwind_maps_fini(&seen);
	return rc;
}

static const struct crit_unwind_maps *between(struct crit_process_maps *maps,
					      struct maps_version *version)
{
	if (!version->has_between) {
		if (crit_unwind_maps_join(&version->maps, &version[1].maps, &version->between))
			return &unknown;
		version->has_between = true;
		maps->mapping_count += version->between.mapping_count;
	}
	return &version->between;
}

const struct crit_unwind_maps *crit_process_maps_find(struct crit_process_maps *maps, uint32_t pid,
						      uint64_t time_ns)
{
	struct crit_probe probe;
	struct crit_mapped_process *process = find(maps, pid, &probe);
	struct maps_version *version;
	uint32_t i;

	if (!process)
		return &unknown;
	process->used_at = ++maps->use_count;
	for (i = process->version_count; i > 0; i--)
		if (process->versions[i - 1].first_ns <= time_ns)
			break;
	if (i == 0)
		return process->has_dropped ? &unknown : &process->versions[0].maps;
	version = &process->versions[i - 1];
	if (time_ns <= version->last_ns || i == process->version_count)
		return &version->maps;
	return between(maps, version);
}

void crit_process_maps_fini(struct crit_process_maps *maps)
{
	while (maps->process_count)
		forget(maps, &maps->processes[maps->process_count - 1]);
	free(maps->processes);
	crit_index_fini(&maps->numbers);
	memset(maps, 0, sizeof(*maps));
}
