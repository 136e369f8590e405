// SPDX-License-Identifier: BSD-3-Clause
// Looks source locations up once, and numbers the texts of call sites.
#include "otf2/definitions/call_site_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/map.h"

#define SITE_BYTES 160
#define SITE_BITS 47u /* of a user address; the group's number goes above */

struct crit_otf2_call_sites {
	const struct crit_otf2_layout *layout;
	crit_otf2_site_place *place; /* NULL: no address has one */
	void *user;
	struct crit_map known; /* group and address -> provisional string */
	struct crit_otf2_strings *texts;
	uint32_t *strings; /* by text, once all events are written */
	uint32_t *told; /* texts that other processes told of */
	size_t told_count, told_capacity;
};

struct crit_otf2_call_sites *crit_otf2_call_sites_create(const struct crit_otf2_layout *layout,
							 crit_otf2_site_place *place, void *user)
{
	struct crit_otf2_call_sites *call_sites = calloc(1, sizeof(*call_sites));

	if (!call_sites)
		return NULL;
	*call_sites =
		(struct crit_otf2_call_sites){ .layout = layout, .place = place, .user = user };
	call_sites->texts = crit_otf2_strings_create();
	if (call_sites->texts)
		return call_sites;
	free(call_sites);
	return NULL;
}

void crit_otf2_call_sites_destroy(struct crit_otf2_call_sites *call_sites)
{
	if (!call_sites)
		return;
	crit_map_fini(&call_sites->known);
	crit_otf2_strings_destroy(call_sites->texts);
	free(call_sites->strings);
	free(call_sites->told);
	free(call_sites);
}

bool crit_otf2_call_sites_place(const struct crit_otf2_call_sites *call_sites, uint32_t group,
				uint64_t site, struct crit_source_location *ret_place)
{
	const struct crit_otf2_group *at = crit_otf2_layout_group(call_sites->layout, group);

	return call_sites->place &&
	       call_sites->place(call_sites->user, at->node, at->pid, site, ret_place);
}

uint32_t crit_otf2_call_sites_text(struct crit_otf2_call_sites *call_sites, uint32_t group,
				   uint64_t site)
{
	uint64_t key = (uint64_t)group << SITE_BITS ^ (site & ((1ull << SITE_BITS) - 1));
	uint32_t known = crit_map_get(&call_sites->known, key);
	char text[SITE_BYTES];
	struct crit_source_location place;

	if (known != CRIT_NONE)
		return known - 1;
	if (crit_otf2_strings_count(call_sites->texts) < CRIT_OTF2_CALL_SITES_MAX &&
	    crit_otf2_call_sites_place(call_sites, group, site, &place))
		known = crit_otf2_string(call_sites->texts,
					 crit_source_location_text(&place, text, sizeof(text)));
	if (known != CRIT_NONE)
		known += crit_otf2_layout_string_count(call_sites->layout);
	(void)crit_map_set(&call_sites->known, key, known + 1); /* without memory: asked again */
	return known;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, whichever process found a text first. */
int crit_otf2_call_sites_name(struct crit_otf2_call_sites *call_sites,
			      struct crit_otf2_strings *strings)
{
	size_t count = crit_otf2_strings_count(call_sites->texts), i;
	const char **sorted = calloc(count + 1, sizeof(*sorted));
	int rc = 0;

	call_sites->strings = calloc(count + 1, sizeof(*call_sites->strings));
	if (!sorted || !call_sites->strings)
		rc = -ENOMEM;
	for (i = 0; i < count && !rc; i++)
		sorted[i] = crit_otf2_strings_text(call_sites->texts, (uint32_t)i);
	if (!rc)
		qsort(sorted, count, sizeof(*sorted), compare_texts);
	for (i = 0; i < count && !rc; i++)
		rc = crit_otf2_string(strings, sorted[i]) == CRIT_NONE ? -ENOMEM : 0;
	for (i = 0; i < count && !rc; i++) {
		call_sites->strings[i] = crit_otf2_string(
			strings, crit_otf2_strings_text(call_sites->texts, (uint32_t)i));
		rc = call_sites->strings[i] == CRIT_NONE ? -ENOMEM : 0;
	}
	free(sorted);
	return rc;
}

void crit_otf2_call_sites_map(const struct crit_otf2_call_sites *call_sites, OTF2_IdMap *map)
{
	uint32_t first = crit_otf2_layout_string_count(call_sites->layout);

	for (size_t i = 0; i < crit_otf2_strings_count(call_sites->texts); i++)
		(void)OTF2_IdMap_AddIdPair(map, first + i, call_sites->strings[i]);
}

int crit_otf2_call_sites_pack(const struct crit_otf2_call_sites *call_sites,
			      struct crit_exchange_buffer *buffer)
{
	uint64_t count = crit_otf2_strings_count(call_sites->texts), i;
	int rc = crit_exchange_buffer_put(buffer, &count, sizeof(count));

	for (i = 0; i < count && !rc; i++) {
		const char *text = crit_otf2_strings_text(call_sites->texts, (uint32_t)i);
		uint64_t size = strlen(text) + 1;

		rc = crit_exchange_buffer_put(buffer, &size, sizeof(size));
		if (!rc)
			rc = crit_exchange_buffer_put(buffer, text, size);
	}
	return rc;
}

static int unpack_text(struct crit_otf2_call_sites *call_sites,
		       const struct crit_exchange_buffer *buffer, size_t *at)
{
	const char *text;
	uint64_t size;
	uint32_t number;

	if (!crit_exchange_buffer_take(buffer, at, &size, sizeof(size)) || !size ||
	    size > buffer->size - *at)
		return -EPROTO;
	text = (const char *)buffer->bytes + *at;
	if (text[size - 1])
		return -EPROTO;
	*at += size;
	number = crit_otf2_string(call_sites->texts, text);
	if (number == CRIT_NONE ||
	    crit_array_grow(&call_sites->told, &call_sites->told_capacity,
			    call_sites->told_count + 1, sizeof(*call_sites->told)))
		return -ENOMEM;
	call_sites->told[call_sites->told_count++] = number;
	return 0;
}

int crit_otf2_call_sites_unpack(struct crit_otf2_call_sites *call_sites,
				const struct crit_exchange_buffer *buffer, size_t *at,
				struct crit_otf2_told *ret_told)
{
	uint64_t count;
	int rc = crit_exchange_buffer_take(buffer, at, &count, sizeof(count)) ? 0 : -EPROTO;

	ret_told->first = call_sites->told_count;
	for (uint64_t i = 0; !rc && i < count; i++)
		rc = unpack_text(call_sites, buffer, at);
	ret_told->count = call_sites->told_count - ret_told->first;
	return rc;
}

int crit_otf2_call_sites_pack_numbers(const struct crit_otf2_call_sites *call_sites,
				      struct crit_otf2_told told,
				      struct crit_exchange_buffer *buffer)
{
	int rc = 0;

	for (size_t i = told.first; i < told.first + told.count && !rc; i++)
		rc = crit_exchange_buffer_put(buffer, &call_sites->strings[call_sites->told[i]],
					      sizeof(*call_sites->strings));
	return rc;
}

int crit_otf2_call_sites_unpack_numbers(struct crit_otf2_call_sites *call_sites,
					const struct crit_exchange_buffer *buffer, size_t *at)
{
	size_t count = crit_otf2_strings_count(call_sites->texts);

	call_sites->strings = calloc(count + 1, sizeof(*call_sites->strings));
	if (!call_sites->strings)
		return -ENOMEM;
	return crit_exchange_buffer_take(buffer, at, call_sites->strings,
					 count * sizeof(*call_sites->strings))
		       ? 0
		       : -EPROTO;
}
