// SPDX-License-Identifier: BSD-3-Clause
// Chooses changes, makes scenarios of them, and has them played.
#include "report/causes/fix_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "report/causes/cause_site.h"
#include "report/causes/cause_words.h"

#define SCENARIOS_MAX 16u
#define SITES_MAX 6u /* of which the report asks what they would gain */
#define PERCENT 25u /* by which they are faster then */
#define FACTOR_ONE (1u << 20) /* denominator of factors of balance */
#define SLOWER_MAX 1000u /* a rank that is hardly there takes no more than so many times as long */

struct site { /* code of all units together */
	struct crit_cause_row place;
	uint64_t ns, path_ns;
	uint32_t unit_count;
};

struct site_part { /* a bucket */
	struct crit_cause_row place; /* who: its unit */
	uint64_t unit_ns; /* of its unit, in its site */
	uint32_t bucket;
	uint32_t site;
};

struct fixing {
	const struct crit_fix_input *input;
	struct crit_fix_table *table;
	struct site_part *parts; /* by site, then unit */
	size_t part_count;
	struct site *sites; /* by time on the critical path, descending, once ranked */
	size_t site_count;
	struct crit_factor *factors; /* of each scenario, by bucket */
	struct crit_scenario scenarios[SCENARIOS_MAX];
};

static int compare_parts(const void *a, const void *b)
{
	const struct site_part *left = a, *right = b;
	int order = crit_cause_compare_place(&left->place, &right->place);

	if (!order)
		order = crit_cause_compare_who(&left->place.who, &right->place.who);
	return order ? order : crit_by_number(left->bucket, right->bucket);
}

static int collect_parts(struct fixing *fixing)
{
	const struct crit_fix_input *input = fixing->input;
	const size_t bucket_count = input->costs->bucket_count;

	fixing->parts = calloc(bucket_count + 1, sizeof(*fixing->parts));
	if (!fixing->parts)
		return -ENOMEM;
	for (uint32_t i = 0; i < bucket_count; i++) {
		const struct crit_code_key *key = &input->keys[i];
		struct site_part *part = &fixing->parts[fixing->part_count];

		if (key->is_call || key->thread >= input->results->thread_count ||
		    !input->run->bucket_ns[i])
			continue;
		*part = (struct site_part){ .bucket = i };
		part->place.has_place = true;
		part->place.who = crit_cause_who_of(input->results, key->thread, false);
		crit_cause_find_place(&part->place, key, input->results, input->symbols);
		fixing->part_count++;
	}
	qsort(fixing->parts, fixing->part_count, sizeof(*fixing->parts), compare_parts);
	return 0;
}

/* Adds up the parts from one on that are of one unit; yields the one behind. */
static size_t add_unit(struct fixing *fixing, size_t from, struct site *site)
{
	const struct crit_fix_input *input = fixing->input;
	uint64_t ns = 0;
	size_t to = from;

	for (; to < fixing->part_count; to++) {
		const struct site_part *part = &fixing->parts[to];

		if (crit_cause_compare_place(&part->place, &site->place) ||
		    crit_cause_compare_who(&part->place.who, &fixing->parts[from].place.who))
			break;
		ns += input->run->bucket_ns[part->bucket];
		for (int kind = 0; kind < CRIT_PART_COUNT; kind++)
			site->path_ns += input->costs->buckets[part->bucket].path_ns[kind];
	}
	for (size_t i = from; i < to; i++) {
		fixing->parts[i].unit_ns = ns;
		fixing->parts[i].site = (uint32_t)fixing->site_count;
	}
	site->ns += ns;
	site->unit_count++;
	return to;
}

static int join_sites(struct fixing *fixing)
{
	fixing->sites = calloc(fixing->part_count + 1, sizeof(*fixing->sites));
	if (!fixing->sites)
		return -ENOMEM;
	for (size_t i = 0; i < fixing->part_count;) {
		struct site *site = &fixing->sites[fixing->site_count];

		site->place = fixing->parts[i].place;
		site->place.who = (struct crit_who){ CRIT_NONE, CRIT_NONE };
		while (i < fixing->part_count &&
		       !crit_cause_compare_place(&fixing->parts[i].place, &site->place))
			i = add_unit(fixing, i, site);
		fixing->site_count++;
	}
	return 0;
}

static struct crit_factor *factors_of(const struct fixing *fixing, size_t scenario)
{
	return &fixing->factors[scenario * fixing->input->costs->bucket_count];
}

/* A row, and its scenario, in which nothing is changed so far.  NULL: there are too many. */
static struct crit_fix_row *add_row(struct fixing *fixing, enum crit_fix_kind kind)
{
	struct crit_fix_table *table = fixing->table;
	struct crit_factor *factors = factors_of(fixing, table->row_count);

	if (table->row_count == SCENARIOS_MAX)
		return NULL;
	for (size_t i = 0; i < fixing->input->costs->bucket_count; i++)
		factors[i] = (struct crit_factor){ 1, 1 };
	fixing->scenarios[table->row_count] = (struct crit_scenario){ .factors = factors };
	table->rows[table->row_count] = (struct crit_fix_row){ .kind = kind };
	return &table->rows[table->row_count++];
}

/* A wish may be for code that another one is for as well. */
static void multiply(struct crit_factor *factor, uint32_t numerator, uint32_t denominator)
{
	uint64_t above = (uint64_t)factor->numerator * numerator;
	uint64_t below = (uint64_t)factor->denominator * denominator;

	for (; above > UINT32_MAX || below > UINT32_MAX; above /= 2)
		below /= 2;
	*factor = (struct crit_factor){ (uint32_t)above, below ? (uint32_t)below : 1 };
}

/* Its unit takes as long in its site as units do on average. */
static void make_even(const struct fixing *fixing, struct crit_factor *factors,
		      const struct site_part *part)
{
	const struct site *site = &fixing->sites[part->site];
	const double mean_ns = (double)site->ns / site->unit_count;
	double factor = mean_ns / (double)part->unit_ns;

	if (factor > SLOWER_MAX)
		factor = SLOWER_MAX;
	multiply(&factors[part->bucket], (uint32_t)(factor * FACTOR_ONE + 0.5), FACTOR_ONE);
}

static void add_site(struct fixing *fixing, uint32_t site, enum crit_fix_kind kind)
{
	struct crit_fix_row *row = add_row(fixing, kind);
	struct crit_factor *factors;

	if (!row)
		return;
	factors = factors_of(fixing, fixing->table->row_count - 1);
	row->place = fixing->sites[site].place;
	row->unit_count = fixing->sites[site].unit_count;
	row->ns = fixing->sites[site].ns;
	row->percent = kind == CRIT_FIX_FASTER ? PERCENT : 0;
	for (size_t i = 0; i < fixing->part_count; i++) {
		if (fixing->parts[i].site != site)
			continue;
		if (kind == CRIT_FIX_FASTER)
			multiply(&factors[fixing->parts[i].bucket], 100 - PERCENT, 100);
		else
			make_even(fixing, factors, &fixing->parts[i]);
	}
}

/* The sites with most time on the critical path, in order; yields how many. */
static size_t best_sites(const struct fixing *fixing, uint32_t ret_sites[SITES_MAX])
{
	size_t count = 0;

	for (uint32_t i = 0; i < fixing->site_count; i++) {
		size_t at = count;

		while (at && fixing->sites[ret_sites[at - 1]].path_ns < fixing->sites[i].path_ns) {
			if (at < SITES_MAX)
				ret_sites[at] = ret_sites[at - 1];
			at--;
		}
		if (at < SITES_MAX && fixing->sites[i].path_ns) {
			ret_sites[at] = i;
			count += count < SITES_MAX;
		}
	}
	return count;
}

static void add_all_balanced(struct fixing *fixing)
{
	struct crit_fix_row *row = add_row(fixing, CRIT_FIX_ALL_BALANCED);

	for (size_t i = 0; row && i < fixing->site_count; i++)
		row->ns += fixing->sites[i].ns;
	for (size_t i = 0; row && i < fixing->part_count; i++)
		make_even(fixing, factors_of(fixing, fixing->table->row_count - 1),
			  &fixing->parts[i]);
}

static void add_promising(struct fixing *fixing)
{
	uint32_t best[SITES_MAX];
	const size_t count = best_sites(fixing, best);
	bool is_even = true;

	for (size_t i = 0; i < count; i++) {
		add_site(fixing, best[i], CRIT_FIX_FASTER);
		if (fixing->sites[best[i]].unit_count > 1)
			add_site(fixing, best[i], CRIT_FIX_BALANCED);
	}
	for (size_t i = 0; i < fixing->site_count; i++)
		is_even &= fixing->sites[i].unit_count < 2;
	if (!is_even)
		add_all_balanced(fixing);
	if (add_row(fixing, CRIT_FIX_NO_TRANSFER))
		fixing->scenarios[fixing->table->row_count - 1].is_without_transfer = true;
}

static bool is_meant(const struct fixing *fixing, const struct crit_fix_wish *wish,
		     const struct site_part *part)
{
	const struct crit_results *results = fixing->input->results;
	const uint32_t rank = part->place.who.rank;
	char what[CRIT_CAUSE_WHAT_BYTES];

	if (wish->rank >= 0 && (rank == CRIT_NONE || results->ranks[rank].rank != wish->rank))
		return false;
	return strstr(crit_cause_what(&part->place, what), wish->place) != NULL;
}

/* All that was asked for, in one scenario.  Errors: -ENOENT. */
static int add_wishes(struct fixing *fixing, struct crit_err *err)
{
	struct crit_fix_row *row = add_row(fixing, CRIT_FIX_WISHES);
	struct crit_factor *factors = factors_of(fixing, 0);

	for (size_t i = 0; i < fixing->input->wishes.count; i++) {
		const struct crit_fix_wish *wish = &fixing->input->wishes.rows[i];
		bool is_there = wish->kind == CRIT_FIX_NO_TRANSFER;

		fixing->scenarios[0].is_without_transfer |= is_there;
		for (size_t k = 0; k < fixing->part_count && wish->kind != CRIT_FIX_NO_TRANSFER;
		     k++) {
			const struct site_part *part = &fixing->parts[k];

			if (!is_meant(fixing, wish, part))
				continue;
			is_there = true;
			row->ns += fixing->input->run->bucket_ns[part->bucket];
			if (wish->kind == CRIT_FIX_FASTER)
				multiply(&factors[part->bucket], 100 - wish->percent, 100);
			else
				make_even(fixing, factors, part);
		}
		if (!is_there)
			return crit_err_set(err, -ENOENT,
					    "no code has \"%s\" in its name; crit waits "
					    "--by=site --all lists the names",
					    wish->place);
	}
	return 0;
}

static int compare_gain(const void *a, const void *b)
{
	const struct crit_fix_row *left = a, *right = b;

	if (left->gain_ns != right->gain_ns)
		return left->gain_ns < right->gain_ns ? 1 : -1;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	return crit_cause_compare_place(&left->place, &right->place);
}

static int play(struct fixing *fixing, struct crit_err *err)
{
	struct crit_fix_table *table = fixing->table;
	struct crit_forecast_options options = fixing->input->run->options;
	struct crit_forecast forecast;
	int rc;

	options.scenarios = fixing->scenarios;
	options.scenario_count = table->row_count;
	crit_film_rewind(fixing->input->run->film);
	rc = crit_forecast_play(fixing->input->run->film, &options, &forecast, err);
	if (rc)
		return rc;
	table->recorded_ns = forecast.recorded_ns;
	table->inside_count = forecast.inside_count;
	table->circle_count = forecast.circle_count;
	for (size_t i = 0; i < table->row_count; i++)
		table->rows[i].gain_ns = (int64_t)(forecast.recorded_ns - forecast.end_ns[i]);
	crit_forecast_fini(&forecast);
	qsort(table->rows, table->row_count, sizeof(*table->rows), compare_gain);
	return 0;
}

int crit_fix_table_make(const struct crit_fix_input *input, struct crit_fix_table *ret_table,
			struct crit_err *err)
{
	struct fixing fixing = { .input = input, .table = ret_table };
	int rc;

	*ret_table = (struct crit_fix_table){ 0 };
	ret_table->rows = calloc(SCENARIOS_MAX, sizeof(*ret_table->rows));
	fixing.factors =
		calloc(SCENARIOS_MAX * (input->costs->bucket_count + 1), sizeof(*fixing.factors));
	rc = ret_table->rows && fixing.factors ? collect_parts(&fixing) : -ENOMEM;
	if (!rc)
		rc = join_sites(&fixing);
	if (!rc && input->wishes.count)
		rc = add_wishes(&fixing, err);
	else if (!rc)
		add_promising(&fixing);
	if (!rc)
		rc = play(&fixing, err);
	free(fixing.parts);
	free(fixing.sites);
	free(fixing.factors);
	if (!rc)
		return 0;
	crit_fix_table_fini(ret_table);
	return err->text[0] ? rc : crit_err_set(err, rc, "out of memory");
}

void crit_fix_table_fini(struct crit_fix_table *table)
{
	free(table->rows);
	*table = (struct crit_fix_table){ 0 };
}
