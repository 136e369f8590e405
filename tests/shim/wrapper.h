/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers of calls as the generator writes them, for tests that play the library around them. */
#ifndef CRIT_TESTS_SHIM_WRAPPER_H
#define CRIT_TESTS_SHIM_WRAPPER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/call.h"
#include "core/shim/shim_span.h"

#define FRAME __builtin_frame_address(0)
#define SITE __builtin_return_address(0)
#define WRAPPER __attribute__((noinline, unused))

/* body: what the library does meanwhile, or NULL. */
WRAPPER static void wrap_call(uint32_t number, enum crit_span_class span_class, void (*body)(void))
{
	const bool is_outer = crit_shim_enter(CRIT_SHIM_WHAT(number, span_class), FRAME, SITE);

	if (body)
		body();
	if (is_outer)
		crit_shim_leave();
}

WRAPPER static void wrap_poll(bool is_done)
{
	const uint32_t what = CRIT_SHIM_WHAT(CRIT_MPI_Iprobe, CRIT_CLASS_MPI_POLL);

	if (crit_shim_poll_enter(what, FRAME, SITE))
		crit_shim_poll_leave(is_done);
}

#endif
