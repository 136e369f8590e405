/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of the verdict share: a sample, its summary, and what the sentence says. */
#ifndef CRIT_TEST_VERDICT_H
#define CRIT_TEST_VERDICT_H

#include "report/findings/summarise.h"
#include "report/tables/summary.h"
#include "tests/lib/check.h"
#include "tests/unit/report/results_sample.h"

#define MS 1000000ull

static struct results_sample sample;
static struct crit_summary summary;

static inline void summarise(void)
{
	const struct crit_summary_options options = { .critd_path = "/opt/bin/critd" };

	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
}

static inline bool says(const char *text)
{
	return CHECK_MSG(strstr(summary.sentence, text) != NULL, "\"%s\" is not in: %s", text,
			 summary.sentence);
}

static inline bool is_silent_of(const char *text)
{
	return CHECK_MSG(strstr(summary.sentence, text) == NULL, "\"%s\" is in: %s", text,
			 summary.sentence);
}

static inline void check_sum(void)
{
	double sum_s = summary.lost.useful_s;

	for (int i = 0; i < CRIT_LOSS_COUNT; i++) {
		CHECK(summary.lost.loss_s[i] >= 0);
		sum_s += summary.lost.loss_s[i];
	}
	CHECK_NEAR(sum_s, summary.lost.window_s, 1e-9);
}

#endif
