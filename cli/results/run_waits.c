// SPDX-License-Identifier: BSD-3-Clause
// Owns the film of a run and what it costs.
#include "cli/results/run_waits.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "analysis/waits/filming.h"
#include "core/base/setting.h"
#include "report/causes/code_places.h"

#define EDGES_MAX 1000000u

struct crit_run_waits {
	struct crit_filming_options options;
	struct crit_filming *filming;
	struct crit_err no_film; /* why what was told in vain could not be forgotten */
	struct crit_trace_sink sink;
	struct crit_listener listener;
	struct crit_costs costs;
	struct crit_code_places *places; /* of the costs' buckets; NULL: not asked for so far */
	struct crit_filmed_run run; /* once resolved */
	struct crit_code_excess excess;
	bool has_run, has_excess;
};

/* Of nothing so far, instead of what was filmed.  Errors: that stays; those of the filming. */
static int film(struct crit_run_waits *waits, struct crit_err *err)
{
	struct crit_filming *filming;
	int rc = crit_filming_create(&waits->options, &filming, err);

	if (rc)
		return rc;
	crit_filming_destroy(waits->filming);
	waits->filming = filming;
	waits->sink = crit_filming_sink(filming);
	waits->listener = crit_filming_listener(filming);
	return 0;
}

struct crit_run_waits *crit_run_waits_create(const struct crit_filming_options *wishes,
					     struct crit_err *err)
{
	struct crit_run_waits *waits = calloc(1, sizeof(*waits));

	if (!waits) {
		(void)crit_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	waits->options = *wishes;
	waits->options.file.max_bytes = crit_setting_number(CRIT_SETTING_MAX_BYTES) / 2;
	(void)signal(SIGXFSZ, SIG_IGN); /* a write past the limit is -EFBIG, like a full disk */
	if (film(waits, err)) {
		free(waits);
		return NULL;
	}
	return waits;
}

int crit_run_waits_retell(void *waits)
{
	struct crit_run_waits *these = waits;

	(void)film(these, &these->no_film);
	return 0;
}

void crit_run_waits_destroy(struct crit_run_waits *waits)
{
	if (!waits)
		return;
	crit_costs_fini(&waits->costs);
	crit_code_places_destroy(waits->places);
	crit_filmed_run_fini(&waits->run);
	crit_code_excess_fini(&waits->excess);
	crit_filming_destroy(waits->filming);
	free(waits);
}

void crit_run_waits_listen(struct crit_run_waits *waits, const struct crit_trace_sink **ret_sink,
			   const struct crit_listener **ret_listener)
{
	*ret_sink = &waits->sink;
	*ret_listener = &waits->listener;
}

void crit_run_waits_tell(struct crit_run_waits *waits, const struct crit_wait_listener *listener)
{
	crit_filming_tell(waits->filming, listener);
}

int crit_run_waits_play(struct crit_run_waits *waits, struct crit_err *err)
{
	int rc = waits->no_film.text[0] ? crit_err_set(err, -EIO, "%s", waits->no_film.text) : 0;

	if (!rc)
		rc = crit_filming_play(waits->filming, EDGES_MAX, &waits->costs, err);
	return rc ? rc : crit_costs_check(&waits->costs, err);
}

/* Errors: NULL, out of memory. */
static struct crit_code_places *places_of(struct crit_run_waits *waits,
					  const struct crit_results *results,
					  struct crit_symbols *symbols)
{
	if (!waits->places)
		waits->places = crit_code_places_create(crit_filming_keys(waits->filming),
							waits->costs.bucket_count, results,
							symbols);
	return waits->places;
}

struct crit_cause_table *crit_run_waits_table(struct crit_run_waits *waits,
					      const struct crit_results *results,
					      struct crit_symbols *symbols, enum crit_cause_by by)
{
	const struct crit_cause_input input = { .costs = &waits->costs,
						.keys = crit_filming_keys(waits->filming),
						.places = places_of(waits, results, symbols),
						.results = results,
						.symbols = symbols,
						.excess = waits->has_excess ? &waits->excess
									    : NULL };

	return input.places ? crit_cause_table_create(&input, by) : NULL;
}

uint64_t crit_run_waits_window_ns(const struct crit_run_waits *waits)
{
	return waits->costs.window_ns;
}

int crit_run_waits_input(struct crit_run_waits *waits, const struct crit_results *results,
			 struct crit_symbols *symbols, struct crit_fix_input *ret_input,
			 struct crit_err *err)
{
	int rc = 0;

	*ret_input = (struct crit_fix_input){ .costs = &waits->costs,
					      .keys = crit_filming_keys(waits->filming),
					      .places = places_of(waits, results, symbols),
					      .samples = crit_filming_samples(waits->filming),
					      .results = results,
					      .symbols = symbols,
					      .run = &waits->run };
	if (!ret_input->places)
		return crit_err_set(err, -ENOMEM, "out of memory");
	if (!waits->has_run) {
		crit_filmed_run_fini(&waits->run);
		rc = crit_filming_resolve(waits->filming, &waits->run, err);
	}
	waits->has_run = !rc;
	return rc;
}

int crit_run_waits_fixes(struct crit_run_waits *waits, const struct crit_results *results,
			 struct crit_symbols *symbols, const struct crit_fix_wishes *wishes,
			 struct crit_fix_table *ret_table, struct crit_err *err)
{
	struct crit_fix_input input;
	int rc = crit_run_waits_input(waits, results, symbols, &input, err);

	return rc ? rc : crit_fix_table_make(&input, wishes, ret_table, err);
}

int crit_run_waits_compare(struct crit_run_waits *waits, const struct crit_results *results,
			   struct crit_symbols *symbols, struct crit_err *err)
{
	struct crit_fix_input input;
	int rc = crit_run_waits_input(waits, results, symbols, &input, err);

	if (!rc)
		rc = crit_code_excess_make(&input, &waits->excess);
	waits->has_excess = !rc;
	return rc;
}
