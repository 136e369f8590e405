/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of libcrit_ompt.so offer to its registration: callbacks in groups. */
#ifndef CRIT_OMPT_TOOL_H
#define CRIT_OMPT_TOOL_H

#include <omp-tools.h>
#include <stddef.h>

/* The runtime takes all callbacks of a group or none: what they tell is of use together only. */
struct crit_ompt_row {
	ompt_callbacks_t which;
	ompt_callback_t function;
};

struct crit_ompt_group {
	const struct crit_ompt_row *rows;
	size_t count;
};

/* What is in the braces of a row, and of a group. */
#define CRIT_OMPT_ROW(name) ompt_callback_##name, (ompt_callback_t)(void (*)(void))on_##name
#define CRIT_OMPT_GROUP(rows) rows, sizeof(rows) / sizeof((rows)[0])

extern const struct crit_ompt_group crit_ompt_parallel; /* threads, parallel regions, their teams */
extern const struct crit_ompt_group crit_ompt_barriers; /* and taskwait, taskgroup, reduction */
extern const struct crit_ompt_group crit_ompt_mutexes; /* locks, critical, ordered, atomic */
extern const struct crit_ompt_group crit_ompt_shares; /* loops, sections, single, … */
extern const struct crit_ompt_group crit_ompt_masked;
extern const struct crit_ompt_group crit_ompt_tasks;

#endif
