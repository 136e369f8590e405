// SPDX-License-Identifier: BSD-3-Clause
// Registers the OMPT tool with the OpenMP runtime, and its callbacks.
#include "ompt/tool.h"

#include <dlfcn.h>
#include <stdint.h>

#include "core/base/guard.h"
#include "core/shim/shim_process.h"
#include "ompt/waits.h"

typedef ompt_start_tool_result_t *start_tool(unsigned int omp_version, const char *runtime_version);

__attribute__((visibility("default"))) start_tool ompt_start_tool;

static bool take(ompt_set_callback_t set_callback, const struct crit_ompt_group *group)
{
	size_t taken = 0;

	while (taken < group->count) {
		const ompt_set_result_t result =
			set_callback(group->rows[taken].which, group->rows[taken].function);

		if (result != ompt_set_always && result != ompt_set_sometimes_paired)
			break;
		taken++;
	}
	if (taken == group->count)
		return true;
	for (size_t i = 0; i <= taken; i++) /* the last may be set in spite of its answer */
		(void)set_callback(group->rows[i].which, NULL);
	return false;
}

/* 0: there is no tool after all. */
static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *unused)
{
	ompt_set_callback_t set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");

	(void)device;
	(void)unused;
	if (!set_callback || !take(set_callback, &crit_ompt_parallel))
		return 0;
	crit_ompt_learn_locks((const void *)(uintptr_t)lookup);
	(void)take(set_callback, &crit_ompt_barriers); /* without it there is less to see */
	(void)take(set_callback, &crit_ompt_mutexes);
	(void)take(set_callback, &crit_ompt_shares);
	(void)take(set_callback, &crit_ompt_masked);
	(void)take(set_callback, &crit_ompt_tasks);
	return 1;
}

static void finalize(ompt_data_t *unused)
{
	(void)unused;
}

/* Only one tool wins: when it is not this one, the next in line is asked. */
ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version)
{
	static ompt_start_tool_result_t result = { initialize, finalize, { 0 } };
	CRIT_GUARD;
	start_tool *next;

	if (crit_shim_start(CRIT_FLAVOUR_OMPT))
		return &result;
	next = (start_tool *)dlsym(RTLD_NEXT, "ompt_start_tool");
	return next ? next(omp_version, runtime_version) : NULL;
}
