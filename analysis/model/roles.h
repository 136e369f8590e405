/* SPDX-License-Identifier: BSD-3-Clause */
/* The last step of the index pass: ranks, parts of the window, roles of threads, the window. */
#ifndef CRIT_ROLES_H
#define CRIT_ROLES_H

#include "analysis/model/model.h"

/* Once all nodes are read and streams have their threads.  Errors: -ENOMEM. */
int crit_roles_find(struct crit_model *model);

#endif
