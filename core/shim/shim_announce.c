// SPDX-License-Identifier: BSD-3-Clause
// Calls whose span another wrapper opens than the one that was called.
#include "core/shim/shim.h"
#include "core/shim/shim_state.h"

#define FRAME_REACH (256u << 10) /* as far below its caller a wrapper may stand */

static bool is_below(const void *frame, const void *caller)
{
	return (uintptr_t)frame < (uintptr_t)caller &&
	       (uintptr_t)caller - (uintptr_t)frame < FRAME_REACH;
}

bool crit_shim_announce(const void *frame)
{
	struct crit_thread *thread = &crit_thread;

	if (is_below(frame, thread->announced_frame))
		return false;
	thread->announced_frame = frame;
	return true;
}

void crit_shim_announce_end(void)
{
	crit_thread.announced_frame = NULL;
}

const void *crit_shim_caller(const void *frame)
{
	const void *announced = crit_thread.announced_frame;

	return is_below(frame, announced) ? announced : frame;
}
