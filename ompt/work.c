// SPDX-License-Identifier: BSD-3-Clause
// OMPT callbacks of work: loops, sections, single, masked, tasks.
#include "core/abi/abi_slot.h"
#include "core/base/call.h"
#include "core/shim/shim_construct.h"
#include "core/shim/shim_region.h"
#include "ompt/tool.h"

/* The value of an explicit task: its region, these, and its number. */
#define IS_TASK (1ull << 16)
#define IS_OPEN (1ull << 17) /* its span is open, in the thread that executes it */
#define NUMBER_SHIFT 18

_Static_assert(CRIT_REGIONS_MAX <= IS_TASK && NUMBER_SHIFT + CRIT_OMP_TASK_BITS <= 64,
	       "room in a task's value");

/* 0: nothing is done in it. */
static uint32_t share_of(ompt_work_t kind)
{
	switch (kind) {
	case ompt_work_sections:
		return CRIT_CONSTRUCT_SECTIONS;
	case ompt_work_single_executor:
		return CRIT_CONSTRUCT_SINGLE;
	case ompt_work_single_other:
		return 0;
	case ompt_work_workshare:
		return CRIT_CONSTRUCT_WORKSHARE;
	case ompt_work_distribute:
		return CRIT_CONSTRUCT_DISTRIBUTE;
	case ompt_work_taskloop:
		return CRIT_CONSTRUCT_TASKLOOP;
	case ompt_work_scope:
		return CRIT_CONSTRUCT_SCOPE;
	case ompt_work_loop:
	default: /* newer runtimes have a kind per schedule */
		return CRIT_CONSTRUCT_LOOP;
	}
}

static void tell(uint32_t call, ompt_scope_endpoint_t endpoint, const void *site)
{
	if (endpoint == ompt_scope_begin)
		crit_shim_construct_begin(call, crit_shim_region_now(), site, 0);
	else
		crit_shim_construct_end(call);
}

static void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
		    ompt_data_t *task, uint64_t count, const void *site)
{
	const uint32_t call = share_of(kind);

	(void)parallel;
	(void)task;
	(void)count;
	if (call)
		tell(call, endpoint, site);
}

static void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
		      const void *site)
{
	(void)parallel;
	(void)task;
	tell(CRIT_CONSTRUCT_MASKED, endpoint, site);
}

static void on_task_create(ompt_data_t *creator, const ompt_frame_t *frame, ompt_data_t *task,
			   int flags, int has_dependences, const void *site)
{
	(void)creator;
	(void)frame;
	(void)has_dependences;
	if (!(flags & ompt_task_explicit))
		return;
	task->value = crit_shim_region(CRIT_CONSTRUCT_TASK, site, NULL, crit_shim_region_now()) |
		      IS_TASK | crit_shim_task_made() << NUMBER_SHIFT;
}

static bool is_task(const ompt_data_t *task)
{
	return task && task->value & IS_TASK;
}

/*
 * A thread that waits takes up another task, whose span lies inside the wait; the one before goes
 * on when that is over.  An untied task is put aside where it may continue elsewhere: then the next
 * one is none that begins.
 */
static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
	const bool is_over = status == ompt_task_complete || status == ompt_task_cancel ||
			     status == ompt_task_detach;
	const bool is_begin = is_task(next) && !(next->value & IS_OPEN);

	if (!next && !is_over)
		return; /* somebody fulfilled an event */
	if (is_task(prior) && prior->value & IS_OPEN && (is_over || !is_begin)) {
		prior->value &= ~IS_OPEN;
		if (!is_over)
			crit_shim_task_paused(prior->value >> NUMBER_SHIFT);
		crit_shim_construct_end(CRIT_CONSTRUCT_TASK);
	}
	if (!is_begin)
		return;
	next->value |= IS_OPEN;
	crit_shim_construct_begin(CRIT_CONSTRUCT_TASK, (uint32_t)(next->value & (IS_TASK - 1)),
				  NULL, next->value >> NUMBER_SHIFT);
}

static const struct crit_ompt_row share_rows[] = { { CRIT_OMPT_ROW(work) } };
static const struct crit_ompt_row masked_rows[] = { { CRIT_OMPT_ROW(masked) } };
static const struct crit_ompt_row task_rows[] = {
	{ CRIT_OMPT_ROW(task_create) },
	{ CRIT_OMPT_ROW(task_schedule) },
};

const struct crit_ompt_group crit_ompt_shares = { CRIT_OMPT_GROUP(share_rows) };
const struct crit_ompt_group crit_ompt_masked = { CRIT_OMPT_GROUP(masked_rows) };
const struct crit_ompt_group crit_ompt_tasks = { CRIT_OMPT_GROUP(task_rows) };
