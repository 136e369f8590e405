// SPDX-License-Identifier: BSD-3-Clause
// What a report advises where a rank sleeps as often as it asks MPI.
#include <sys/syscall.h>

#include "core/base/call.h"
#include "tests/unit/report/test_verdict.h"

struct sleeps {
	uint64_t questions, sleeps, slept_ms;
	int16_t call;
	const char *setting; /* NULL: nothing is advised */
};

/* Rank 1 sleeps in a window of 1300 ms. */
static void judge(const struct sleeps *sleeps)
{
	struct crit_block_cell cell = { .call = { .number = sleeps->call },
					.thread = 1,
					.count = sleeps->sleeps,
					.blocked_ns = sleeps->slept_ms * MS };
	const char *found = NULL;

	results_sample_barriers(&sample);
	sample.threads[1].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER] = sleeps->slept_ms * MS;
	sample.threads[1].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] -=
		sleeps->slept_ms * MS;
	sample.threads[1].idle_blocked_ns = sleeps->slept_ms * MS;
	sample.rank_calls[0] = (struct crit_rank_call_row){ .rank_row = 1,
							    .call = CRIT_MPI_Test,
							    .visits = sleeps->questions };
	sample.results.rank_call_count = 1;
	sample.results.blocks.cells = &cell;
	sample.results.blocks.cell_count = 1;
	summarise();
	for (size_t i = 0; i < summary.missing_count; i++)
		if (strncmp(summary.missing[i].fix, "CRIT_POLL_GAP", 13) == 0)
			found = summary.missing[i].fix;
	CHECK(!summary.is_incomplete);
	if (CHECK(!found == !sleeps->setting) && found)
		CHECK_STR_EQ(found, sleeps->setting);
	sample.results.blocks = (struct crit_block_results){ 0 };
	crit_summary_fini(&summary);
}

int main(void)
{
	static const struct sleeps cases[] = {
		{ 1000, 1000, 250, SYS_clock_nanosleep, "CRIT_POLL_GAP=1000000" },
		{ 1900, 1000, 250, SYS_nanosleep, "CRIT_POLL_GAP=1000000" },
		{ 501, 1000, 129, SYS_nanosleep,
		  NULL }, /* below 5 % of the window, for each rank */
		{ 501, 1000, 131, SYS_nanosleep, "CRIT_POLL_GAP=1000000" },
		{ 5000, 5000, 250, SYS_nanosleep, "CRIT_POLL_GAP=100000" },
		{ 20, 20, 600, SYS_nanosleep, "CRIT_POLL_GAP=100000000" },
		{ 2100, 1000, 250, SYS_nanosleep, NULL }, /* it asks without sleeping */
		{ 400, 1000, 250, SYS_nanosleep, NULL }, /* it sleeps without asking */
		{ 9, 9, 600, SYS_nanosleep, NULL },
		{ 1000, 1000, 250, SYS_fsync, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_CASE("%zu", i);
		judge(&cases[i]);
	}
	CHECK_CASE("%s", "");
	return check_done();
}
