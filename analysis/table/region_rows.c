// SPDX-License-Identifier: BSD-3-Clause
// Rows for regions and what each thread did in them, summed from the buckets of app threads.
#include "analysis/table/region_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/group_by.h"
#include "core/base/call.h"

struct region_location { /* of a region among the rows */
	const struct crit_model *model;
	const struct crit_region *region;
	int32_t rank_row;
	uint32_t index; /* into the regions */
};

struct region_item { /* a bucket of a thread in a region */
	const struct crit_bucket *bucket;
	uint32_t row;
	uint32_t thread_row;
	uint32_t call; /* of the region */
};

/* Those without rank come last. */
static int compare_places(const void *left, const void *right)
{
	const struct region_location *a = left, *b = right;
	const struct crit_process *p = &a->model->processes[a->region->process];
	const struct crit_process *q = &b->model->processes[b->region->process];
	int rc = crit_by_number((uint32_t)a->rank_row, (uint32_t)b->rank_row);

	rc = rc ? rc : crit_by_number(p->node, q->node);
	rc = rc ? rc : crit_by_number(p->pid, q->pid);
	rc = rc ? rc : crit_by_number(a->region->process, b->region->process);
	return rc ? rc : crit_by_number(a->region->number, b->region->number);
}

static int compare_pieces(const void *left, const void *right)
{
	const struct region_item *a = left, *b = right;
	int rc = crit_by_number(a->row, b->row);

	return rc ? rc : crit_by_number(a->thread_row, b->thread_row);
}

static bool is_region_call(uint32_t call)
{
	return call == CRIT_CONSTRUCT_PARALLEL || call == CRIT_CONSTRUCT_TASK ||
	       call == CRIT_CONSTRUCT_PHASE;
}

/* The buckets of app threads inside regions.  row: index into the regions. */
static int collect(const struct crit_model *model, struct crit_engine *engine,
		   const uint32_t *thread_rows, struct region_item **ret_pieces, size_t *ret_count)
{
	struct region_item *pieces = crit_lines_alloc(engine->buckets.count + 1, sizeof(*pieces));
	size_t count = 0;

	if (!pieces)
		return -ENOMEM;
	for (size_t i = 0; i < engine->buckets.count; i++) {
		const struct crit_bucket *bucket = crit_buckets_at(&engine->buckets, i);
		const struct crit_thread *thread = &model->threads[bucket->key.thread];
		struct crit_region *region;
		int64_t index;

		if (!bucket->key.region || thread->role != CRIT_THREAD_APP ||
		    (!bucket->visits && !bucket->time_ns))
			continue;
		index = crit_regions_get(&engine->teams.regions, thread->process,
					 bucket->key.region);
		if (index == -ENOMEM) {
			free(pieces);
			return -ENOMEM;
		}
		if (index < 0)
			continue;
		region = &engine->teams.regions.rows[index];
		if (!region->call && is_region_call(bucket->key.call)) { /* nobody defined it */
			region->call = bucket->key.call;
			region->site = bucket->key.site;
		}
		pieces[count++] =
			(struct region_item){ .bucket = bucket,
					      .row = (uint32_t)index,
					      .thread_row = thread_rows[bucket->key.thread] };
	}
	*ret_pieces = pieces;
	*ret_count = count;
	return 0;
}

/* The rank each process is or descends from, -1 none. */
static int32_t *ranks_of_processes(const struct crit_model *model, const uint32_t *rank_rows)
{
	int32_t *ranks = malloc((model->process_count + 1) * sizeof(*ranks));

	if (!ranks)
		return NULL;
	for (size_t i = 0; i < model->process_count; i++)
		ranks[i] = -1;
	for (size_t i = 0; i < model->thread_count; i++) {
		const struct crit_thread *thread = &model->threads[i];

		if (thread->rank != CRIT_NONE)
			ranks[thread->process] = (int32_t)rank_rows[thread->rank];
	}
	return ranks;
}

static void fill_row(const struct region_location *place, struct crit_region_row *row)
{
	const struct crit_region *region = place->region;
	const struct crit_process *process = &place->model->processes[region->process];

	*row = (struct crit_region_row){ .node = process->node,
					 .pid = process->pid,
					 .number = region->number,
					 .parent = -1,
					 .rank_row = place->rank_row,
					 .call = region->call,
					 .site = region->site,
					 .caller = region->caller,
					 .team_max = region->team_max,
					 .scheduling_ns = region->scheduling_ns,
					 .imbalance_ns = region->imbalance_ns,
					 .runnable_ns = region->runnable_ns };
	if (region->name)
		memcpy(row->name, region->name, strlen(region->name)); /* as long at most */
}

/* new_rows says where each region went. */
static int fill_rows(const struct crit_model *model, const struct crit_regions *regions,
		     const uint32_t *rank_rows, struct crit_region_results *out, uint32_t *new_rows)
{
	struct region_location *places = calloc(regions->count + 1, sizeof(*places));
	int32_t *ranks = ranks_of_processes(model, rank_rows);

	out->rows = calloc(regions->count + 1, sizeof(*out->rows));
	if (!places || !ranks || !out->rows) {
		free(places);
		free(ranks);
		return -ENOMEM;
	}
	for (size_t i = 0; i < regions->count; i++)
		places[i] = (struct region_location){ model, &regions->rows[i],
						      ranks[regions->rows[i].process],
						      (uint32_t)i };
	qsort(places, regions->count, sizeof(*places), compare_places);
	out->row_count = regions->count;
	for (size_t i = 0; i < regions->count; i++)
		new_rows[places[i].index] = (uint32_t)i;
	for (size_t i = 0; i < regions->count; i++) {
		const struct crit_region *region = places[i].region;
		uint64_t parent = (uint64_t)region->process << 32 | region->parent;
		uint32_t found = region->parent ? crit_map_get(&regions->places, parent)
						: CRIT_NONE;

		fill_row(&places[i], &out->rows[i]);
		if (found != CRIT_NONE)
			out->rows[i].parent = (int32_t)new_rows[found];
	}
	free(places);
	free(ranks);
	return 0;
}

static void begin_part(void *to, const void *from)
{
	const struct region_item *piece = from;

	*(struct crit_region_part *)to =
		(struct crit_region_part){ .region = piece->row, .thread = piece->thread_row };
}

static void add_piece(void *to, const void *from)
{
	const struct region_item *piece = from;
	const struct crit_bucket *bucket = piece->bucket;
	struct crit_region_part *part = to;

	if (bucket->key.call == piece->call)
		part->visits += bucket->visits;
	part->time_ns += bucket->time_ns;
	switch (bucket->key.span_class) {
	case CRIT_CLASS_NONE:
	case CRIT_CLASS_USER:
	case CRIT_CLASS_OMP:
		part->useful_ns += bucket->running_ns;
		break;
	case CRIT_CLASS_OMP_WAIT:
		part->omp_wait_ns += bucket->time_ns;
		break;
	case CRIT_CLASS_MPI:
	case CRIT_CLASS_MPI_MAY_WAIT:
	case CRIT_CLASS_MPI_POLL:
	case CRIT_CLASS_MPI_WAIT:
		part->mpi_ns += bucket->time_ns;
		break;
	default:
		break;
	}
	crit_attribution_add(&part->run, &bucket->attributed);
}

static const struct crit_grouping by_part = { sizeof(struct region_item),
					      sizeof(struct crit_region_part),
					      compare_pieces,
					      begin_part,
					      add_piece,
					      NULL };

static int fill_parts(struct region_item *pieces, size_t count, struct crit_region_results *out)
{
	for (size_t i = 0; i < count; i++) {
		struct crit_region_row *row = &out->rows[pieces[i].row];

		pieces[i].call = row->call;
		row->visits += pieces[i].bucket->begun;
		row->elapsed_ns += pieces[i].bucket->elapsed_ns;
	}
	out->parts = crit_group_by(&by_part, pieces, count, &out->part_count);
	if (!out->parts)
		return -ENOMEM;
	for (size_t i = 0; i < out->part_count; i++) {
		struct crit_region_row *row = &out->rows[out->parts[i].region];

		if (!row->part_count++)
			row->first_part = i;
	}
	return 0;
}

int crit_region_rows_fill(const struct crit_model *model, struct crit_engine *engine,
			  const uint32_t *rank_rows, const uint32_t *thread_rows,
			  struct crit_results *results)
{
	const struct crit_regions *regions = &engine->teams.regions;
	struct region_item *pieces;
	uint32_t *new_rows;
	size_t count;
	int rc = collect(model, engine, thread_rows, &pieces, &count);

	if (rc)
		return rc;
	new_rows = calloc(regions->count + 1, sizeof(*new_rows));
	rc = new_rows ? fill_rows(model, regions, rank_rows, &results->regions, new_rows) : -ENOMEM;
	for (size_t i = 0; i < count && !rc; i++)
		pieces[i].row = new_rows[pieces[i].row];
	if (!rc)
		rc = fill_parts(pieces, count, &results->regions);
	free(new_rows);
	free(pieces);
	return rc;
}
