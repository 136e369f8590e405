/* SPDX-License-Identifier: BSD-3-Clause */
/* The CRIT_* settings: names, ranges, and present values. */
#ifndef CRIT_SETTING_H
#define CRIT_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum crit_setting_name {
#define CRIT_SETTING(name, kind, least, most, otherwise, words, purpose) CRIT_SETTING_##name,
#include "core/base/settings.def"
#undef CRIT_SETTING
	CRIT_SETTING_COUNT
};

enum crit_setting_kind {
	CRIT_KIND_TEXT = 0, /* at most so many bytes */
	CRIT_KIND_SWITCH, /* off when 0, on whatever else it is set to */
	CRIT_KIND_WORD, /* one of a list */
	CRIT_KIND_NUMBER, /* with an optional suffix K, M or G */
	CRIT_KIND_GROUPS /* of MPI calls, as crit_groups_parse takes them */
};

enum crit_setting_source {
	CRIT_FROM_DEFAULT = 0, /* not set, or empty */
	CRIT_FROM_ENVIRONMENT,
	CRIT_FROM_NONSENSE, /* set to what makes no sense: the default holds */
	CRIT_FROM_COUNT
};

struct crit_setting {
	const char *variable; /* "CRIT_DIR" */
	enum crit_setting_kind kind;
	uint64_t least;
	uint64_t most;
	const char *otherwise; /* the default */
	const char *words;
	const char *purpose;
};

/* The row of core/base/settings.def.  Borrowed, lives for ever. */
const struct crit_setting *crit_setting_row(enum crit_setting_name name);

/*
 * The text that holds: the environment's, or the default when that is empty or makes no sense.
 * ret_source may be NULL.  Borrowed from the environment.  errno is left alone.
 */
const char *crit_setting_text(enum crit_setting_name name, enum crit_setting_source *ret_source);

/* The number that holds, of a NUMBER. */
uint64_t crit_setting_number(enum crit_setting_name name);

/*
 * Whether the variable is set to what makes no sense; if so, says in a part of a line what it is
 * set to, what it may be and what holds, cut where it does not fit.  errno is left alone.
 */
bool crit_setting_explain(enum crit_setting_name name, char *ret_text, size_t size);

#endif
