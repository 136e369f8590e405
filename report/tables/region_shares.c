// SPDX-License-Identifier: BSD-3-Clause
// Sorts the parts of regions by line and thread, adds up what is equal, and measures the spread.
#include "report/tables/region_shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/efficiency.h"
#include "analysis/table/group_by.h"
#include "core/base/array.h"
#include "core/base/call.h"

struct region_piece { /* one part, on its way to a share */
	uint32_t line; /* of rows, or of phases behind them */
	struct crit_region_share share;
};

struct pieces {
	struct region_piece *list;
	size_t count;
	size_t capacity;
};

static int add_piece(struct pieces *pieces, size_t line, uint32_t thread,
		     const struct crit_region_sum *sum)
{
	if (crit_array_grow(&pieces->list, &pieces->capacity, pieces->count + 1,
			    sizeof(*pieces->list)))
		return -ENOMEM;
	pieces->list[pieces->count++] = (struct region_piece){ (uint32_t)line, { thread, *sum } };
	return 0;
}

static void add_sum(struct crit_region_sum *a, const struct crit_region_sum *b)
{
	a->visits += b->visits;
	a->time_ns += b->time_ns;
	a->useful_ns += b->useful_ns;
	a->omp_wait_ns += b->omp_wait_ns;
	a->mpi_ns += b->mpi_ns;
	crit_attribution_add(&a->run, &b->run);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static crit_fix less_fix(crit_fix a, crit_fix b)
{
	return a > b ? a - b : 0;
}

static void subtract(struct crit_region_sum *a, const struct crit_region_sum *b)
{
	a->time_ns = less(a->time_ns, b->time_ns);
	a->useful_ns = less(a->useful_ns, b->useful_ns);
	a->omp_wait_ns = less(a->omp_wait_ns, b->omp_wait_ns);
	a->mpi_ns = less(a->mpi_ns, b->mpi_ns);
	for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		a->run.cmetric[unit] = less_fix(a->run.cmetric[unit], b->run.cmetric[unit]);
		a->run.all_waiting[unit] =
			less_fix(a->run.all_waiting[unit], b->run.all_waiting[unit]);
	}
	a->run.blame = less_fix(a->run.blame, b->run.blame);
	a->run.waiting_ns = less(a->run.waiting_ns, b->run.waiting_ns);
}

static struct crit_region_sum whole_of(const struct crit_thread_row *thread)
{
	struct crit_usage usage;

	crit_usage_of(&thread->cells, &usage);
	return (struct crit_region_sum){
		.time_ns = less(usage.life_ns, usage.setup_ns),
		.useful_ns = usage.useful_ns,
		.omp_wait_ns = usage.omp_wait_ns,
		.mpi_ns = usage.mpi_ns,
		.run = thread->run,
	};
}

/* What a thread did less what it did in regions: outside all of them. */
static int add_outside(struct pieces *pieces, const struct crit_results *results, size_t line)
{
	struct crit_region_sum *left = calloc(results->thread_count + 1, sizeof(*left));
	int rc = left ? 0 : -ENOMEM;

	for (size_t i = 0; i < results->thread_count && !rc; i++)
		left[i] = whole_of(&results->threads[i]);
	for (size_t i = 0; i < pieces->count && !rc; i++)
		subtract(&left[pieces->list[i].share.thread], &pieces->list[i].share.sum);
	for (size_t i = 0; i < results->thread_count && !rc; i++)
		if (results->threads[i].role == CRIT_THREAD_APP)
			rc = add_piece(pieces, line, (uint32_t)i, &left[i]);
	free(left);
	return rc;
}

static int add_own(struct pieces *pieces, const struct crit_results *results,
		   const uint32_t *line_of)
{
	const struct crit_region_results *regions = &results->regions;
	int rc = 0;

	for (size_t i = 0; i < regions->part_count && !rc; i++) {
		const struct crit_region_part *part = &regions->parts[i];
		struct crit_region_sum sum = { part->visits,      part->time_ns, part->useful_ns,
					       part->omp_wait_ns, part->mpi_ns,  part->run };

		if (part->region < regions->row_count && part->thread < results->thread_count)
			rc = add_piece(pieces, line_of[part->region], part->thread, &sum);
	}
	return rc;
}

/* Every piece counts for all phases around it as well; visits only for its own. */
static int add_phases(struct pieces *pieces, const struct crit_region_table *table,
		      const uint32_t *phase_of)
{
	size_t own = pieces->count;
	int rc = 0;

	for (size_t i = 0; i < own && !rc; i++) {
		const struct region_piece piece = pieces->list[i];

		for (int32_t line = (int32_t)piece.line; line >= 0 && !rc;
		     line = table->rows[line].parent) {
			struct crit_region_sum sum = piece.share.sum;

			if (line != (int32_t)piece.line)
				sum.visits = 0;
			if (table->rows[line].call == CRIT_CONSTRUCT_PHASE)
				rc = add_piece(pieces, table->row_count + phase_of[line],
					       piece.share.thread, &sum);
		}
	}
	return rc;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct region_piece *left = a;
	const struct region_piece *right = b;

	if (left->line != right->line)
		return left->line < right->line ? -1 : 1;
	return (left->share.thread > right->share.thread) -
	       (left->share.thread < right->share.thread);
}

/* Copies the rows of phases, so that they can have sums of their own; ret_phase_of by row. */
static int copy_phases(struct crit_region_table *table, uint32_t **ret_phase_of)
{
	uint32_t *phase_of = calloc(table->row_count, sizeof(*phase_of));

	table->phases = calloc(table->row_count, sizeof(*table->phases));
	*ret_phase_of = phase_of;
	if (!phase_of || !table->phases)
		return -ENOMEM;
	for (size_t i = 0; i < table->row_count; i++)
		if (table->rows[i].call == CRIT_CONSTRUCT_PHASE) {
			phase_of[i] = (uint32_t)table->phase_count;
			table->phases[table->phase_count++] = table->rows[i];
		}
	return 0;
}

static void begin_share(void *to, const void *from)
{
	const struct region_piece *piece = from;

	*(struct region_piece *)to =
		(struct region_piece){ .line = piece->line, .share.thread = piece->share.thread };
}

static void add_share(void *to, const void *from)
{
	add_sum(&((struct region_piece *)to)->share.sum,
		&((const struct region_piece *)from)->share.sum);
}

static const struct crit_grouping by_share = { sizeof(struct region_piece),
					       sizeof(struct region_piece),
					       compare_pieces,
					       begin_share,
					       add_share,
					       NULL };

static int make_shares(struct crit_region_table *table, struct pieces *pieces)
{
	size_t count;
	struct region_piece *joined = crit_group_by(&by_share, pieces->list, pieces->count, &count);

	table->shares = joined ? calloc(count + 1, sizeof(*table->shares)) : NULL;
	for (size_t i = 0; table->shares && i < count; i++) {
		struct crit_region_line *line =
			joined[i].line < table->row_count
				? &table->rows[joined[i].line]
				: &table->phases[joined[i].line - table->row_count];

		add_sum(&line->sum, &joined[i].share.sum);
		if (line->share_count++ == 0)
			line->first_share = i;
		table->shares[table->share_count++] = joined[i].share;
	}
	free(joined);
	return table->shares ? 0 : -ENOMEM;
}

/* Shares come in the order of threads, which is that of ranks. */
static void measure_line(struct crit_region_line *line, const struct crit_region_table *table,
			 const struct crit_results *results, double *values_s, int32_t *indexes)
{
	const struct crit_region_share *shares = &table->shares[line->first_share];
	size_t count = 0;

	for (size_t i = 0; i < line->share_count; i++) {
		values_s[i] = (double)shares[i].sum.useful_ns * 1e-9;
		indexes[i] = (int32_t)shares[i].thread;
	}
	crit_imbalance_of(values_s, indexes, line->share_count, &line->threads);
	for (size_t i = 0; i < line->share_count; i++) {
		int32_t rank = results->threads[shares[i].thread].rank_row;

		if (rank < 0)
			continue;
		if (count == 0 || indexes[count - 1] != rank) {
			values_s[count] = 0;
			indexes[count++] = rank;
		}
		values_s[count - 1] += (double)shares[i].sum.useful_ns * 1e-9;
	}
	crit_imbalance_of(values_s, indexes, count, &line->ranks);
}

static int compare_phases(const void *a, const void *b)
{
	const struct crit_region_line *left = a;
	const struct crit_region_line *right = b;
	crit_fix one = left->sum.run.cmetric[CRIT_UNIT_THREADS];
	crit_fix two = right->sum.run.cmetric[CRIT_UNIT_THREADS];

	if (one != two)
		return one < two ? 1 : -1;
	return strcmp(left->phase, right->phase);
}

static int measure(struct crit_region_table *table, const struct crit_results *results)
{
	double *values_s = calloc(results->thread_count + 1, sizeof(*values_s));
	int32_t *indexes = calloc(results->thread_count + 1, sizeof(*indexes));
	int rc = values_s && indexes ? 0 : -ENOMEM;

	for (size_t i = 0; i < table->row_count && !rc; i++)
		measure_line(&table->rows[i], table, results, values_s, indexes);
	for (size_t i = 0; i < table->phase_count && !rc; i++)
		measure_line(&table->phases[i], table, results, values_s, indexes);
	if (table->phase_count)
		qsort(table->phases, table->phase_count, sizeof(*table->phases), compare_phases);
	free(values_s);
	free(indexes);
	return rc;
}

int crit_region_shares_fill(struct crit_region_table *table, const struct crit_results *results,
			    const uint32_t *line_of)
{
	struct pieces pieces = { 0 };
	uint32_t *phase_of = NULL;
	int rc = add_own(&pieces, results, line_of);

	if (!rc)
		rc = add_outside(&pieces, results, table->row_count - 1);
	if (!rc)
		rc = copy_phases(table, &phase_of);
	if (!rc)
		rc = add_phases(&pieces, table, phase_of);
	if (!rc)
		rc = make_shares(table, &pieces);
	if (!rc)
		rc = measure(table, results);
	free(phase_of);
	free(pieces.list);
	return rc;
}
