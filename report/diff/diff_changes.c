// SPDX-License-Identifier: BSD-3-Clause
// Pairs the rows of two reports by what they are called, and sorts them by what changed.
#include "report/diff/diff_changes.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "report/diff/cause_names.h"

#define FIGURES_MAX 8
#define NOTES_MAX 16

struct crit_diff {
	struct crit_diff_change
		*changes; /* by group, then by how much the row's first figure changed */
	size_t change_count, change_capacity;
	struct crit_index rows; /* by group and name: the first change of each; until sorted */
	char notes[NOTES_MAX][CRIT_DIFF_NAME_BYTES]; /* what does not compare */
	size_t note_count;
	bool is_incomplete; /* figures do not mean the same, or a report is incomplete */
};

struct compared_table {
	enum crit_diff_group group;
	const char *path; /* of the array in a report */
	const char *figures[FIGURES_MAX]; /* the first decides the order */
	void (*name)(const struct crit_cause_names *names, const json_t *row, char *text);
};

static void name_rank(const struct crit_cause_names *names, const json_t *row, char *text)
{
	(void)names;
	(void)snprintf(text, CRIT_DIFF_NAME_BYTES, "%lld.%lld",
		       (long long)json_integer_value(json_object_get(row, "world")),
		       (long long)json_integer_value(json_object_get(row, "rank")));
}

static void name_key(const json_t *row, const char *key, char *text)
{
	const char *name = json_string_value(json_object_get(row, key));

	(void)snprintf(text, CRIT_DIFF_NAME_BYTES, "%s", name ? name : "?");
}

static void name_call(const struct crit_cause_names *names, const json_t *row, char *text)
{
	(void)names;
	name_key(row, "name", text);
}

static void name_region(const struct crit_cause_names *names, const json_t *row, char *text)
{
	(void)names;
	name_key(row, "path", text);
}

/* A line is the same in two builds of a program, wherever it was built; an offset is not. */
static void name_site(const struct crit_cause_names *names, const json_t *row, char *text)
{
	const char *call = json_string_value(json_object_get(row, "name"));
	const char *file = json_string_value(json_object_get(row, "file"));
	const char *slash = file ? strrchr(file, '/') : NULL;
	const char *module = json_string_value(json_object_get(row, "module"));
	const char *offset = json_string_value(json_object_get(row, "offset"));

	(void)names;
	if (file)
		(void)snprintf(text, CRIT_DIFF_NAME_BYTES, "%s %s:%lld", call ? call : "?",
			       slash ? slash + 1 : file,
			       (long long)json_integer_value(json_object_get(row, "line")));
	else
		(void)snprintf(text, CRIT_DIFF_NAME_BYTES, "%s %s+%s", call ? call : "?",
			       module ? module : "", offset ? offset : "");
}

static void name_cause(const struct crit_cause_names *names, const json_t *row, char *text)
{
	crit_cause_names_say(names, row, text, CRIT_DIFF_NAME_BYTES);
}

static const struct compared_table tables[] = {
	{ CRIT_DIFF_RANKS,
	  "ranks",
	  { "cmetric_s", "share", "all_waiting_s", "useful_s", "mpi_wait_s", "omp_wait_s",
	    "runnable_s", "blame_s" },
	  name_rank },
	{ CRIT_DIFF_REGIONS,
	  "regions",
	  { "cmetric_s", "all_waiting_s", "blame_s", "time_s", "useful_s", "omp_wait_s", "mpi_s",
	    "visits" },
	  name_region },
	{ CRIT_DIFF_CALLS,
	  "mpi_calls",
	  { "wait_s", "all_waiting_s", "waiting_s", "time_s", "visits" },
	  name_call },
	{ CRIT_DIFF_CALLS,
	  "omp_constructs",
	  { "wait_s", "all_waiting_s", "waiting_s", "time_s", "visits" },
	  name_call },
	{ CRIT_DIFF_CALL_SITES,
	  "mpi_call_sites",
	  { "wait_s", "all_waiting_s", "waiting_s", "time_s", "visits" },
	  name_site },
	{ CRIT_DIFF_CAUSES, "causes", { "cost_s", "share", "direct_s", "path_s" }, name_cause },
};

const char *crit_diff_group_name(enum crit_diff_group group)
{
	static const char *const names[CRIT_DIFF_GROUP_COUNT] = { "run",     "efficiency", "ranks",
								  "regions", "calls",      "sites",
								  "causes" };

	return (unsigned int)group < CRIT_DIFF_GROUP_COUNT ? names[group] : "?";
}

static struct crit_diff_change *add(struct crit_diff *diff, enum crit_diff_group group,
				    const char *name, const char *figure)
{
	struct crit_diff_change *change;

	if (crit_array_grow(&diff->changes, &diff->change_capacity, diff->change_count + 1,
			    sizeof(*diff->changes)))
		return NULL;
	change = &diff->changes[diff->change_count++];
	*change = (struct crit_diff_change){ .group = group, .figure = figure };
	(void)snprintf(change->name, sizeof(change->name), "%s", name);
	return change;
}

/* The first change of a row, or where it is to be: at the end.  Errors: -ENOMEM. */
static int find_row(struct crit_diff *diff, enum crit_diff_group group, const char *name,
		    size_t *ret_at)
{
	const uint64_t hash = crit_hash_mix(crit_hash_text(name), group);
	struct crit_probe probe;
	uint32_t at = crit_index_first(&diff->rows, hash, &probe);

	while (at != CRIT_NONE &&
	       (diff->changes[at].group != group || strcmp(diff->changes[at].name, name) != 0))
		at = crit_index_next(&diff->rows, &probe);
	*ret_at = at != CRIT_NONE ? at : diff->change_count;
	return at != CRIT_NONE ? 0 : crit_index_put(&diff->rows, hash, (uint32_t)*ret_at);
}

/* Two rows of one name in one report are one: lines that are inlined in several places. */
static int add_side(struct crit_diff *diff, const struct compared_table *table,
		    const struct crit_cause_names *side, bool is_b)
{
	const json_t *rows = json_object_get(side->report, table->path);
	size_t i;
	const json_t *row;

	json_array_foreach(rows, i, row)
	{
		char name[CRIT_DIFF_NAME_BYTES];
		size_t at;

		table->name(side, row, name);
		if (find_row(diff, table->group, name, &at))
			return -ENOMEM;
		for (int f = 0; f < FIGURES_MAX && table->figures[f]; f++) {
			struct crit_diff_change *change = at + (size_t)f < diff->change_count
								  ? &diff->changes[at + (size_t)f]
								  : NULL;
			double value = json_number_value(json_object_get(row, table->figures[f]));

			if (!change)
				change = add(diff, table->group, name, table->figures[f]);
			if (!change)
				return -ENOMEM;
			*(is_b ? &change->b : &change->a) += value;
			*(is_b ? &change->has_b : &change->has_a) = true;
		}
	}
	return 0;
}

static int add_figure(struct crit_diff *diff, enum crit_diff_group group, const char *name,
		      const char *figure, const json_t *a, const json_t *b)
{
	const json_t *left = json_object_get(a, figure);
	const json_t *right = json_object_get(b, figure);
	struct crit_diff_change *change;

	if (!json_is_number(left) || !json_is_number(right))
		return 0;
	change = add(diff, group, name, figure);
	if (!change)
		return -ENOMEM;
	change->a = json_number_value(left);
	change->b = json_number_value(right);
	change->has_a = true;
	change->has_b = true;
	return 0;
}

static int add_run(struct crit_diff *diff, const json_t *a, const json_t *b)
{
	static const char *const figures[] = { "window_s", "elapsed_s", "all_waiting_window_s",
					       "ranks",    "threads",   "nodes" };
	const json_t *left = json_object_get(a, "job");
	const json_t *right = json_object_get(b, "job");
	int rc = 0;

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]) && !rc; i++)
		rc = add_figure(diff, CRIT_DIFF_RUN, "run", figures[i], left, right);
	if (!rc)
		rc = add_figure(diff, CRIT_DIFF_RUN, "run", "gain_s", json_object_get(a, "verdict"),
				json_object_get(b, "verdict"));
	return rc;
}

static int add_efficiency(struct crit_diff *diff, const json_t *a, const json_t *b)
{
	const json_t *left = json_object_get(a, "efficiency");
	const json_t *right = json_object_get(b, "efficiency");
	const char *side;
	const json_t *factors;
	int rc = 0;

	json_object_foreach((json_t *)left, side, factors)
	{
		const char *key;
		const json_t *value;

		json_object_foreach((json_t *)factors, key, value)
		{
			if (!rc)
				rc = add_figure(diff, CRIT_DIFF_EFFICIENCY, side, key, factors,
						json_object_get(right, side));
			(void)value;
		}
	}
	return rc;
}

static void note(struct crit_diff *diff, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void note(struct crit_diff *diff, const char *format, ...)
{
	va_list arguments;

	if (diff->note_count == NOTES_MAX)
		return;
	va_start(arguments, format);
	(void)vsnprintf(diff->notes[diff->note_count++], CRIT_DIFF_NAME_BYTES, format, arguments);
	va_end(arguments);
}

static void compare_jobs(struct crit_diff *diff, const json_t *a, const json_t *b)
{
	static const struct {
		const char *key;
		const char *why;
		bool is_grave; /* figures of the two do not mean the same */
	} keys[] = {
		{ "exe", "other programs", false },
		{ "args", "other arguments", false },
		{ "ranks", "rows of ranks and sums over them", false },
		{ "nodes", "factors within and across nodes", false },
		{ "mpi", "calls inside other libraries", false },
		{ "omp", "constructs and regions", false },
		{ "active", "CMetric, all-waiting time and all made of them count other threads",
		  true },
		{ "mode", "one lacks a half: states, or calls", true },
		{ "level", "visits and messages", false },
	};
	const json_t *left = json_object_get(a, "job");
	const json_t *right = json_object_get(b, "job");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *one = json_object_get(left, keys[i].key);
		json_t *two = json_object_get(right, keys[i].key);

		if (json_equal(one, two))
			continue;
		diff->is_incomplete = diff->is_incomplete || keys[i].is_grave;
		if (json_is_integer(one))
			note(diff, "%s: %lld and %lld; %s", keys[i].key,
			     (long long)json_integer_value(one), (long long)json_integer_value(two),
			     keys[i].why);
		else
			note(diff, "%s: %.60s and %.60s; %s", keys[i].key,
			     json_is_string(one) ? json_string_value(one) : "?",
			     json_is_string(two) ? json_string_value(two) : "?", keys[i].why);
	}
	if (!json_is_true(json_object_get(a, "is_complete")) ||
	    !json_is_true(json_object_get(b, "is_complete"))) {
		note(diff, "a report is incomplete: records were lost, or its recording is cut");
		diff->is_incomplete = true;
	}
}

/* What waits cost is in both reports; else a note says where it is not. */
static bool has_causes(struct crit_diff *diff, const json_t *a, const json_t *b)
{
	const bool has_a = json_is_array(json_object_get(a, "causes"));
	const bool has_b = json_is_array(json_object_get(b, "causes"));

	if (!has_a || !has_b)
		note(diff,
		     "causes: %s not tell what waits cost: of level profile, of an older crit, or "
		     "not finished",
		     has_a   ? "B does"
		     : has_b ? "A does"
			     : "both do");
	return has_a && has_b;
}

struct changed_row { /* the figures of one row */
	size_t first;
	size_t count;
	double weight;
};

static int compare_blocks(const void *left, const void *right, void *user)
{
	const struct crit_diff_change *changes = user;
	const struct changed_row *a = left;
	const struct changed_row *b = right;
	int order = (int)changes[a->first].group - (int)changes[b->first].group;

	if (!order && changes[a->first].group > CRIT_DIFF_EFFICIENCY)
		order = (a->weight < b->weight) - (a->weight > b->weight);
	return order ? order : (a->first > b->first) - (a->first < b->first);
}

/* Rows by how much their first figure changed; the figures of a row stay together. */
static int sort(struct crit_diff *diff)
{
	struct crit_diff_change *sorted = calloc(diff->change_count + 1, sizeof(*sorted));
	struct changed_row *blocks = calloc(diff->change_count + 1, sizeof(*blocks));
	size_t count = 0;
	size_t used = 0;

	if (!sorted || !blocks) {
		free(sorted);
		free(blocks);
		return -ENOMEM;
	}
	for (size_t i = 0; i < diff->change_count; i++) {
		const struct crit_diff_change *change = &diff->changes[i];

		if (i == 0 || change->group != change[-1].group ||
		    strcmp(change->name, change[-1].name) != 0)
			blocks[count++] = (struct changed_row){ i, 0, fabs(crit_diff_by(change)) };
		blocks[count - 1].count++;
	}
	qsort_r(blocks, count, sizeof(*blocks), compare_blocks, diff->changes);
	for (size_t i = 0; i < count; i++) {
		memcpy(&sorted[used], &diff->changes[blocks[i].first],
		       blocks[i].count * sizeof(*sorted));
		used += blocks[i].count;
	}
	free(diff->changes);
	free(blocks);
	diff->changes = sorted;
	return 0;
}

static int add_tables(struct crit_diff *diff, const struct crit_cause_names *a,
		      const struct crit_cause_names *b)
{
	int rc = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !rc; i++) {
		if (tables[i].group == CRIT_DIFF_CAUSES && !has_causes(diff, a->report, b->report))
			continue;
		rc = add_side(diff, &tables[i], a, false);
		if (!rc)
			rc = add_side(diff, &tables[i], b, true);
	}
	crit_index_fini(&diff->rows); /* they move now */
	return rc;
}

int crit_diff_create(const json_t *a, const json_t *b, struct crit_diff **ret_diff)
{
	struct crit_diff *diff = calloc(1, sizeof(*diff));
	struct crit_cause_names names_a = { 0 }, names_b = { 0 };
	int rc;

	if (!diff)
		return -ENOMEM;
	compare_jobs(diff, a, b);
	rc = add_run(diff, a, b);
	if (!rc)
		rc = add_efficiency(diff, a, b);
	if (!rc)
		rc = crit_cause_names_init(&names_a, a);
	if (!rc)
		rc = crit_cause_names_init(&names_b, b);
	if (!rc)
		rc = add_tables(diff, &names_a, &names_b);
	crit_cause_names_fini(&names_a);
	crit_cause_names_fini(&names_b);
	if (!rc)
		rc = sort(diff);
	if (rc)
		crit_diff_destroy(diff);
	else
		*ret_diff = diff;
	return rc;
}

/* Members that crit-report/2 renamed; all others have the same name in both. */
static const struct {
	const char *before;
	const char *now;
} renamed[] = {
	{ "balanced_window_s", "bound_s" },
	{ "laws", "checks" },
	{ "mpi_sites", "mpi_call_sites" },
	{ "node_stall_s", "node_all_waiting_s" },
	{ "omp_construct_sites", "omp_construct_call_sites" },
	{ "silent_s", "all_waiting_window_s" },
	{ "stake_s", "gain_s" },
	{ "stall_s", "all_waiting_s" },
	{ "stall_sum_s", "all_waiting_sum_s" },
	{ "threads_stall_s", "threads_all_waiting_s" },
	{ "threads_without_stripe", "threads_without_buffer" },
	{ "waited_for_s", "blame_s" },
};

static int rename_members(json_t *object)
{
	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++) {
		json_t *value = json_object_get(object, renamed[i].before);

		if (!value)
			continue;
		if (!json_object_get(object, renamed[i].now) &&
		    json_object_set(object, renamed[i].now, value))
			return -ENOMEM;
		(void)json_object_del(object, renamed[i].before);
	}
	return 0;
}

/* The members of an object, of the objects in it, and of those in its rows. */
static int update(json_t *value)
{
	int rc = json_is_object(value) ? rename_members(value) : 0;
	const char *key;
	json_t *inner;
	size_t i;

	json_object_foreach(value, key, inner)
	{
		if (!rc)
			rc = update(inner);
	}
	json_array_foreach(value, i, inner)
	{
		if (!rc)
			rc = update(inner);
	}
	return rc;
}

int crit_diff_update(json_t *report)
{
	const char *schema = json_string_value(json_object_get(report, "schema"));

	if (schema && !strcmp(schema, "crit-report/2"))
		return 0;
	if (!schema || strcmp(schema, "crit-report/1") != 0)
		return -EPROTO;
	return update(report);
}

void crit_diff_destroy(struct crit_diff *diff)
{
	if (diff)
		free(diff->changes);
	free(diff);
}

const struct crit_diff_change *crit_diff_changes(const struct crit_diff *diff, size_t *ret_count)
{
	*ret_count = diff->change_count;
	return diff->changes;
}

const char *crit_diff_note(const struct crit_diff *diff, size_t index)
{
	return index < diff->note_count ? diff->notes[index] : NULL;
}

bool crit_diff_is_incomplete(const struct crit_diff *diff)
{
	return diff->is_incomplete;
}
