// SPDX-License-Identifier: BSD-3-Clause
// Time stamps of critd itself, corrected for a time namespace.
#include "collector/system/now.h"

#include <stdint.h>

#include "core/base/clock.h"

static int64_t offset_ns; /* set once, before the first run */

void crit_now_init(void)
{
	offset_ns = crit_clock_host_offset_ns();
}

uint64_t crit_now_ns(void)
{
	return crit_clock_bend(crit_clock_ns(CLOCK_MONOTONIC) + (uint64_t)offset_ns);
}
