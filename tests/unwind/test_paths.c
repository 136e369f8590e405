// SPDX-License-Identifier: BSD-3-Clause
// Chains as paths: the same number for the same chain, nodes shared from the outermost frame on.
#include "analysis/unwind/paths.h"

#include "tests/lib/check.h"

static struct crit_unwind_chain chain;

/* The frames' offsets, innermost first; ends with 0. */
static const struct crit_unwind_chain *chain_of(enum crit_unwind_end end, const uint64_t *offsets)
{
	chain.end = end;
	for (chain.frame_count = 0; offsets[chain.frame_count]; chain.frame_count++)
		chain.frames[chain.frame_count] =
			(struct crit_unwind_frame){ .offset = offsets[chain.frame_count],
						    .file = 7 };
	return &chain;
}

static void check_tree(void)
{
	static const uint64_t sort[] = { 50, 40, 20, 10, 0 };
	static const uint64_t copy[] = { 60, 40, 20, 10, 0 };
	static const uint64_t inner[] = { 40, 20, 10, 0 };
	struct crit_paths paths = { 0 };
	uint32_t first = crit_paths_add(&paths, chain_of(CRIT_UNWIND_COMPLETE, sort), 0);
	uint32_t cut = crit_paths_add(&paths, chain_of(CRIT_UNWIND_CUT_MEMORY, sort), 0);
	uint32_t second = crit_paths_add(&paths, chain_of(CRIT_UNWIND_COMPLETE, copy), 0);
	uint32_t parent = paths.paths[second].parent;

	CHECK_UINT_EQ(paths.path_count, CRIT_PATH_FIRST + 4 + 4 + 1);
	CHECK_UINT_EQ(crit_paths_add(&paths, chain_of(CRIT_UNWIND_COMPLETE, sort), 0), first);
	CHECK_UINT_EQ(crit_paths_add(&paths, chain_of(CRIT_UNWIND_CUT_MEMORY, sort), 0), cut);
	CHECK(first != cut && first != second);
	CHECK_UINT_EQ(paths.paths[first].parent, parent);
	CHECK_UINT_EQ(paths.paths[second].offset, 60);
	CHECK_UINT_EQ(paths.paths[second].file, 7);
	CHECK_UINT_EQ(crit_paths_add(&paths, chain_of(CRIT_UNWIND_COMPLETE, copy), 1), parent);
	CHECK_UINT_EQ(crit_paths_add(&paths, chain_of(CRIT_UNWIND_COMPLETE, inner), 0), parent);
	CHECK_UINT_EQ(paths.path_count, CRIT_PATH_FIRST + 4 + 4 + 1);
	for (int i = 0; i < 3; i++)
		parent = paths.paths[parent].parent;
	CHECK_UINT_EQ(parent, CRIT_PATH_OF_END(CRIT_UNWIND_COMPLETE));
	/* without frames the end says all */
	CHECK_UINT_EQ(crit_paths_add(&paths, chain_of(CRIT_UNWIND_CUT_MAPS, inner + 3), 0),
		      CRIT_PATH_OF_END(CRIT_UNWIND_CUT_MAPS));
	crit_paths_fini(&paths);
}

static void check_bound(void)
{
	static const uint64_t deep[] = { 40, 30, 20, 10, 0 };
	static const uint64_t flat[] = { 20, 10, 0 };
	struct crit_paths paths = { .path_max = 3 };

	CHECK_UINT_EQ(crit_paths_add(&paths, chain_of(CRIT_UNWIND_COMPLETE, deep), 0),
		      CRIT_PATH_NONE);
	CHECK_UINT_EQ(paths.dropped_count, 1);
	CHECK_UINT_EQ(crit_paths_add(&paths, chain_of(CRIT_UNWIND_COMPLETE, flat), 0),
		      CRIT_PATH_FIRST + 1);
	CHECK_UINT_EQ(paths.path_count, CRIT_PATH_FIRST + 3);
	crit_paths_fini(&paths);
}

int main(void)
{
	check_tree();
	check_bound();
	return check_done();
}
