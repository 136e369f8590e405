// SPDX-License-Identifier: BSD-3-Clause
// The merge's tree beside a search of all sources: of one and of thousands, whatever their number.
#include "analysis/replay/merge.h"

#include "tests/lib/check.h"
#include "tests/maker/random.h"

#define SOURCES_MAX 4200u
#define STEPS 3000u
#define PARTS 8u
#define ABSENT UINT64_MAX

static uint64_t next_ns[SOURCES_MAX];
static struct crit_random random_state = { 1 };

static uint64_t draw(uint64_t below)
{
	return crit_random_below(&random_state, below);
}

static uint32_t first_of(uint32_t count)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < count; i++)
		if (next_ns[i] < next_ns[first])
			first = i;
	return first;
}

/* Each source's part has one that comes no later, and all parts have the first of all. */
static void check_soon(const struct crit_merge *merge, uint32_t count)
{
	const uint32_t first = first_of(count);
	uint32_t parts = 0, seen[SOURCES_MAX] = { 0 };

	CHECK_UINT_EQ(crit_merge_soon(merge, first, PARTS), first);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t soon = crit_merge_soon(merge, i, PARTS);

		if (next_ns[i] == ABSENT)
			continue;
		CHECK(soon < count && next_ns[soon] <= next_ns[i]);
		if (soon < count)
			parts += !seen[soon]++;
	}
	CHECK(parts <= PARTS);
}

static void check_count(uint32_t count)
{
	struct crit_merge merge;

	CHECK_CASE("%u sources", count);
	CHECK_INT_EQ(crit_merge_init(&merge, count), 0);
	for (uint32_t i = 0; i < count; i++) {
		next_ns[i] = draw(1000);
		crit_merge_add(&merge, i, next_ns[i]);
	}
	for (uint32_t step = 0; step < STEPS && merge.count; step++) {
		const struct crit_cursor cursor = crit_merge_first(&merge);
		const uint32_t first = first_of(count);

		CHECK_UINT_EQ(cursor.order, first);
		CHECK_UINT_EQ(cursor.time_ns, next_ns[first]);
		next_ns[first] = draw(10) ? next_ns[first] + draw(1000) : ABSENT;
		if (next_ns[first] == ABSENT)
			crit_merge_remove(&merge, first);
		else
			crit_merge_delay(&merge, first, next_ns[first]);
	}
	if (merge.count && count >= 64)
		check_soon(&merge, count);
	crit_merge_fini(&merge);
}

int main(void)
{
	static const uint32_t counts[] = {
		1, 2, 3, 4, 5, 16, 17, 18, 64, 65, 257, 1000, 4096, 4097
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		check_count(counts[i]);
	return check_done();
}
