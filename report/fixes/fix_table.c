// SPDX-License-Identifier: BSD-3-Clause
// Chooses changes, makes scenarios of them, and has them played.
#include "report/fixes/fix_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "report/causes/cause_who.h"
#include "report/causes/cause_words.h"
#include "report/fixes/fix_cpus.h"
#include "report/fixes/fix_queues.h"
#include "report/fixes/fix_units.h"
#include "report/tables/location_fit.h"

#define PLACES_MAX 4u /* of which the table tells what they would gain */
#define FUNCTIONS_MAX 2u
#define QUEUES_MAX 2u /* of those that have a CPU: threads of the run, and others */
#define SCENARIOS_MAX (2 * (PLACES_MAX + FUNCTIONS_MAX) + QUEUES_MAX + 2) /* all code, transfer */
#define PERCENT 25 /* by which they are faster then */
#define OWN_LIBRARIES "libcrit_" /* how their names begin */
#define LEAST_SAMPLES 30u /* of a function; fewer tell too little */
#define FACTOR_ONE 1000000u /* denominator of factors */
#define SLOWER_MAX 1000.0 /* a rank that is hardly there takes no more than so many times as long */
#define UNSURE_OF_WAITING 0.2 /* of all waiting, from which on time without a known cause counts, */
#define UNSURE_OF_WINDOW 0.02 /* and of the window */
#define FUNCTION_WISH "function="

struct fixing {
	const struct crit_fix_input *input;
	struct crit_fix_table *table;
	struct crit_fix_sites sites;
	struct crit_fix_units units; /* between which code is balanced */
	double *changes; /* of each bucket, in the scenario that is made: of its time, 0 none */
	struct crit_factor *factors; /* of each scenario, by bucket */
	struct crit_factor *queue_factors; /* likewise, of those that have them, by thread */
	size_t queue_count; /* of so many scenarios */
	struct crit_scenario scenarios[SCENARIOS_MAX];
};

/* A row, and its scenario, in which nothing is changed so far. */
static struct crit_fix_row *begin_row(struct fixing *fixing, enum crit_fix_kind kind)
{
	struct crit_fix_table *table = fixing->table;
	struct crit_fix_row *row = &table->rows[table->row_count];

	memset(fixing->changes, 0, fixing->input->costs->bucket_count * sizeof(*fixing->changes));
	fixing->scenarios[table->row_count] =
		(struct crit_scenario){ .is_without_transfer = kind == CRIT_FIX_NO_TRANSFER };
	*row = (struct crit_fix_row){ .kind = kind };
	return row;
}

/* Several changes of the same code add up. */
static void end_row(struct fixing *fixing)
{
	const size_t count = fixing->input->costs->bucket_count;
	struct crit_factor *factors = &fixing->factors[fixing->table->row_count * count];

	for (size_t i = 0; i < count; i++) {
		double factor = 1 + fixing->changes[i];

		factor = factor < 0 ? 0 : factor > SLOWER_MAX ? SLOWER_MAX : factor;
		factors[i] =
			(struct crit_factor){ (uint32_t)(factor * FACTOR_ONE + 0.5), FACTOR_ONE };
	}
	fixing->scenarios[fixing->table->row_count++].factors = factors;
}

static void make_faster(const struct fixing *fixing, const struct crit_fix_part *part,
			int32_t percent)
{
	fixing->changes[part->bucket] -= part->share * percent / 100;
}

/* Its unit, if it is one to balance, takes as long in its site as these do on average. */
static void make_even(const struct fixing *fixing, const struct crit_fix_part *part, double mean_ns)
{
	if (part->unit_ns > 0 && crit_fix_units_has(&fixing->units, &part->who))
		fixing->changes[part->bucket] += part->share * (mean_ns / part->unit_ns - 1);
}

static void add_site(struct fixing *fixing, const struct crit_fix_site *site,
		     enum crit_fix_kind kind)
{
	struct crit_fix_row *row = begin_row(fixing, kind);
	uint32_t count;
	const double mean_ns = crit_fix_units_mean(&fixing->units, &fixing->sites, site, &count);

	if (kind == CRIT_FIX_BALANCED && count < 2)
		return;
	row->place = site->place;
	row->unit_count = kind == CRIT_FIX_BALANCED ? count : site->unit_count;
	row->sample_count = site->sample_count;
	row->ns = (uint64_t)(kind == CRIT_FIX_BALANCED ? mean_ns * count : site->ns);
	row->percent = kind == CRIT_FIX_FASTER ? PERCENT : 0;
	for (size_t i = 0; i < site->part_count; i++) {
		const struct crit_fix_part *part = &fixing->sites.parts[site->first_part + i];

		if (kind == CRIT_FIX_FASTER)
			make_faster(fixing, part, PERCENT);
		else
			make_even(fixing, part, mean_ns);
	}
	end_row(fixing);
}

/* Nobody can make what crit itself does in a program take less time. */
static bool is_own(const struct crit_fix_site *site)
{
	const char *module = site->place->before->place.module;

	return module && strncmp(crit_file_name(module), OWN_LIBRARIES, strlen(OWN_LIBRARIES)) == 0;
}

/* The sites of a sort with most time on the critical path, in order; yields how many. */
static size_t best_sites(const struct fixing *fixing, bool is_function, size_t max,
			 const struct crit_fix_site **ret_sites)
{
	size_t count = 0;

	for (size_t i = 0; i < fixing->sites.count; i++) {
		const struct crit_fix_site *site = &fixing->sites.rows[i];
		size_t at = count;

		if (site->place->before->is_function != is_function || site->path_ns <= 0 ||
		    (is_function && (site->sample_count < LEAST_SAMPLES || is_own(site))))
			continue;
		while (at && ret_sites[at - 1]->path_ns < site->path_ns) {
			if (at < max)
				ret_sites[at] = ret_sites[at - 1];
			at--;
		}
		if (at < max) {
			ret_sites[at] = site;
			count += count < max;
		}
	}
	return count;
}

/* Each thread of a run without ranks takes as long in all as those that work do on average. */
static void add_threads_balanced(struct fixing *fixing)
{
	const struct crit_fix_units *units = &fixing->units;
	struct crit_fix_row *row = begin_row(fixing, CRIT_FIX_ALL_BALANCED);

	row->ns = (uint64_t)(units->mean_ns * (double)units->count);
	for (uint32_t i = 0; i < fixing->input->costs->bucket_count; i++) {
		const uint32_t thread = fixing->input->keys[i].thread;

		if (crit_fix_is_code(fixing->input, i) && units->thread_ns[thread] > 0)
			fixing->changes[i] = units->mean_ns / units->thread_ns[thread] - 1;
	}
	if (units->count > 1)
		end_row(fixing);
}

static void add_all_balanced(struct fixing *fixing)
{
	struct crit_fix_row *row = begin_row(fixing, CRIT_FIX_ALL_BALANCED);
	bool is_even = true;

	for (size_t i = 0; i < fixing->sites.count; i++) {
		const struct crit_fix_site *site = &fixing->sites.rows[i];

		if (site->place->before->is_function)
			continue;
		row->ns += (uint64_t)site->ns;
		is_even &= site->unit_count < 2;
		for (size_t k = 0; k < site->part_count; k++)
			make_even(fixing, &fixing->sites.parts[site->first_part + k],
				  site->ns / site->unit_count);
	}
	if (!is_even)
		end_row(fixing);
}

/* Threads queue less in the scenario that is made.  Errors: -ENOMEM. */
static int leave_out_queues(struct fixing *fixing, enum crit_fix_kind kind, uint64_t *ret_ns)
{
	const size_t count = fixing->input->results->thread_count;
	struct crit_scenario *scenario = &fixing->scenarios[fixing->table->row_count];
	const size_t at = scenario->queue_factors ? fixing->queue_count - 1 : fixing->queue_count;
	struct crit_factor *factors = &fixing->queue_factors[at * count];

	for (size_t i = 0; !scenario->queue_factors && i < count; i++)
		factors[i] = (struct crit_factor){ CRIT_FIX_QUEUES_ONE, CRIT_FIX_QUEUES_ONE };
	scenario->queue_factors = factors;
	fixing->queue_count = at + 1;
	return crit_fix_queues_leave_out(fixing->input->results, kind, factors, ret_ns);
}

static int add_queues(struct fixing *fixing, enum crit_fix_kind kind)
{
	struct crit_fix_row *row = begin_row(fixing, kind);
	int rc = leave_out_queues(fixing, kind, &row->ns);

	if (!rc && row->ns)
		end_row(fixing);
	return rc;
}

static int add_promising(struct fixing *fixing)
{
	const struct crit_fix_site *best[PLACES_MAX + FUNCTIONS_MAX];
	size_t count = best_sites(fixing, false, PLACES_MAX, best);

	count += best_sites(fixing, true, FUNCTIONS_MAX, best + count);
	for (size_t i = 0; i < count; i++) {
		add_site(fixing, best[i], CRIT_FIX_FASTER);
		if (crit_fix_site_is_uneven(best[i]))
			add_site(fixing, best[i], CRIT_FIX_BALANCED);
	}
	if (fixing->units.is_working)
		add_threads_balanced(fixing);
	else
		add_all_balanced(fixing);
	(void)begin_row(fixing, CRIT_FIX_NO_TRANSFER);
	end_row(fixing);
	if (add_queues(fixing, CRIT_FIX_NO_OVERSUBSCRIPTION))
		return -ENOMEM;
	return add_queues(fixing, CRIT_FIX_NO_PREEMPTION);
}

static bool is_meant(const struct fixing *fixing, const struct crit_fix_wish *wish,
		     const struct crit_fix_part *part)
{
	const struct crit_code_place *place = fixing->sites.rows[part->site].place;
	const struct crit_results *results = fixing->input->results;
	const size_t word = strlen(FUNCTION_WISH);
	const uint32_t rank = part->who.rank;
	char what[CRIT_CAUSE_WHAT_BYTES];

	if (wish->rank >= 0 && (rank == CRIT_NONE || results->ranks[rank].rank != wish->rank))
		return false;
	if (strncmp(wish->place, FUNCTION_WISH, word) == 0)
		return place->before->is_function &&
		       crit_name_is(place->before->place.function, wish->place + word);
	return !place->before->is_function &&
	       strstr(crit_code_place_text(place, what), wish->place) != NULL;
}

/* False: there is no such code. */
static bool add_wish(const struct fixing *fixing, struct crit_fix_row *row,
		     const struct crit_fix_wish *wish)
{
	bool is_there = false;

	for (size_t i = 0; i < fixing->sites.count; i++) {
		const struct crit_fix_site *site = &fixing->sites.rows[i];
		uint32_t count;
		const double mean_ns =
			crit_fix_units_mean(&fixing->units, &fixing->sites, site, &count);

		for (size_t k = 0; k < site->part_count; k++) {
			const struct crit_fix_part *part =
				&fixing->sites.parts[site->first_part + k];

			if (!is_meant(fixing, wish, part))
				continue;
			is_there = true;
			row->ns += (uint64_t)(part->share *
					      (double)fixing->input->run->bucket_ns[part->bucket]);
			if (wish->kind == CRIT_FIX_FASTER)
				make_faster(fixing, part, wish->percent);
			else
				make_even(fixing, part, mean_ns);
		}
	}
	return is_there;
}

static bool is_of_queues(enum crit_fix_kind kind)
{
	return kind >= CRIT_FIX_NO_QUEUEING && kind <= CRIT_FIX_NO_PREEMPTION;
}

/* All that was asked for, in one scenario.  Errors: -ENOENT, -ENOMEM. */
static int add_wishes(struct fixing *fixing, const struct crit_fix_wishes *wishes,
		      struct crit_err *err)
{
	struct crit_fix_row *row = begin_row(fixing, CRIT_FIX_WISHES);

	for (size_t i = 0; i < wishes->count; i++) {
		const struct crit_fix_wish *wish = &wishes->rows[i];
		uint64_t ns = 0;

		if (wish->kind == CRIT_FIX_NO_TRANSFER)
			fixing->scenarios[0].is_without_transfer = true;
		else if (is_of_queues(wish->kind) && leave_out_queues(fixing, wish->kind, &ns))
			return -ENOMEM;
		else if (!is_of_queues(wish->kind) && !add_wish(fixing, row, wish))
			return crit_err_set(err, -ENOENT,
					    "no code has \"%s\" in its name; crit waits "
					    "--by=site --all lists the names, crit report "
					    "--by=function those of functions",
					    wish->place);
		row->ns += ns;
	}
	end_row(fixing);
	return 0;
}

static int compare_gain(const void *a, const void *b)
{
	const struct crit_fix_row *left = a, *right = b;

	if (left->gain_ns != right->gain_ns)
		return left->gain_ns < right->gain_ns ? 1 : -1;
	if (left->kind != right->kind || left->place == right->place)
		return crit_by_number(left->kind, right->kind);
	return crit_by_number(left->place->order, right->place->order);
}

/* Ownership: the forecast is the caller's to fini, also after an error. */
static int foretell(const struct fixing *fixing, const struct crit_fix_wishes *wishes,
		    struct crit_forecast *ret_forecast, struct crit_err *err)
{
	struct crit_forecast_options options = fixing->input->run->options;

	if (wishes->cpus || wishes->do_waiters_block)
		return crit_fix_cpus_play(fixing->input, wishes, fixing->scenarios, ret_forecast,
					  err);
	options.scenarios = fixing->scenarios;
	options.scenario_count = fixing->table->row_count;
	return crit_forecast_play(fixing->input->run->film, &options, ret_forecast, err);
}

static int play(struct fixing *fixing, const struct crit_fix_wishes *wishes, struct crit_err *err)
{
	struct crit_fix_table *table = fixing->table;
	struct crit_forecast forecast = { 0 };
	int rc = foretell(fixing, wishes, &forecast, err);

	if (rc) {
		crit_forecast_fini(&forecast);
		return rc;
	}
	table->recorded_ns = forecast.recorded_ns;
	table->inside_count = forecast.inside_count;
	table->circle_count = forecast.circle_count;
	table->is_on_cpus = wishes->cpus || wishes->do_waiters_block;
	table->costs = fixing->input->costs;
	table->wait_count = fixing->input->costs->wait_count;
	memcpy(table->free_waits, fixing->input->run->free_waits, sizeof(table->free_waits));
	for (size_t i = 0; i < table->row_count; i++) {
		struct crit_fix_row *row = &table->rows[i];

		row->order_changes = forecast.order_changes[i];
		row->gain_ns = (int64_t)(forecast.recorded_ns - forecast.end_ns[i]);
		row->share = table->recorded_ns ? (double)row->gain_ns / (double)table->recorded_ns
						: 0;
	}
	crit_forecast_fini(&forecast);
	qsort(table->rows, table->row_count, sizeof(*table->rows), compare_gain);
	return 0;
}

bool crit_fix_is_unsure(const struct crit_costs *costs)
{
	return costs && (double)costs->endless_ns >= UNSURE_OF_WAITING * (double)costs->waiting &&
	       (double)costs->endless_ns >= UNSURE_OF_WINDOW * (double)costs->window_ns;
}

void crit_fix_table_omit_losses(struct crit_fix_table *table)
{
	size_t count = 0;

	if (!crit_fix_is_unsure(table->costs))
		return;
	for (size_t i = 0; i < table->row_count; i++) {
		const struct crit_fix_row row = table->rows[i];

		if (row.gain_ns >= 0 ||
		    (row.kind != CRIT_FIX_BALANCED && row.kind != CRIT_FIX_ALL_BALANCED))
			table->rows[count++] = row;
	}
	table->row_count = count;
}

int crit_fix_table_make(const struct crit_fix_input *input, const struct crit_fix_wishes *wishes,
			struct crit_fix_table *ret_table, struct crit_err *err)
{
	const size_t bucket_count = input->costs->bucket_count + 1;
	struct fixing fixing = { .input = input, .table = ret_table };
	int rc;

	*ret_table = (struct crit_fix_table){ 0 };
	ret_table->rows = calloc(SCENARIOS_MAX, sizeof(*ret_table->rows));
	fixing.factors = crit_lines_alloc(SCENARIOS_MAX * bucket_count, sizeof(*fixing.factors));
	fixing.changes = calloc(bucket_count, sizeof(*fixing.changes));
	fixing.queue_factors = calloc(QUEUES_MAX * input->results->thread_count + 1,
				      sizeof(*fixing.queue_factors));
	rc = ret_table->rows && fixing.factors && fixing.changes && fixing.queue_factors
		     ? crit_fix_sites_make(input, &fixing.sites)
		     : -ENOMEM;
	if (!rc)
		rc = crit_fix_units_make(input, &fixing.units);
	if (!rc && crit_fix_is_asked(wishes))
		rc = add_wishes(&fixing, wishes, err);
	else if (!rc)
		rc = add_promising(&fixing);
	if (!rc)
		rc = play(&fixing, wishes, err);
	if (!rc)
		crit_fix_table_omit_losses(ret_table);
	crit_fix_sites_fini(&fixing.sites);
	crit_fix_units_fini(&fixing.units);
	free(fixing.factors);
	free(fixing.changes);
	free(fixing.queue_factors);
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
