// SPDX-License-Identifier: BSD-3-Clause
// What a report says of calls and programs the user left out, and of ranks that are not there,
// and of nodes that stopped before the window.
#include "report/findings/summarise.h"
#include "report/pages/report_text.h"
#include "report/tables/summary.h"
#include "core/abi/abi_shim.h"
#include "core/base/call.h"
#include "tests/lib/check.h"
#include "tests/unit/report/results_sample.h"

static struct results_sample sample;
static struct crit_summary summary;

/* Lines of the report that say text. */
static int count_said(const char *text)
{
	int count = 0;

	for (size_t i = 0; i < summary.missing_count; i++)
		count += strstr(summary.missing[i].what, text) != NULL;
	return count;
}

static void summarise(bool is_live)
{
	const struct crit_summary_options options = { .is_live = is_live };

	crit_summary_fini(&summary);
	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
}

static void test_calls(void)
{
	results_sample_barriers(&sample);
	sample.results.omitted = 1u << CRIT_GROUP_DATATYPE | 1u << CRIT_GROUP_GROUP;
	summarise(false);
	CHECK(!summary.is_incomplete);
	CHECK_INT_EQ(summary.missing_count, 1);
	CHECK_INT_EQ(count_said("all calls of the groups datatype, group, which CRIT_CALLS"), 1);
	sample.results.omitted |= 1u << CRIT_GROUP_RMA;
	summarise(false);
	CHECK(!summary.is_incomplete);
	CHECK_INT_EQ(summary.missing_count, 2);
	CHECK_INT_EQ(count_said("all waits in calls of the groups rma, which"), 1);
	CHECK_STR_EQ(summary.missing[0].fix, "unset CRIT_CALLS");
	CHECK_INT_EQ(count_said("all calls of the groups rma, datatype, group, which"), 1);
	sample.results.omitted = (1u << CRIT_GROUP_COUNT) - 2;
	summarise(false);
	CHECK_INT_EQ(count_said("io, communicator, datatype, group, other, which"), 1);
}

/* Who called MPI_Abort is named, and not whom the launcher killed first for it. */
static void test_abort(void)
{
	results_sample_barriers(&sample);
	for (size_t i = 0; i < 2; i++) {
		sample.results.ranks[i].is_open = true;
		sample.results.ranks[i].exit_signal = 15;
		sample.results.ranks[i].exit_ns = 100 + i;
	}
	summarise(false);
	CHECK_INT_EQ(count_said("; first rank 0 ("), 1);
	sample.results.rank_calls[2].call = CRIT_MPI_Abort;
	summarise(false);
	CHECK_INT_EQ(count_said("; rank 1 ("), 1);
	CHECK_INT_EQ(count_said(") called MPI_Abort"), 1);
	CHECK_INT_EQ(count_said("killed by signal"), 0);
	sample.results.rank_calls[1].call = CRIT_MPI_Abort;
	summarise(false);
	CHECK_INT_EQ(count_said("), and 1 other, called MPI_Abort"), 1);
	sample.results.ranks[0].is_open = false; /* it ended as it should */
	summarise(false);
	CHECK_INT_EQ(
		count_said("the end of 1 of 2 ranks: they ended before MPI_Finalize; rank 1 ("), 1);
}

/* The first to end, by a signal or not; where perf events tell of ends, nobody knows how. */
static void test_ends(void)
{
	results_sample_barriers(&sample);
	for (size_t i = 0; i < 2; i++) {
		sample.results.ranks[i].is_open = true;
		sample.results.ranks[i].exit_ns = 100 - i;
	}
	sample.results.ranks[0].exit_signal = 15;
	sample.results.ranks[1].exit_status = 7;
	summarise(false);
	CHECK_INT_EQ(count_said("; first rank 1 ("), 1);
	CHECK_INT_EQ(count_said("), by itself, with status 7"), 1);
	sample.results.ranks[0].exit_ns = 98;
	summarise(false);
	CHECK_INT_EQ(count_said("; first rank 0 ("), 1);
	CHECK_INT_EQ(count_said("), killed by signal 15 (Terminated)"), 1);
	sample.results.ranks[0].is_open = false; /* it ended as it should */
	summarise(false);
	CHECK_INT_EQ(count_said("; first rank 1 ("), 1);
	sample.results.ranks[1].exit_ns = 0;
	summarise(false);
	CHECK_INT_EQ(count_said("the end of 1 of 2 ranks: they ended before MPI_Finalize"), 1);
	CHECK_INT_EQ(count_said("; first rank"), 0);
	sample.results.ranks[1].exit_ns = 100;
	sample.nodes[0].kernel_half = CRIT_HALF_PERF;
	summarise(false);
	CHECK_INT_EQ(count_said("; first rank"), 0);
}

/* Clocks differ between nodes only. */
static void test_order(void)
{
	results_sample_barriers(&sample);
	sample.results.messages.losses.early = 3;
	sample.results.messages.has_order = true;
	summarise(false);
	CHECK_INT_EQ(count_said("3 messages received before they were sent"), 1);
	CHECK_INT_EQ(count_said("clock"), 0);
	sample.nodes[1] = sample.nodes[0];
	sample.results.node_count = 2;
	summarise(false);
	CHECK_INT_EQ(count_said("the nodes' clocks are not known better than that"), 1);
}

/* What could not be found of waits, which loses no record. */
static void test_waits(void)
{
	const struct crit_summary_options options = { .no_causes = "no disk", .no_excess = "full" };

	results_sample_barriers(&sample);
	crit_summary_fini(&summary);
	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
	CHECK(!summary.is_incomplete);
	CHECK_INT_EQ(summary.missing_count, 2);
	CHECK_INT_EQ(count_said("what waits cost: no disk"), 1);
	CHECK_INT_EQ(count_said("delays, and the path's imbalance: full"), 1);
}

static void test_ranks(void)
{
	results_sample_barriers(&sample);
	sample.ranks[0].world_size = sample.ranks[1].world_size = 2;
	summarise(false);
	CHECK_INT_EQ(summary.missing_count + summary.ranks_missing, 0);
	sample.ranks[0].world_size = sample.ranks[1].world_size = 5;
	summarise(false);
	CHECK_INT_EQ(summary.ranks_missing, 3);
	CHECK_INT_EQ(count_said("3 of 5 ranks, not recorded"), 1);
	CHECK(summary.is_incomplete);
	summarise(true); /* they may still come */
	CHECK_INT_EQ(summary.ranks_missing, 0);
	sample.results.omitted = CRIT_OMITS_PROGRAMS;
	summarise(false);
	CHECK_INT_EQ(count_said("3 of 5 ranks, left out by CRIT_INCLUDE or CRIT_EXCLUDE"), 1);
	CHECK(!summary.is_incomplete);
	CHECK_INT_EQ(summary.missing_count, 1);
}

/* Two worlds; a rank that came twice, as one that was restarted, counts once. */
static void test_worlds(void)
{
	results_sample_barriers(&sample);
	sample.ranks[0].world_size = 2;
	sample.ranks[1].world_size = 4;
	sample.ranks[1].world_number = 1;
	summarise(false);
	CHECK_INT_EQ(summary.ranks_missing, 1 + 3);
	CHECK_INT_EQ(count_said("4 of 6 ranks"), 1);
	sample.ranks[1] = sample.ranks[0];
	summarise(false);
	CHECK_INT_EQ(summary.ranks_missing, 1);
	CHECK_INT_EQ(count_said("1 of 2 ranks"), 1);
}

/* What comes before a rank opens the window: tasks are recorded from their beginning on. */
static void test_before_window(void)
{
	results_sample_barriers(&sample);
	sample.nodes[0].cap_ns = sample.results.window_begin_ns - 1;
	summarise(false);
	CHECK_INT_EQ(count_said("reached its cap after 0.000 s"), 1);
	sample.nodes[0].cap_ns = 0;
	sample.nodes[0].fallback_ns = sample.results.window_begin_ns - 1;
	summarise(false);
	CHECK_INT_EQ(count_said("after 0.000 s: level fell back"), 1);
}

/* Rows the first page has, and those it says are left. */
static size_t count_on_page(void)
{
	const struct crit_text_options options = { .is_first_screen_only = true };
	size_t size = 0, rows = 0, more;
	char *text = NULL, *rest;
	FILE *out = open_memstream(&text, &size);

	crit_write_text(out, &summary, &options);
	(void)fclose(out);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *colon = strchr(line, ':');

		if (!colon || (strncmp(line, "lost", 4) != 0 && strncmp(line, "missing", 7) != 0))
			continue;
		if (!strstr(colon, " more, see Losses") || sscanf(colon, ": %zu", &more) != 1)
			more = 1;
		rows += more;
	}
	free(text);
	return rows;
}

/* More rows than a page has room for; the one that can be mended comes last. */
static void test_more(void)
{
	results_sample_hybrid(&sample);
	summarise(false);
	summary.missing_count = 0;
	for (int i = 1; i <= CRIT_MISSING_MAX; i++)
		crit_summary_add_missing(
			&summary, false, i == CRIT_MISSING_MAX ? "crit doctor" : "",
			"so much that a line is not enough to tell of all that was "
			"lost by number %d",
			i);
	CHECK_UINT_EQ(count_on_page(), CRIT_MISSING_MAX);
	crit_summary_add_missing(&summary, true, "", "and more");
	crit_summary_add_missing(&summary, false, "", "and more");
	CHECK_INT_EQ(summary.missing_count, CRIT_MISSING_MAX);
	CHECK_INT_EQ(count_said("3 more, for which"), 1);
	CHECK(summary.missing[CRIT_MISSING_MAX - 1].is_incomplete);
}

/* Nodes are of one run where they share a world, or the run's key. */
static void test_mixed_runs(void)
{
	struct crit_node_row *nodes = sample.nodes;

	results_sample_barriers(&sample);
	sample.results.node_count = 2;
	nodes[1] = nodes[0];
	(void)snprintf(nodes[0].run_key, sizeof(nodes[0].run_key), "pmi-1-2");
	(void)snprintf(nodes[1].run_key, sizeof(nodes[1].run_key), "pmi-3-4");
	summarise(false);
	CHECK_INT_EQ(count_said("recordings of 2 runs"), 0); /* the second node has no ranks */
	sample.ranks[1].node = 1;
	summarise(false);
	CHECK_INT_EQ(count_said("recordings of 2 runs"), 0);
	sample.ranks[1].world_number = 1;
	summarise(false);
	CHECK_INT_EQ(count_said("recordings of 2 runs lie together"), 1);
	CHECK(summary.is_incomplete);
	nodes[1].run_key[0] = nodes[0].run_key[0] = '\0'; /* not known */
	summarise(false);
	CHECK_INT_EQ(count_said("recordings of 2 runs"), 1);
	CHECK_INT_EQ(count_said("in two recordings"), 0);
	sample.ranks[1].world_number = 0;
	sample.ranks[1].rank = 0;
	summarise(false);
	CHECK_INT_EQ(count_said("1 rank is in two recordings"), 1);
	sample.ranks[1].world_number = 1;
	nodes[1] = nodes[0];
	(void)snprintf(nodes[0].run_key, sizeof(nodes[0].run_key), "pmix-1");
	(void)snprintf(nodes[1].run_key, sizeof(nodes[1].run_key), "pmix-1");
	summarise(false);
	CHECK_INT_EQ(count_said("recordings of 2 runs"), 0);
}

int main(void)
{
	test_calls();
	test_abort();
	test_ends();
	test_order();
	test_waits();
	test_ranks();
	test_worlds();
	test_mixed_runs();
	test_before_window();
	test_more();
	crit_summary_fini(&summary);
	return check_done();
}
