// SPDX-License-Identifier: BSD-3-Clause
// A map finds what was set, in few cells whatever part of the keys differs.
#include "core/base/map.h"
#include "tests/lib/check.h"

#define COUNT 32768u

enum shape {
	SHAPE_SEQUENCE = 0,
	SHAPE_UPPER, /* processes, beside one number of all */
	SHAPE_HALO, /* each rank with the four behind it */
	SHAPE_GRID, /* 181 ranks with each other */
	SHAPE_STRIDE, /* addresses of pages */
	SHAPE_COUNT
};

static uint64_t key_of(enum shape shape, uint32_t i)
{
	switch (shape) {
	case SHAPE_SEQUENCE:
		return i;
	case SHAPE_UPPER:
		return (uint64_t)i << 32 | 5;
	case SHAPE_HALO:
		return (uint64_t)(i / 4) << 32 | (i / 4 + 1 + i % 4);
	case SHAPE_GRID:
		return (uint64_t)(i / 181) << 32 | i % 181;
	default:
		return (uint64_t)i << 12;
	}
}

static void check_shape(enum shape shape)
{
	struct crit_map map = { 0 };
	size_t cells = 0;

	CHECK_CASE("shape %d", (int)shape);
	for (uint32_t i = 0; i < COUNT; i++)
		CHECK_INT_EQ(crit_map_set(&map, key_of(shape, i), i), 0);
	CHECK_UINT_EQ(map.count, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		size_t slot = crit_map_slot(&map, key_of(shape, i));

		CHECK_UINT_EQ(crit_map_get(&map, key_of(shape, i)), i);
		for (; map.cells[slot].value != i; slot = (slot + 1) & (map.size - 1))
			cells++;
	}
	CHECK_MSG(cells < COUNT, "%zu cells passed over by %u rows", cells, COUNT);
	crit_map_fini(&map);
}

static void check_values(void)
{
	struct crit_map map = { 0 };

	CHECK_CASE("values");
	CHECK_UINT_EQ(crit_map_get(&map, 0), CRIT_NONE);
	CHECK_INT_EQ(crit_map_set(&map, 0, 1), 0);
	CHECK_INT_EQ(crit_map_set(&map, UINT64_MAX - 1, 2), 0);
	CHECK_INT_EQ(crit_map_set(&map, 0, 3), 0);
	CHECK_UINT_EQ(map.count, 2);
	CHECK_UINT_EQ(crit_map_get(&map, 0), 3);
	CHECK_UINT_EQ(crit_map_get(&map, UINT64_MAX - 1), 2);
	CHECK_UINT_EQ(crit_map_get(&map, 1), CRIT_NONE);
	crit_map_fini(&map);
}

int main(void)
{
	check_values();
	for (int shape = 0; shape < SHAPE_COUNT; shape++)
		check_shape((enum shape)shape);
	return check_done();
}
