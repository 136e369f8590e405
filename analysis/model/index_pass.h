/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The index pass: everything that must be known before time is attributed.
 *
 * Reads kernel records and the chunks that are not streams, learns threads, processes, ranks,
 * streams, roles and the window, and which switches did not fit.
 */
#ifndef CRIT_INDEX_PASS_H
#define CRIT_INDEX_PASS_H

#include "analysis/model/model.h"

/*
 * Surveys all nodes of the model, whose recordings are open and whose clocks are set.
 * Errors: -ENOMEM.
 */
int crit_index_pass(struct crit_model *model);

#endif
