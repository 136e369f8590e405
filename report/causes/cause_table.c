// SPDX-License-Identifier: BSD-3-Clause
// Joins the buckets of costs by who and where, and edges by who.
#include "report/causes/cause_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/efficiency.h"
#include "analysis/table/group_by.h"
#include "analysis/waits/film/film.h"
#include "core/base/array.h"
#include "core/base/hash.h"
#include "report/causes/cause_rows.h"
#include "report/causes/cause_who.h"
#include "report/causes/code_places.h"
#include "report/causes/late_rows.h"
#include "report/causes/who_regions.h"

/* What kind of time it is of, as its rows are ordered. */
static unsigned int kind_of(const struct crit_cause_row *row)
{
	return row->is_outside << 2u | row->is_cpu << 1u | row->is_blocked;
}

/* Rows of one kind all have places, or none does. */
static int compare_rows(const void *a, const void *b)
{
	const struct crit_cause_row *left = a, *right = b;
	int order = crit_cause_compare_who(&left->who, &right->who);

	if (!order)
		order = crit_by_number(kind_of(left), kind_of(right));
	if (order || left->place == right->place)
		return order;
	return crit_by_number(left->place->order, right->place->order);
}

static uint64_t hash_row(const void *item)
{
	const struct crit_cause_row *row = item;

	return crit_hash_mix(crit_cause_hash_who(&row->who),
			     (uint64_t)kind_of(row) << 32 | (row->place ? row->place->number : 0));
}

static void begin_row(void *to, const void *from)
{
	struct crit_cause_row *row = to;

	*row = *(const struct crit_cause_row *)from;
	row->cost = row->direct = 0;
	row->path_ns = 0;
	row->delay_ns = row->path_excess_ns = 0;
}

static void add_row(void *to, const void *from)
{
	const struct crit_cause_row *row = from;
	struct crit_cause_row *into = to;

	into->cost += row->cost;
	into->direct += row->direct;
	into->path_ns += row->path_ns;
	into->has_excess |= row->has_excess;
	into->has_delay |= row->has_delay;
	into->delay_ns += row->delay_ns;
	into->path_excess_ns += row->path_excess_ns;
}

static const struct crit_grouping by_cause = { sizeof(struct crit_cause_row),
					       sizeof(struct crit_cause_row),
					       compare_rows,
					       begin_row,
					       add_row,
					       hash_row };

static int compare_cost(const void *a, const void *b)
{
	const struct crit_cause_row *left = a, *right = b;

	if (left->cost != right->cost)
		return left->cost < right->cost ? 1 : -1;
	if (left->path_ns != right->path_ns)
		return left->path_ns < right->path_ns ? 1 : -1;
	return compare_rows(a, b);
}

static uint64_t key_of_cost(const void *item)
{
	const crit_integral cost = ((const struct crit_cause_row *)item)->cost;

	return cost < 0 ? UINT64_MAX : cost < UINT64_MAX ? ~(uint64_t)cost : 0;
}

static const struct crit_row_order by_cost = { sizeof(struct crit_cause_row), key_of_cost,
					       compare_cost };

static int compare_pairs(const void *a, const void *b)
{
	const struct crit_waiter_row *left = a, *right = b;
	int order = crit_cause_compare_who(&left->from, &right->from);

	return order ? order : crit_cause_compare_who(&left->to, &right->to);
}

static uint64_t hash_pair(const void *item)
{
	const struct crit_waiter_row *pair = item;

	return crit_hash_mix(crit_cause_hash_who(&pair->from), crit_cause_hash_who(&pair->to));
}

static void begin_pair(void *to, const void *from)
{
	const struct crit_waiter_row *pair = from;

	*(struct crit_waiter_row *)to =
		(struct crit_waiter_row){ .from = pair->from, .to = pair->to };
}

static void add_pair(void *to, const void *from)
{
	const struct crit_waiter_row *pair = from;
	struct crit_waiter_row *into = to;

	into->count += pair->count;
	into->raw_ns += pair->raw_ns;
	into->self_ns += pair->self_ns;
	into->impact += pair->impact;
}

static const struct crit_grouping by_pair = { sizeof(struct crit_waiter_row),
					      sizeof(struct crit_waiter_row),
					      compare_pairs,
					      begin_pair,
					      add_pair,
					      hash_pair };

static int compare_impact(const void *a, const void *b)
{
	const struct crit_waiter_row *left = a, *right = b;

	if (left->impact != right->impact)
		return left->impact < right->impact ? 1 : -1;
	return compare_pairs(a, b);
}

static struct crit_who who_of(const struct crit_results *results, const struct crit_code_key *key,
			      const struct crit_who_rule *rule, enum crit_cause_by by)
{
	if (by == CRIT_CAUSE_BY_SITE)
		return (struct crit_who){ .rank = CRIT_NONE, .thread = CRIT_NONE };
	return crit_code_key_is_lock(key) ? crit_cause_lock_of(results, key, rule->is_thread)
					  : crit_cause_who_by(results, rule, key->thread);
}

struct crit_who crit_cause_bucket_who(const struct crit_cause_table *table,
				      const struct crit_results *results, size_t bucket)
{
	static const struct crit_code_key nowhere = { .thread = CRIT_NONE };
	const struct crit_code_key *key = bucket < table->costs->bucket_count ? &table->keys[bucket]
									      : &nowhere;
	struct crit_who who = who_of(results, key, &table->rule, CRIT_CAUSE_BY_RANK);

	if (table->regions && !who.lock && key->thread < results->thread_count)
		who.region = crit_who_regions_find(table->regions, key);
	return who;
}

struct crit_who crit_cause_node_who(const struct crit_cause_table *table,
				    const struct crit_results *results, uint32_t node)
{
	const size_t bucket_count = table->costs->bucket_count;

	if (node & CRIT_FILM_OBJECT)
		return crit_cause_bucket_who(table, results, node & ~CRIT_FILM_OBJECT);
	if (!table->costs->has_vertices)
		return crit_cause_who_by(results, &table->rule, node);
	if (node < bucket_count)
		return crit_cause_bucket_who(table, results, node);
	return crit_cause_who_by(results, &table->rule, node - (uint32_t)bucket_count);
}

static double without_cpu(const struct crit_usage *usage)
{
	return usage->runnable_ns ? (double)usage->runnable_ns /
					    (double)(usage->useful_ns + usage->runnable_ns)
				  : 0;
}

/*
 * What each thread lacked a CPU for, of what it would have computed, then each rank.  same_names:
 * the first thread of a name has that of all.  Errors: NULL, -ENOMEM.
 */
static double *find_shares(const struct crit_results *results, const uint32_t *same_names)
{
	const size_t thread_count = results->thread_count;
	struct crit_usage *sums = calloc(thread_count + 1, sizeof(*sums)), usage;
	double *shares = calloc(thread_count + results->rank_count + 1, sizeof(*shares));

	for (size_t i = 0; sums && shares && i < thread_count; i++) {
		struct crit_usage *sum = &sums[same_names ? same_names[i] : i];

		crit_usage_of(&results->threads[i].cells, &usage);
		sum->useful_ns += usage.useful_ns;
		sum->runnable_ns += usage.runnable_ns;
	}
	for (size_t i = 0; sums && shares && i < thread_count; i++)
		shares[i] = without_cpu(&sums[i]);
	for (size_t i = 0; sums && shares && i < results->rank_count; i++) {
		crit_usage_of(&results->ranks[i].cells, &usage);
		shares[thread_count + i] = without_cpu(&usage);
	}
	if (!sums) {
		free(shares);
		shares = NULL;
	}
	free(sums);
	return shares;
}

/* A wait for a CPU counts as code: a film does not tell it apart.  shares: see find_shares. */
static double without_cpu_of(const struct crit_results *results, const double *shares,
			     const struct crit_who *who)
{
	if (who->thread != CRIT_NONE)
		return shares[who->thread];
	return who->rank != CRIT_NONE ? shares[results->thread_count + who->rank] : 0;
}

/* What of a bucket is a row: its thread had no CPU, was blocked, or neither. */
enum row_kind {
	ROW_WORKS = 0,
	ROW_WANTS_CPU,
	ROW_IS_BLOCKED,
	ROW_KINDS
};

static enum row_kind row_kind_of(int part)
{
	return part == CRIT_PART_CPU       ? ROW_WANTS_CPU
	       : part == CRIT_PART_BLOCKED ? ROW_IS_BLOCKED
					   : ROW_WORKS;
}

static crit_integral direct_of(const struct crit_cost *cost, enum row_kind kind)
{
	switch (kind) {
	case ROW_WANTS_CPU:
		return cost->direct_cpu;
	case ROW_IS_BLOCKED:
		return cost->direct_blocked;
	default:
		return cost->direct - cost->direct_cpu - cost->direct_blocked;
	}
}

static struct crit_cause_row row_of(const struct crit_code_key *key, const struct crit_cost *cost,
				    const struct crit_results *results, enum row_kind kind)
{
	struct crit_cause_row row = { .is_cpu = kind == ROW_WANTS_CPU,
				      .is_blocked = kind == ROW_IS_BLOCKED,
				      .direct = direct_of(cost, kind),
				      .is_outside = key->thread >= results->thread_count };

	for (int part = 0; part < CRIT_PART_COUNT; part++) {
		if (row_kind_of(part) != kind)
			continue;
		row.cost += cost->cost[part];
		row.path_ns += cost->path_ns[part];
	}
	return row;
}

static void add_excess(struct crit_cause_row *row, const struct crit_code_excess *excess,
		       size_t bucket, const struct crit_code_key *key)
{
	const struct crit_bucket_delay *delay = &excess->delays.buckets[bucket];

	if (row->is_outside || row->is_blocked || (key->is_call && !row->is_cpu))
		return;
	row->has_excess = true;
	row->has_delay = excess->delays.meeting_count + excess->delays.message_count > 0;
	row->delay_ns = row->is_cpu ? delay->cpu_ns : delay->code_ns;
	row->path_excess_ns = row->is_cpu ? 0 : excess->path_ns[bucket];
}

/* Bits: the kinds of a bucket that may tell something, mostly one.  delay: NULL, not known. */
static unsigned int kinds_of(const struct crit_cost *cost, const struct crit_bucket_delay *delay)
{
	unsigned int kinds = 0;

	for (int part = 0; part < CRIT_PART_COUNT; part++)
		if (cost->cost[part] || cost->path_ns[part])
			kinds |= 1u << row_kind_of(part);
	if (delay && delay->code_ns > 0)
		kinds |= 1u << ROW_WORKS;
	if (delay && delay->cpu_ns > 0)
		kinds |= 1u << ROW_WANTS_CPU;
	return kinds;
}

/* One kind of a bucket.  False: it tells nothing. */
static bool make_row(struct crit_cause_row *row, const struct crit_cause_table *table,
		     const struct crit_cause_input *input, enum crit_cause_by by, size_t bucket,
		     enum row_kind kind)
{
	static const struct crit_code_key nowhere = { .thread = CRIT_NONE };
	const struct crit_costs *costs = input->costs;
	const struct crit_code_key *key = bucket < costs->bucket_count ? &input->keys[bucket]
								       : &nowhere;

	*row = row_of(key, &costs->buckets[bucket], input->results, kind);
	if (input->excess)
		add_excess(row, input->excess, bucket, key);
	if (!row->cost && !row->path_ns && row->delay_ns <= 0)
		return false;
	row->who = who_of(input->results, key, &table->rule, by);
	return true;
}

/* Errors: -ENOMEM. */
static int find_place(struct crit_cause_row *row, const struct crit_cause_table *table,
		      const struct crit_cause_input *input, enum crit_cause_by by, size_t bucket)
{
	const bool has_places = by == CRIT_CAUSE_BY_PLACE || by == CRIT_CAUSE_BY_SITE ||
				by == CRIT_CAUSE_BY_REGION;
	const struct crit_who_region *region;

	if (row->is_cpu || !has_places)
		return 0;
	if (by == CRIT_CAUSE_BY_REGION && !row->is_outside) {
		region = crit_who_regions_find(table->regions, &input->keys[bucket]);
		row->place = crit_code_places_region(input->places, region->call, &region->place);
	} else {
		row->place = crit_code_places_of(input->places, bucket);
	}
	return row->place ? 0 : -ENOMEM;
}

/* A row of each kind of each bucket, by groups.  Errors: -ENOMEM. */
static int join_rows(struct crit_cause_table *table, const struct crit_cause_input *input,
		     enum crit_cause_by by)
{
	const size_t bucket_count = input->costs->bucket_count;
	struct crit_cause_row row;
	struct crit_groups groups;
	int rc = crit_groups_begin(&groups, &by_cause, ROW_KINDS * (bucket_count + 1));

	for (size_t i = 0; i <= bucket_count && !rc; i++) {
		const unsigned int kinds = kinds_of(&input->costs->buckets[i],
						    input->excess && i < bucket_count
							    ? &input->excess->delays.buckets[i]
							    : NULL);

		for (int kind = 0; kind < ROW_KINDS && !rc; kind++)
			if (kinds & 1u << kind &&
			    make_row(&row, table, input, by, i, (enum row_kind)kind)) {
				rc = find_place(&row, table, input, by, i);
				rc = rc ? rc : crit_groups_put(&groups, &row);
			}
	}
	table->rows = crit_groups_end(&groups, &table->row_count);
	return rc;
}

static int fill_rows(struct crit_cause_table *table, const struct crit_cause_input *input,
		     enum crit_cause_by by)
{
	double *shares = find_shares(input->results, table->rule.same_names);

	if (!shares || join_rows(table, input, by) || crit_code_places_sort(input->places)) {
		free(shares);
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->row_count; i++) {
		struct crit_cause_row *row = &table->rows[i];

		row->without_cpu = without_cpu_of(input->results, shares, &row->who);
		row->share = table->costs->waiting
				     ? (double)row->cost / (double)table->costs->waiting
				     : 0;
	}
	free(shares);
	crit_array_sort_rows(table->rows, table->row_count, &by_cost);
	return 0;
}

static int fill_pairs(struct crit_cause_table *table, const struct crit_results *results)
{
	struct crit_groups groups;
	int rc = crit_groups_begin(&groups, &by_pair, table->costs->edge_count);

	for (size_t i = 0; i < table->costs->edge_count && !rc; i++) {
		const struct crit_wait_edge *edge = &table->costs->edges[i];
		const struct crit_waiter_row pair = {
			.from = crit_cause_node_who(table, results, edge->from),
			.to = crit_cause_node_who(table, results, edge->to),
			.count = edge->count,
			.raw_ns = edge->raw_ns,
			.self_ns = edge->part_ns[CRIT_PART_SELF],
			.impact = edge->impact
		};

		rc = crit_groups_put(&groups, &pair);
	}
	table->pairs = crit_groups_end(&groups, &table->pair_count);
	if (rc)
		return rc;
	qsort(table->pairs, table->pair_count, sizeof(*table->pairs), compare_impact);
	while (table->pair_count && !table->pairs[table->pair_count - 1].raw_ns)
		table->pair_count--; /* the row for which there would be no room */
	return 0;
}

struct crit_cause_table *crit_cause_table_create(const struct crit_cause_input *input,
						 enum crit_cause_by by)
{
	struct crit_cause_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->costs = input->costs;
	table->keys = input->keys;
	table->rule.is_thread = by == CRIT_CAUSE_BY_THREAD || by == CRIT_CAUSE_BY_NAME;
	if (by == CRIT_CAUSE_BY_NAME)
		table->rule.same_names = crit_cause_same_names(input->results);
	if (by == CRIT_CAUSE_BY_REGION)
		table->regions = crit_who_regions_create(input->results, input->symbols);
	table->late_acts = crit_late_rows_create(input->costs, input->keys, input->results,
						 input->places, &table->rule);
	table->late_count = input->costs->acts.kept_count;
	if (input->excess) {
		table->late_ns = input->excess->delays.late_ns;
		table->met_count =
			input->excess->delays.meeting_count + input->excess->delays.message_count;
		table->cut_count = input->excess->delays.cut_count;
	}
	if ((by != CRIT_CAUSE_BY_NAME || table->rule.same_names) &&
	    (by != CRIT_CAUSE_BY_REGION || table->regions) && table->late_acts &&
	    !fill_rows(table, input, by) && !fill_pairs(table, input->results))
		return table;
	crit_cause_table_destroy(table);
	return NULL;
}

void crit_cause_table_destroy(struct crit_cause_table *table)
{
	if (!table)
		return;
	free(table->rows);
	free(table->pairs);
	free(table->late_acts);
	free(table->rule.same_names);
	crit_who_regions_destroy(table->regions);
	free(table);
}

enum crit_cause_by crit_cause_by_parse(const char *word)
{
	static const char *const words[CRIT_CAUSE_BY_COUNT] = {
		[CRIT_CAUSE_BY_PLACE] = "place",   [CRIT_CAUSE_BY_RANK] = "rank",
		[CRIT_CAUSE_BY_THREAD] = "thread", [CRIT_CAUSE_BY_NAME] = "name",
		[CRIT_CAUSE_BY_REGION] = "region", [CRIT_CAUSE_BY_SITE] = "site",
	};
	int by = 0;

	while (by < CRIT_CAUSE_BY_COUNT && strcmp(word, words[by]) != 0)
		by++;
	return (enum crit_cause_by)by;
}
