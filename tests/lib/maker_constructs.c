// SPDX-License-Identifier: BSD-3-Clause
// Slots of constructs, workers, locks and regions.
#include "tests/lib/maker_constructs.h"

#include <string.h>

#include "tests/lib/recording_maker_priv.h"

void crit_maker_construct(struct crit_maker *m, uint32_t stream, uint64_t time_ns,
			  struct crit_maker_construct construct)
{
	struct maker_source *s = crit_maker_find_stream(m, stream);

	if (s->depth == MAKER_DEPTH_MAX)
		crit_maker_fail("nest spans that deep");
	s->calls[s->depth] = construct.call;
	s->regions[s->depth++] = construct.region;
	crit_maker_slot(m, stream,
			(struct crit_slot){ .time_ns = time_ns,
					    .kind = CRIT_S_ENTER,
					    .slots = 1,
					    .call = (uint16_t)construct.call,
					    .region = construct.region,
					    .site = construct.site,
					    .arg = construct.arg });
}

void crit_maker_worker(struct crit_maker *m, uint32_t stream, uint64_t time_ns)
{
	crit_maker_find_stream(m, stream)->is_worker = true;
	crit_maker_slot(
		m, stream,
		(struct crit_slot){ .time_ns = time_ns, .kind = CRIT_S_WORKER, .slots = 1 });
}

void crit_maker_release(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call,
			uint64_t lock)
{
	crit_maker_slot(m, stream,
			(struct crit_slot){
				.time_ns = time_ns,
				.kind = CRIT_S_RELEASE,
				.slots = 1,
				.call = (uint16_t)call,
				.region = crit_maker_region_now(crit_maker_find_stream(m, stream)),
				.arg = lock });
}

void crit_maker_region(struct crit_maker *m, uint32_t stream, struct crit_slot_region region,
		       const char *name)
{
	struct crit_slot_text text = { .kind = CRIT_S_CONTINUED };
	size_t left = name ? strlen(name) : 0;
	struct crit_slot slot;

	region.kind = CRIT_S_REGION;
	region.name_bytes = (uint32_t)left;
	region.slots = (uint8_t)(1 + (left + CRIT_REGION_TEXT_BYTES - 1) / CRIT_REGION_TEXT_BYTES);
	memcpy(&slot, &region, sizeof(slot));
	crit_maker_put_slot(m, stream, slot, crit_maker_find_stream(m, stream)->last_ns);
	while (left) {
		char bytes[CRIT_REGION_TEXT_BYTES] = { 0 };
		size_t length = left < sizeof(bytes) ? left : sizeof(bytes);

		memcpy(bytes, name, length);
		memcpy(text.head, bytes, sizeof(text.head));
		memcpy(text.tail, bytes + sizeof(text.head), sizeof(text.tail));
		memcpy(&slot, &text, sizeof(slot));
		crit_maker_put_slot(m, stream, slot, crit_maker_find_stream(m, stream)->last_ns);
		name += length;
		left -= length;
	}
}

void crit_maker_enter(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call)
{
	crit_maker_enter_at(m, stream, time_ns, call, 0x400000 + call);
}
