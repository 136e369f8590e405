/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of report.json: how a value of each kind becomes a member of an object. */
#ifndef CRIT_JSON_H
#define CRIT_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/schema/results.h"
#include "analysis/symbols/symbols.h"

#define CRIT_JSON_TEXT_BYTES 1024

static inline void set(json_t *object, const char *key, json_t *value)
{
	(void)json_object_set_new(object, key, value); /* without memory the key is missing */
}

static inline void set_s(json_t *object, const char *key, double value_s)
{
	set(object, key, json_real(value_s));
}

static inline void set_ns(json_t *object, const char *key, uint64_t value_ns)
{
	set_s(object, key, (double)value_ns * 1e-9);
}

static inline void set_count(json_t *object, const char *key, uint64_t value)
{
	set(object, key, json_integer((json_int_t)value));
}

/* Names come from foreign processes: what is not UTF-8 becomes '?'. */
static inline void set_text(json_t *object, const char *key, const char *text, size_t text_bytes)
{
	char copy[CRIT_JSON_TEXT_BYTES];
	size_t length;
	json_t *value;

	if (text_bytes > sizeof(copy))
		text_bytes = sizeof(copy);
	length = strnlen(text, text_bytes);
	memcpy(copy, text, length);
	value = json_stringn(copy, length);
	for (size_t i = 0; !value && i < length; i++)
		if ((unsigned char)copy[i] >= 0x80)
			copy[i] = '?';
	set(object, key, value ? value : json_stringn(copy, length));
}

/* A text that may be missing. */
static inline void set_optional(json_t *object, const char *key, const char *text)
{
	if (text)
		set_text(object, key, text, CRIT_JSON_TEXT_BYTES);
	else
		set(object, key, json_null());
}

/* Where code lies, of call sites and regions alike. */
static inline void set_place(json_t *object, const struct crit_place *place)
{
	set_optional(object, "function", place->function);
	set_optional(object, "inlined_into", place->outer);
	set_optional(object, "file", place->file);
	set(object, "line", place->line ? json_integer(place->line) : json_null());
	set_optional(object, "module", place->module);
	set_optional(object, "build_id", place->build_id);
	set(object, "offset", json_sprintf("0x%llx", (unsigned long long)place->offset));
}

#define SET_FIELD(object, key, field) set_text(object, key, field, sizeof(field))

static inline void set_rank(json_t *object, const char *key, const struct crit_results *results,
			    int32_t row)
{
	bool has_rank = row >= 0 && (size_t)row < results->rank_count;

	set(object, key, has_rank ? json_integer(results->ranks[row].rank) : json_null());
}

#endif
