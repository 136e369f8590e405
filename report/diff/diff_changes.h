/* SPDX-License-Identifier: BSD-3-Clause */
/* What changed between two reports: every figure both know of, and what does not compare. */
#ifndef CRIT_DIFF_CHANGES_H
#define CRIT_DIFF_CHANGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define CRIT_DIFF_NAME_BYTES 256

enum crit_diff_group {
	CRIT_DIFF_RUN = 0,
	CRIT_DIFF_EFFICIENCY,
	CRIT_DIFF_RANKS,
	CRIT_DIFF_REGIONS,
	CRIT_DIFF_CALLS,
	CRIT_DIFF_CALL_SITES,
	CRIT_DIFF_CAUSES,
	CRIT_DIFF_GROUP_COUNT
};

struct crit_diff_change {
	enum crit_diff_group group;
	/* of the rank, region, call, cause; of a run its verdict's side */
	char name[CRIT_DIFF_NAME_BYTES];
	const char *figure; /* key in report.json */
	bool has_a, has_b; /* the row is there at all */
	double a, b;
};

struct crit_diff;

/* "run", "efficiency", "ranks", "regions", "calls", "sites", "causes". */
const char *crit_diff_group_name(enum crit_diff_group group);

/*
 * Gives the members of a report of schema crit-report/1 the names of crit-report/2; of the latter
 * nothing changes.  A name of crit-report/2 that is there already is kept.
 * Errors: -EPROTO when the schema is neither, -ENOMEM.
 */
int crit_diff_update(json_t *report);

/*
 * Compares two reports of schema crit-report/2.  Ownership: destroy frees; the reports are borrowed
 * for the call.  Errors: -ENOMEM.
 */
int crit_diff_create(const json_t *a, const json_t *b, struct crit_diff **ret_diff);
void crit_diff_destroy(struct crit_diff *diff);

/* By group, then by how much the row's first figure changed.  Borrowed. */
const struct crit_diff_change *crit_diff_changes(const struct crit_diff *diff, size_t *ret_count);

/* What does not compare; NULL: there are not so many. */
const char *crit_diff_note(const struct crit_diff *diff, size_t index);

/* Figures do not mean the same, or a report is incomplete. */
bool crit_diff_is_incomplete(const struct crit_diff *diff);

/* Both sides 0 where one has no such row. */
static inline double crit_diff_by(const struct crit_diff_change *change)
{
	return change->b - change->a;
}

#endif
