// SPDX-License-Identifier: BSD-3-Clause
// Pairs the code of two runs, and plays the film of the one with the times of the other.
#include "report/fixes/prediction.h"

#include <errno.h>
#include <stdlib.h>

#define FACTOR_ONE 1000000u /* denominator of factors */
#define FACTOR_MAX 4000.0 /* no code takes so many times as long */

struct predicting {
	const struct crit_fix_input *input;
	struct crit_prediction *result;
	struct crit_code_times mine, others;
	double *factors; /* of each row of mine */
};

/* The rows of one unit in both runs that the other one lacks. */
struct leftover {
	double mine_ns, others_ns;
};

static double ratio(double ns, double from_ns)
{
	const double factor = from_ns > 0 ? ns / from_ns : 1;

	return factor < FACTOR_MAX ? factor : FACTOR_MAX;
}

/*
 * Of one unit, from the row mine and others: factors of the names that both have, what is left, and
 * the rows behind.
 */
static struct leftover pair_names(struct predicting *predicting, size_t *mine, size_t *others)
{
	const struct crit_code_times *a = &predicting->mine, *b = &predicting->others;
	const int64_t unit = a->rows[*mine].unit;
	struct leftover left = { 0 };

	while ((*mine < a->count && a->rows[*mine].unit == unit) ||
	       (*others < b->count && b->rows[*others].unit == unit)) {
		const bool has_mine = *mine < a->count && a->rows[*mine].unit == unit;
		const bool has_other = *others < b->count && b->rows[*others].unit == unit;
		const int order =
			!has_mine    ? 1
			: !has_other ? -1
				     : crit_code_time_compare(&a->rows[*mine], &b->rows[*others]);

		if (order == 0)
			predicting->factors[*mine] = ratio(b->rows[*others].ns, a->rows[*mine].ns);
		left.mine_ns += order < 0 ? a->rows[*mine].ns : 0;
		left.others_ns += order > 0 ? b->rows[*others].ns : 0;
		*mine += order <= 0;
		*others += order >= 0;
	}
	return left;
}

/* Errors: -EINVAL. */
static int find_factors(struct predicting *predicting, struct crit_err *err)
{
	const struct crit_code_times *a = &predicting->mine, *b = &predicting->others;
	size_t mine = 0, others = 0;

	while (mine < a->count && others < b->count && a->rows[mine].unit == b->rows[others].unit) {
		const size_t first = mine;
		const struct leftover left = pair_names(predicting, &mine, &others);

		for (size_t i = first; i < mine; i++)
			if (predicting->factors[i] < 0)
				predicting->factors[i] = ratio(left.others_ns, left.mine_ns);
		predicting->result->unnamed_ns += left.mine_ns;
		predicting->result->other_unnamed_ns += left.others_ns;
	}
	if (mine == a->count && others == b->count)
		return 0;
	return crit_err_set(
		err, -EINVAL,
		"the runs have not the same ranks, or threads: what the code of the one "
		"takes is not known of the other");
}

static int play(const struct crit_fix_input *input, const struct crit_factor *factors,
		struct crit_forecast *ret_forecast, struct crit_err *err)
{
	const struct crit_scenario scenario = { .factors = factors };
	struct crit_forecast_options options = input->run->options;

	options.scenarios = &scenario;
	options.scenario_count = 1;
	return crit_forecast_play(input->run->film, &options, ret_forecast, err);
}

static int play_changed(struct predicting *predicting, struct crit_err *err)
{
	const size_t bucket_count = predicting->input->costs->bucket_count;
	struct crit_factor *factors = calloc(bucket_count + 1, sizeof(*factors));
	struct crit_forecast forecast;
	int rc;

	if (!factors)
		return -ENOMEM;
	for (size_t i = 0; i < bucket_count; i++) {
		const uint32_t row = predicting->mine.bucket_rows[i];
		const double factor = row == CRIT_NONE ? 1 : predicting->factors[row];

		factors[i] =
			(struct crit_factor){ (uint32_t)(factor * FACTOR_ONE + 0.5), FACTOR_ONE };
	}
	rc = play(predicting->input, factors, &forecast, err);
	free(factors);
	if (rc)
		return rc;
	predicting->result->recorded_ns = forecast.recorded_ns;
	predicting->result->predicted_ns = forecast.end_ns[0];
	crit_forecast_fini(&forecast);
	return 0;
}

static int predict(struct predicting *predicting, const struct crit_fix_input *other,
		   struct crit_err *err)
{
	struct crit_forecast forecast;
	int rc = crit_code_times_make(predicting->input, &predicting->mine);

	if (!rc)
		rc = crit_code_times_make(other, &predicting->others);
	if (rc)
		return rc;
	predicting->factors = calloc(predicting->mine.count + 1, sizeof(*predicting->factors));
	if (!predicting->factors)
		return -ENOMEM;
	for (size_t i = 0; i < predicting->mine.count; i++)
		predicting->factors[i] = -1;
	predicting->result->code_ns = predicting->mine.ns;
	predicting->result->other_code_ns = predicting->others.ns;
	rc = find_factors(predicting, err);
	if (!rc)
		rc = play_changed(predicting, err);
	if (!rc)
		rc = play(other, NULL, &forecast, err);
	if (rc)
		return rc;
	predicting->result->measured_ns = forecast.recorded_ns;
	crit_forecast_fini(&forecast);
	return 0;
}

int crit_predict(const struct crit_fix_input *input, const struct crit_fix_input *other,
		 struct crit_prediction *ret_prediction, struct crit_err *err)
{
	struct predicting predicting = { .input = input, .result = ret_prediction };
	int rc;

	*ret_prediction = (struct crit_prediction){ 0 };
	rc = predict(&predicting, other, err);
	crit_code_times_fini(&predicting.mine);
	crit_code_times_fini(&predicting.others);
	free(predicting.factors);
	if (!rc || err->text[0])
		return rc;
	return crit_err_set(err, rc, "out of memory");
}
