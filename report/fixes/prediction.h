/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When one run would end if its code took the times that it takes in another run: what the forecast
 * of a change is worth, once the change was made.
 *
 * Each unit's code between calls takes as long, in sum, as code of that name does in the other run;
 * all code whose names the other run lacks is taken together.  Waits follow.
 */
#ifndef CRIT_PREDICTION_H
#define CRIT_PREDICTION_H

#include "core/base/err.h"
#include "report/fixes/code_times.h"

struct crit_prediction {
	uint64_t recorded_ns; /* from the window's begin to the end of the last thread */
	uint64_t predicted_ns; /* the same with the other's times */
	uint64_t measured_ns; /* of the other one */
	double code_ns, other_code_ns; /* of all units, in each run */
	double unnamed_ns, other_unnamed_ns; /* of that, under names that the other one lacks */
};

/*
 * Errors: -ENOMEM; -EINVAL: the runs have not the same ranks, or threads; those of the forecast.
 * Each with a line.
 */
int crit_predict(const struct crit_fix_input *input, const struct crit_fix_input *other,
		 struct crit_prediction *ret_prediction, struct crit_err *err);

#endif
