/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first pass: everything that must be known before time is dealt out.
 *
 * Reads kernel records and the chunks that are not streams, learns lives, processes, ranks,
 * streams, roles and the window, and which switches did not fit.
 */
#ifndef CRIT_SURVEY_H
#define CRIT_SURVEY_H

#include "analysis/model/model.h"

/*
 * Surveys all nodes of the model, whose recordings are open and whose clocks are set.
 * Errors: -ENOMEM.
 */
int crit_survey(struct crit_model *model);

/* Its steps, in order; each takes one node, the last two the run. */
int crit_survey_chunks(struct crit_model *model, uint32_t node);
int crit_survey_kernel(struct crit_model *model, uint32_t node);
int crit_survey_registrations(struct crit_model *model, uint32_t node);
int crit_survey_streams(struct crit_model *model); /* lives known only from shims */
int crit_survey_roles(struct crit_model *model); /* ranks, parts, roles, window */

#endif
