// SPDX-License-Identifier: BSD-3-Clause
// OMPT callbacks of parallel regions and implicit tasks.
//
// The primary thread is in the region from parallel-begin to parallel-end.  The others come from a
// pool; for them the runtime may tell the end of the last barrier and of the implicit task only
// when the next region begins, so analysis takes the primary's end for the end of all.
#include "core/abi/abi_slot.h"
#include "core/base/call.h"
#include "core/shim/shim_construct.h"
#include "core/shim/shim_region.h"
#include "ompt/tool.h"

#define IS_MEMBER 1u /* value of an implicit task whose thread entered the region */
#define REGION_SHIFT CRIT_INSTANCE_TEAM_SHIFT

_Static_assert(CRIT_REGIONS_MAX <= 1u << (64 - REGION_SHIFT),
	       "a region's number beside the instance");

static uint64_t team_of(unsigned int threads)
{
	if (threads > CRIT_INSTANCE_TEAM_MAX)
		threads = CRIT_INSTANCE_TEAM_MAX;
	return (uint64_t)threads << CRIT_INSTANCE_TEAM_SHIFT;
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t *unused)
{
	(void)unused;
	if (type == ompt_thread_worker || type == ompt_thread_other)
		crit_shim_worker();
}

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
			      unsigned int threads, int flags, const void *site)
{
	const uint32_t region =
		crit_shim_region(CRIT_CONSTRUCT_PARALLEL, site, NULL, crit_shim_region_now());
	const uint64_t instance = crit_shim_instance();

	(void)task;
	(void)frame;
	(void)flags;
	parallel->value = (uint64_t)region << REGION_SHIFT | instance;
	crit_shim_construct_begin(CRIT_CONSTRUCT_PARALLEL, region, site,
				  CRIT_INSTANCE_PRIMARY | team_of(threads) | instance);
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *site)
{
	(void)parallel;
	(void)task;
	(void)flags;
	(void)site;
	crit_shim_construct_end(CRIT_CONSTRUCT_PARALLEL);
}

/* A region that began before there was a tool has no value; nor has the program as a whole. */
static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
			     ompt_data_t *task, unsigned int threads, unsigned int index, int flags)
{
	(void)flags;
	if (endpoint == ompt_scope_begin) {
		if (index == 0 || !parallel || !parallel->value)
			return;
		task->value = IS_MEMBER;
		crit_shim_construct_begin(CRIT_CONSTRUCT_PARALLEL,
					  (uint32_t)(parallel->value >> REGION_SHIFT), NULL,
					  team_of(threads) | CRIT_INSTANCE_NUMBER(parallel->value));
	} else if (task->value == IS_MEMBER) {
		crit_shim_construct_end(CRIT_CONSTRUCT_PARALLEL);
	}
}

static const struct crit_ompt_row rows[] = {
	{ CRIT_OMPT_ROW(thread_begin) },
	{ CRIT_OMPT_ROW(parallel_begin) },
	{ CRIT_OMPT_ROW(parallel_end) },
	{ CRIT_OMPT_ROW(implicit_task) },
};

const struct crit_ompt_group crit_ompt_parallel = { CRIT_OMPT_GROUP(rows) };
