// SPDX-License-Identifier: BSD-3-Clause
// What a report advises where OpenMP threads spin while others want their CPUs, and where the
// kernel half has no samples.
#include <errno.h>
#include <string.h>

#include "report/findings/summarise.h"
#include "report/tables/summary.h"
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"
#include "tests/maker/maker.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT
#define WORKER 101u

static void begin(struct crit_maker *m, uint32_t stream, uint64_t at_ns, uint32_t call,
		  uint64_t arg)
{
	crit_maker_construct(m, stream, at_ns, (struct crit_maker_construct){ call, 1, 0x1, arg });
}

/*
 * A team of two from 20 to 100 ms: the worker spins in the barrier from 30 on, the main thread has
 * work to do and no CPU from 40 to 60.  flags: of the process.
 */
static struct crit_results *spin(uint16_t flags)
{
	struct crit_maker *m = crit_act_begin("node0");
	uint32_t main_stream, worker;

	crit_act_enrol(m, 1 * MS, ROOT);
	crit_act_start(m, 1 * MS, WORKER, ROOT, 1);
	main_stream = crit_act_rank(m, ROOT, 0, 10 * MS);
	crit_maker_process(m, (struct crit_rec_process){ .pid = ROOT,
							 .ns_pid = ROOT,
							 .flavour = CRIT_FLAVOUR_MPICH,
							 .has_memfd = 1,
							 .flags = flags,
							 .time_ns = 9 * MS });
	worker = crit_act_claim(m, ROOT, WORKER, 10 * MS);
	crit_maker_worker(m, worker, 10 * MS);
	begin(m, main_stream, 20 * MS, CRIT_CONSTRUCT_PARALLEL, CRIT_INSTANCE_PRIMARY | 1);
	begin(m, worker, 20 * MS, CRIT_CONSTRUCT_PARALLEL, 1);
	begin(m, worker, 30 * MS, CRIT_CONSTRUCT_IMPLICIT_BARRIER, 0);
	crit_act_out(m, 40 * MS, ROOT, 0, 0);
	crit_act_in(m, 60 * MS, ROOT, 0);
	crit_maker_leave(m, main_stream, 100 * MS, CRIT_CONSTRUCT_PARALLEL);
	crit_act_close(m, ROOT, main_stream, 100 * MS);
	return crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
}

static bool is_advised(uint16_t flags)
{
	const struct crit_summary_options options = { .is_live = true };
	struct crit_results *results = spin(flags);
	struct crit_summary summary;
	bool is_found = false;

	CHECK_INT_EQ(crit_summarise(&summary, results, &options), 0);
	for (size_t i = 0; i < summary.missing_count; i++)
		is_found |= strcmp(summary.missing[i].fix, "OMP_WAIT_POLICY=passive") == 0;
	crit_summary_fini(&summary);
	crit_results_destroy(results);
	return is_found;
}

/* A kernel half without its sampling clocks is as full as one with them. */
static void lack_samples(void)
{
	const struct crit_summary_options options = { .is_live = true };
	struct crit_maker *m = crit_maker_create(NULL);
	struct crit_results *results;
	struct crit_summary summary;
	bool is_told = false;

	crit_maker_file(m, (struct crit_rec_file){ .host = "node0", .perf_status = -EACCES });
	results = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_INT_EQ(crit_summarise(&summary, results, &options), 0);
	for (size_t i = 0; i < summary.missing_count; i++)
		is_told |= !summary.missing[i].is_incomplete &&
			   strcmp(summary.missing[i].fix, "crit doctor") == 0 &&
			   strcmp(summary.missing[i].what, "samples on node0: no perf events of "
							   "whole CPUs: Permission denied") == 0;
	CHECK(is_told);
	crit_summary_fini(&summary);
	crit_results_destroy(results);
}

int main(void)
{
	lack_samples();
	CHECK(is_advised(0)); /* as in recordings that do not tell */
	CHECK(is_advised(CRIT_PF_PMPI_IN_FRONT));
	CHECK(!is_advised(CRIT_PF_OMP_PASSIVE));
	return check_done();
}
