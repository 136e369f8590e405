/* SPDX-License-Identifier: BSD-3-Clause */
/* A step of the index pass: what clients told critd of themselves. */
#ifndef CRIT_REGISTER_H
#define CRIT_REGISTER_H

#include "analysis/model/model.h"

/* Of a node: processes, ranks, their part of the window, names of threads.  Errors: -ENOMEM. */
int crit_register_clients(struct crit_model *model, uint32_t node);

#endif
