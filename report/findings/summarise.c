// SPDX-License-Identifier: BSD-3-Clause
// Makes the tables of a run, then asks each rule: the verdict first, what is missing last.
#include "report/findings/summarise.h"

#include "report/findings/send_doubt.h"
#include "report/findings/missing.h"
#include "report/findings/preempted.h"
#include "report/findings/verdict.h"

int crit_summarise(struct crit_summary *summary, const struct crit_results *results,
		   const struct crit_summary_options *options)
{
	int rc = crit_summary_init(summary, results, options);

	if (rc)
		return rc;
	crit_verdict_find(summary);
	crit_send_doubt_find(summary);
	crit_preempted_find(summary);
	crit_missing_find(summary, options);
	return 0;
}
