/* SPDX-License-Identifier: BSD-3-Clause */
/* A step of the index pass: the thread behind each shim stream. */
#ifndef CRIT_SURVEY_STREAMS_H
#define CRIT_SURVEY_STREAMS_H

#include "analysis/model/model.h"

/* Where the kernel half knows none, assumes one.  Errors: -ENOMEM. */
int crit_index_pass_streams(struct crit_model *model);

#endif
