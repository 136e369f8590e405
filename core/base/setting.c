// SPDX-License-Identifier: BSD-3-Clause
// Reads settings from the environment, every value bounded.
#include "core/base/setting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "core/base/line.h"

#define SHOWN_BYTES 40 /* of a value: its beginning */

static const struct crit_setting rows[] = {
#define CRIT_SETTING(name, kind, least, most, otherwise, words, purpose)                           \
	{ "CRIT_" #name, CRIT_KIND_##kind, least, most, otherwise, words, purpose },
#include "core/base/settings.def"
#undef CRIT_SETTING
};

const struct crit_setting *crit_setting_row(enum crit_setting_name name)
{
	return &rows[name];
}

static bool is_one_of(const char *text, const char *words)
{
	const size_t length = strlen(text);

	for (const char *word = words; *word; word += strspn(word, " ")) {
		const size_t size = strcspn(word, " ");

		if (size == length && memcmp(word, text, size) == 0)
			return true;
		word += size;
	}
	return false;
}

/* A number within the row's bounds, with an optional suffix K, M or G. */
static bool parse_number(const struct crit_setting *row, const char *text, uint64_t *ret_number)
{
	char *end = NULL;
	unsigned long long value;
	int shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	value = strtoull(text, &end, 10);
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	else if (*end == 'G' || *end == 'g')
		shift = 30;
	if (end[shift != 0] != '\0' || value > UINT64_MAX >> shift)
		return false;
	*ret_number = value << shift;
	return *ret_number >= row->least && *ret_number <= row->most;
}

static bool makes_sense(const struct crit_setting *row, const char *text)
{
	uint64_t number;
	uint32_t groups;

	switch (row->kind) {
	case CRIT_KIND_TEXT:
		return strlen(text) <= row->most;
	case CRIT_KIND_WORD:
		return is_one_of(text, row->words);
	case CRIT_KIND_NUMBER:
		return parse_number(row, text, &number);
	case CRIT_KIND_GROUPS:
		return crit_groups_parse(text, &groups) == 0;
	default: /* CRIT_KIND_SWITCH */
		return true;
	}
}

const char *crit_setting_text(enum crit_setting_name name, enum crit_setting_source *ret_source)
{
	const int saved_errno = errno; /* strtoull sets it */
	const struct crit_setting *row = &rows[name];
	const char *text = getenv(row->variable);
	enum crit_setting_source source = CRIT_FROM_DEFAULT;

	if (text && *text)
		source = makes_sense(row, text) ? CRIT_FROM_ENVIRONMENT : CRIT_FROM_NONSENSE;
	if (ret_source)
		*ret_source = source;
	errno = saved_errno;
	return source == CRIT_FROM_ENVIRONMENT ? text : row->otherwise;
}

uint64_t crit_setting_number(enum crit_setting_name name)
{
	const int saved_errno = errno;
	uint64_t number = 0;

	(void)parse_number(&rows[name], crit_setting_text(name, NULL), &number);
	errno = saved_errno;
	return number;
}

static void describe(const struct crit_setting *row, char *ret_text, size_t size)
{
	size_t length;

	switch (row->kind) {
	case CRIT_KIND_WORD:
		(void)snprintf(ret_text, size, "not one of: %s", row->words);
		return;
	case CRIT_KIND_NUMBER:
		(void)snprintf(ret_text, size, "no number from %llu to %llu",
			       (unsigned long long)row->least, (unsigned long long)row->most);
		return;
	case CRIT_KIND_GROUPS:
		length = (size_t)snprintf(ret_text, size, "no list of: all");
		for (int group = 1; group < CRIT_GROUP_COUNT && length < size; group++)
			length += (size_t)snprintf(ret_text + length, size - length, " %s",
						   crit_group_name((enum crit_call_group)group));
		return;
	default: /* CRIT_KIND_TEXT; no SWITCH is nonsense */
		(void)snprintf(ret_text, size, "longer than %llu bytes",
			       (unsigned long long)row->most);
	}
}

bool crit_setting_explain(enum crit_setting_name name, char *ret_text, size_t size)
{
	const int saved_errno = errno;
	const struct crit_setting *row = &rows[name];
	const char *text = getenv(row->variable);
	const bool is_ignored = text && *text && !makes_sense(row, text);
	char what[160];

	if (is_ignored) {
		describe(row, what, sizeof(what));
		(void)snprintf(ret_text, size,
			       "%s=%.*s is ignored, as it is %s; the default%s%s holds",
			       row->variable, SHOWN_BYTES, text, what, *row->otherwise ? " " : "",
			       row->otherwise);
		crit_line_tame(ret_text, strlen(ret_text), false);
	}
	errno = saved_errno;
	return is_ignored;
}
