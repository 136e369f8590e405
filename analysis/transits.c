// SPDX-License-Identifier: BSD-3-Clause
// A table of links and sections that gets coarser instead of larger.
#include "analysis/transits.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/array.h"

void crit_transits_init(struct crit_transits *transits, uint64_t begin_ns, uint64_t end_ns)
{
	*transits = (struct crit_transits){
		.begin_ns = begin_ns,
		.section_ns = (end_ns - begin_ns) / CRIT_TRANSIT_SECTIONS + 1,
		.sections = CRIT_TRANSIT_SECTIONS,
	};
}

void crit_transits_fini(struct crit_transits *transits)
{
	crit_map_fini(&transits->numbers);
	free(transits->links);
	free(transits->least_ns);
}

/* Two sections become one. */
static void coarsen(struct crit_transits *transits)
{
	size_t count = transits->link_count * transits->sections / 2, i;

	for (i = 0; i < count; i++) {
		int64_t first_ns = transits->least_ns[2 * i];
		int64_t second_ns = transits->least_ns[2 * i + 1];

		transits->least_ns[i] = first_ns < second_ns ? first_ns : second_ns;
	}
	transits->sections /= 2;
	transits->section_ns *= 2;
}

static int add_link(struct crit_transits *transits, uint32_t from, uint32_t to)
{
	size_t at = transits->link_count, cells, i;
	int rc;

	while (transits->sections > 1 && (at + 1) * transits->sections > CRIT_TRANSIT_CELLS)
		coarsen(transits);
	cells = (at + 1) * transits->sections;
	if (cells > CRIT_TRANSIT_CELLS)
		return -ENOSPC;
	rc = crit_array_grow(&transits->least_ns, &transits->least_capacity, cells,
			     sizeof(*transits->least_ns));
	if (!rc)
		rc = crit_array_grow(&transits->links, &transits->link_capacity, at + 1,
				     sizeof(*transits->links));
	if (rc)
		return rc;
	for (i = at * transits->sections; i < cells; i++)
		transits->least_ns[i] = CRIT_TRANSIT_NONE;
	transits->links[transits->link_count++] = (struct crit_transit_link){ from, to };
	return 0;
}

int crit_transits_link(struct crit_transits *transits, uint32_t from, uint32_t to,
		       uint32_t *ret_link)
{
	uint64_t key = (uint64_t)from << 32 | to;
	uint32_t link = crit_map_get(&transits->numbers, key);
	int rc = 0;

	if (link == CRIT_NONE) {
		link = (uint32_t)transits->link_count;
		rc = crit_map_set(&transits->numbers, key, link);
		if (!rc)
			rc = add_link(transits, from, to);
	}
	if (!rc)
		*ret_link = link;
	return rc;
}

void crit_transits_take(struct crit_transits *transits, uint32_t link, uint64_t sent_ns,
			uint64_t received_ns)
{
	uint64_t passed_ns = sent_ns > transits->begin_ns ? sent_ns - transits->begin_ns : 0;
	uint64_t section = passed_ns / transits->section_ns;
	int64_t *least_ns;

	if (section >= transits->sections)
		section = transits->sections - 1;
	least_ns = &transits->least_ns[(size_t)link * transits->sections + section];
	if ((int64_t)(received_ns - sent_ns) < *least_ns)
		*least_ns = (int64_t)(received_ns - sent_ns);
}

int64_t crit_transits_least(const struct crit_transits *transits, size_t link, uint32_t number)
{
	const int64_t *row = &transits->least_ns[link * transits->sections];
	int64_t least_ns = number < transits->sections ? row[number] : CRIT_TRANSIT_NONE;

	return number && row[number - 1] < least_ns ? row[number - 1] : least_ns;
}
