// SPDX-License-Identifier: BSD-3-Clause
// String definitions of an archive: finds and adds texts.
#include "otf2/archive/strings.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/line.h"

struct crit_otf2_strings {
	char **texts;
	size_t count, capacity;
	struct crit_index numbers; /* by text */
};

struct crit_otf2_strings *crit_otf2_strings_create(void)
{
	return calloc(1, sizeof(struct crit_otf2_strings));
}

static uint32_t add(struct crit_otf2_strings *strings, const char *text, uint64_t hash)
{
	uint32_t number = (uint32_t)strings->count;
	char *copy = strdup(text);

	if (!copy || crit_array_grow(&strings->texts, &strings->capacity, strings->count + 1,
				     sizeof(*strings->texts))) {
		free(copy);
		return CRIT_NONE;
	}
	strings->texts[strings->count++] = copy;
	return crit_index_put(&strings->numbers, hash, number) ? CRIT_NONE : number;
}

static uint32_t find_or_add(struct crit_otf2_strings *strings, const char *text)
{
	struct crit_probe probe;
	uint64_t hash = crit_hash_text(text);
	uint32_t number = crit_index_first(&strings->numbers, hash, &probe);

	while (number != CRIT_NONE && strcmp(strings->texts[number], text) != 0)
		number = crit_index_next(&strings->numbers, &probe);
	return number != CRIT_NONE ? number : add(strings, text, hash);
}

uint32_t crit_otf2_string(struct crit_otf2_strings *strings, const char *text)
{
	crit_autofree char *plain = strdup(text);

	if (!plain)
		return CRIT_NONE;
	crit_line_tame(plain, strlen(plain), false);
	return find_or_add(strings, plain);
}

size_t crit_otf2_strings_count(const struct crit_otf2_strings *strings)
{
	return strings->count;
}

const char *crit_otf2_strings_text(const struct crit_otf2_strings *strings, uint32_t number)
{
	return strings->texts[number];
}

void crit_otf2_strings_destroy(struct crit_otf2_strings *strings)
{
	if (!strings)
		return;
	for (size_t i = 0; i < strings->count; i++)
		free(strings->texts[i]);
	free(strings->texts);
	crit_index_fini(&strings->numbers);
	free(strings);
}
