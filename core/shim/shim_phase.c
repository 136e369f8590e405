// SPDX-License-Identifier: BSD-3-Clause
// Phases: spans that bear the name the user gave them.
#include "core/shim/shim_phase.h"

#include <stddef.h>

#include "core/base/call.h"
#include "core/shim/shim.h"
#include "core/shim/shim_construct.h"

void crit_region_begin(const char *name)
{
	const char *known = name && *name ? name : "?"; /* its end will come as well */

	if (crit_shim_start(CRIT_FLAVOUR_NONE))
		crit_shim_construct_begin(CRIT_CONSTRUCT_PHASE,
					  crit_shim_phase(known, crit_shim_region_now()), NULL, 0);
}

void crit_region_end(void)
{
	crit_shim_construct_end(CRIT_CONSTRUCT_PHASE);
}
