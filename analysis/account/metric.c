// SPDX-License-Identifier: BSD-3-Clause
// Tables of the four rules that say which threads are active.
#include "analysis/account/metric.h"

bool crit_metric_is_active(enum crit_active_rule rule, enum crit_kernel_state state,
			   enum crit_span_class span_class)
{
	bool is_on = state == CRIT_STATE_RUNNING || state == CRIT_STATE_RUNNABLE;

	if (span_class == CRIT_CLASS_SETUP)
		return false;
	if (rule == CRIT_ACTIVE_KERNEL)
		return is_on;
	if (!is_on && state != CRIT_STATE_ASSUMED)
		return false;
	if (rule == CRIT_ACTIVE_POLL && span_class == CRIT_CLASS_MPI_POLL)
		return true;
	if (rule == CRIT_ACTIVE_MAY_WAIT && span_class == CRIT_CLASS_MPI_MAY_WAIT)
		return true;
	return !crit_metric_is_waiting_class(span_class);
}
