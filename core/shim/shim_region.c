// SPDX-License-Identifier: BSD-3-Clause
// Regions of this process: numbered at their first use, found without a lock.
//
// A region's row is filled before its number is put into the table, in one word with a part of its
// hash, so whoever finds the number may read the row.  Two threads that come with the same region
// at once may take two numbers; only the one in the table is used.
#include "core/shim/shim_region.h"

#include <string.h>

#include "core/base/call.h"
#include "core/base/hash.h"
#include "core/shim/shim_ring.h"

#define PLACES (2 * CRIT_REGIONS_MAX)
#define PROBES 64
#define NUMBER_MASK (CRIT_REGIONS_MAX - 1u)
#define HASH_MASK (~0ull << 32)
#define TEXT_BYTES (256u << 10) /* names of phases, each with a zero behind it */

struct region {
	uint64_t site; /* of a phase: hash of its name */
	uint32_t parent;
	uint16_t call;
	uint16_t name_bytes;
	const char *name; /* of a phase */
	uint64_t caller; /* that came first */
};

_Atomic uint8_t crit_region_known[CRIT_REGIONS_MAX];
static struct region regions[CRIT_REGIONS_MAX]; /* by number; none has number 0 */
static _Atomic uint64_t places[PLACES];
static _Atomic uint32_t numbers; /* given so far */
static char text[TEXT_BYTES];
static _Atomic uint32_t text_used;

static bool keep_name(struct region *region)
{
	const uint32_t bytes = region->name_bytes + 1u;
	const uint32_t start = atomic_load_explicit(&text_used, memory_order_relaxed) < TEXT_BYTES
				       ? atomic_fetch_add(&text_used, bytes)
				       : TEXT_BYTES;

	if (start + bytes > TEXT_BYTES)
		return false;
	memcpy(&text[start], region->name, region->name_bytes);
	region->name = &text[start];
	return true;
}

/* 0: there are too many. */
static uint32_t take_number(const struct region *wanted)
{
	struct region kept = *wanted;
	uint32_t number;

	if (atomic_load_explicit(&numbers, memory_order_relaxed) >= CRIT_REGIONS_MAX - 1 ||
	    (kept.name && !keep_name(&kept)))
		return 0;
	number = 1 + atomic_fetch_add(&numbers, 1);
	if (number >= CRIT_REGIONS_MAX)
		return 0;
	regions[number] = kept;
	return number;
}

/* Wherever they are begun. */
static bool is_same(const struct region *a, const struct region *b)
{
	return a->site == b->site && a->call == b->call && a->name_bytes == b->name_bytes &&
	       (!a->name || memcmp(a->name, b->name, a->name_bytes) == 0);
}

static uint32_t find(const struct region *wanted)
{
	const uint64_t hash =
		crit_hash_mix(crit_hash_mix(wanted->site, wanted->parent), wanted->call);
	uint32_t place = crit_hash_place(hash, PLACES);
	uint32_t number = 0;

	for (int probe = 0; probe < PROBES; probe++) {
		uint64_t word = atomic_load_explicit(&places[place], memory_order_acquire);

		if (!word) {
			if (!number)
				number = take_number(wanted);
			if (!number)
				break;
			if (atomic_compare_exchange_strong(&places[place], &word,
							   (hash & HASH_MASK) | number))
				return number;
		}
		if ((word & HASH_MASK) == (hash & HASH_MASK) &&
		    regions[word & NUMBER_MASK].parent == wanted->parent &&
		    is_same(&regions[word & NUMBER_MASK], wanted))
			return (uint32_t)(word & NUMBER_MASK);
		place = place + 1 < PLACES ? place + 1 : 0;
	}
	return wanted->parent;
}

/* The region, or the same construct around it: recursion must not make ever new ones. */
static uint32_t number_of(const struct region *wanted)
{
	for (uint32_t around = wanted->parent; around; around = regions[around].parent)
		if (is_same(&regions[around], wanted))
			return around;
	return find(wanted);
}

uint32_t crit_shim_region(uint32_t call, const void *site, const void *caller, uint32_t parent)
{
	return number_of(&(struct region){ .site = (uint64_t)(uintptr_t)site,
					   .parent = parent & NUMBER_MASK,
					   .call = (uint16_t)call,
					   .caller = (uint64_t)(uintptr_t)caller });
}

uint32_t crit_shim_phase(const char *name, uint32_t parent)
{
	struct region wanted = { .parent = parent & NUMBER_MASK,
				 .call = CRIT_CONSTRUCT_PHASE,
				 .name = name };

	while (wanted.name_bytes < CRIT_REGION_NAME_MAX && name[wanted.name_bytes])
		wanted.site = crit_hash_mix(wanted.site, (unsigned char)name[wanted.name_bytes++]);
	return wanted.name_bytes ? number_of(&wanted) : parent;
}

/* The slots of a name: the first bytes of each before its kind, the others behind it. */
static void write_name(struct crit_shim_thread *thread, const struct region *region)
{
	uint64_t position = thread->write_pos;
	uint32_t at = 0;

	while (at < region->name_bytes) {
		struct crit_slot_text part = { .kind = CRIT_S_CONTINUED };
		uint32_t bytes = region->name_bytes - at;

		if (bytes > sizeof(part.head)) {
			memcpy(part.head, &region->name[at], sizeof(part.head));
			at += sizeof(part.head);
			bytes = region->name_bytes - at;
			bytes = bytes < sizeof(part.tail) ? bytes : sizeof(part.tail);
			memcpy(part.tail, &region->name[at], bytes);
		} else {
			memcpy(part.head, &region->name[at], bytes);
		}
		at += bytes;
		*(struct crit_slot_text *)(void *)crit_span_slot_at(thread, ++position) = part;
	}
}

static bool write_region(struct crit_shim_thread *thread, uint32_t number)
{
	const struct region *region = &regions[number];
	const uint32_t slots =
		1 + (region->name_bytes + CRIT_REGION_TEXT_BYTES - 1) / CRIT_REGION_TEXT_BYTES;

	if (!crit_span_has_room(thread, slots))
		return false;
	*(struct crit_slot_region *)(void *)crit_span_slot_at(thread, thread->write_pos) =
		(struct crit_slot_region){
			.site = region->name ? 0 : region->site,
			.kind = CRIT_S_REGION,
			.slots = (__u8)slots,
			.call = region->call,
			.region = number,
			.parent = region->parent,
			.name_bytes = region->name_bytes,
			.caller = region->caller,
		};
	write_name(thread, region);
	crit_span_publish_unstamped(thread, thread->write_pos + slots);
	atomic_store_explicit(&crit_region_known[number], 1, memory_order_relaxed);
	return true;
}

void crit_region_introduce(struct crit_shim_thread *thread, uint32_t region)
{
	while (region && !crit_region_is_known(region) && write_region(thread, region))
		region = regions[region].parent;
}

void crit_region_forget_slots(void)
{
	const uint32_t used = numbers;

	for (uint32_t number = 1; number <= used && number < CRIT_REGIONS_MAX; number++)
		crit_region_known[number] = 0;
}
