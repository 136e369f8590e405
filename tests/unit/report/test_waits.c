// SPDX-License-Identifier: BSD-3-Clause
// Waits of a hand-filled run by system call and object.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "report/pages/hot_text.h"
#include "report/pages/what_if_text.h"
#include "analysis/symbols/system_calls.h"
#include "analysis/waits/code_keys.h"
#include "core/base/call.h"
#include "report/causes/cause_rows.h"
#include "report/causes/code_places.h"
#include "report/causes/cause_words.h"
#include "report/findings/verdict_fix.h"
#include "report/fixes/fix_words.h"
#include "tests/lib/check.h"

#define MS 1000000ull

static struct crit_thread_row threads[] = { { .pid = 10, .tid = 10, .role = CRIT_THREAD_APP },
					    { .pid = 10, .tid = 11, .role = CRIT_THREAD_APP },
					    { .pid = 20, .tid = 20, .role = CRIT_THREAD_APP } };

/* What is in the braces of a cell; ms: of which no path is known. */
#define CELL(number, kind, object, at, times, ms)                                                  \
	.call = { object, number, false, CRIT_BLOCK_OBJECT_##kind }, .thread = at, .count = times, \
	.blocked_ns = MS * (ms), .not_captured_ns = MS * (ms)

static struct crit_block_cell told[] = {
	{ CELL(SYS_read, DESCRIPTOR, 3, 0, 5, 10) },
	{ CELL(SYS_futex, FUTEX, 0x1000, 0, 1, 40) },
	{ CELL(SYS_futex, FUTEX, 0x1000, 1, 2, 20) },
	{ CELL(SYS_futex, FUTEX, 0x2000, 1, 2, 4) },
	{ CELL(CRIT_BLOCK_NO_CALL, NONE, 0, 1, 1, 1) },
	{ CELL(SYS_read, DESCRIPTOR, 3, 2, 7, 20) },
	{ CELL(SYS_futex, FUTEX, 0x1000, 2, 1, 5) },
};

static struct crit_block_cell not_told[] = { { CELL(CRIT_BLOCK_NOT_TOLD, NONE, 0, 0, 1, 10) } };

static void init(struct crit_summary *summary, struct crit_results *results,
		 struct crit_block_cell *cells, size_t count)
{
	static const struct crit_summary_options options;

	*results = (struct crit_results){ .threads = threads,
					  .thread_count = 3,
					  .blocks = { .cells = cells, .cell_count = count } };
	CHECK_INT_EQ(crit_summary_init(summary, results, &options), 0);
}

static char *text_of(const struct crit_summary *summary)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	crit_hot_text_write_waits(out, summary);
	(void)fclose(out);
	return text;
}

static void check_row(const struct crit_wait_row *row, const char *call, const char *object,
		      uint32_t thread_count, uint64_t count, uint64_t blocked_ms)
{
	char room[2][64];
	const char *on = crit_wait_object(row, room[1], sizeof(room[1]));

	CHECK_STR_EQ(crit_wait_call(row, room[0], sizeof(room[0])), call);
	CHECK_STR_EQ(on ? on : "", object);
	CHECK_UINT_EQ(row->thread_count, thread_count);
	CHECK_UINT_EQ(row->count, count);
	CHECK_UINT_EQ(row->blocked_ns, blocked_ms * MS);
}

static void check_told(void)
{
	struct crit_summary summary;
	struct crit_results results;
	char *text;

	init(&summary, &results, told, sizeof(told) / sizeof(told[0]));
	if (CHECK_UINT_EQ(summary.waits.count, 5)) {
		check_row(&summary.waits.rows[0], "futex", "object 1", 2, 3, 60);
		check_row(&summary.waits.rows[1], "read", "fd 3", 2, 12, 30);
		check_row(&summary.waits.rows[2], "futex", "object 2", 1, 1,
			  5); /* another process's */
		check_row(&summary.waits.rows[3], "futex", "object 3", 1, 2, 4);
		check_row(&summary.waits.rows[4], "page fault", "", 1, 1, 1);
	}
	CHECK_UINT_EQ(summary.waits.blocked_ns, 100 * MS);
	text = text_of(&summary);
	CHECK(strstr(text, "    0.0600  60.0%         3       2  futex object 1\n"));
	CHECK(strstr(text, "    0.0300  30.0%        12       2  read fd 3\n"));
	CHECK(strstr(text, "    0.0010   1.0%         1       1  page fault\n"));
	CHECK(!strstr(text, "1000") && !strstr(text, "2000")); /* no addresses */
	free(text);
	crit_summary_fini(&summary);
}

static void check_not_told(void)
{
	struct crit_summary summary;
	struct crit_results results;
	char *text;

	init(&summary, &results, not_told, 1);
	text = text_of(&summary);
	CHECK(strstr(text, "Waits by path: not known"));
	free(text);
	crit_summary_fini(&summary);
	init(&summary, &results, NULL, 0); /* nobody was blocked */
	text = text_of(&summary);
	CHECK_STR_EQ(text, "");
	free(text);
	crit_summary_fini(&summary);
}

static void check_names(void)
{
	CHECK_STR_EQ(crit_system_call_name(SYS_clock_nanosleep), "clock_nanosleep");
	CHECK_STR_EQ(crit_system_call_name(SYS_futex), "futex");
	CHECK(!crit_system_call_name(-1));
	CHECK(!crit_system_call_name(30000));
}

/* Where code lies between phases, whose places are names. */
static void check_words(uint16_t before, const char *before_phase, uint16_t after,
			const char *after_phase, const char *words)
{
	const struct crit_code_end begin = { .call = before, .place.function = before_phase };
	const struct crit_code_end end = { .call = after, .place.function = after_phase };
	const bool is_one = before == after && strcmp(before_phase, after_phase) == 0;
	const struct crit_code_place place = { .before = &begin, .after = is_one ? &begin : &end };
	const struct crit_cause_row row = { .place = &place };
	char text[CRIT_CAUSE_WHAT_BYTES];

	CHECK_STR_EQ(crit_cause_what(&row, text), words);
}

static void test_phases(void)
{
	const uint16_t begin = CRIT_CONSTRUCT_PHASE, end = CRIT_CODE_PHASE_END;

	check_words(begin, "outer", end, "outer", "from begin to end of phase outer");
	check_words(begin, "outer", begin, "inner", "between phase outer and phase inner");
	check_words(end, "inner", end, "outer",
		    "between the end of phase inner and the end of phase outer");
	check_words(begin, "outer", begin, "outer", "between phase outer and the next");
	check_words(begin, "outer", end, "inner", "between phase outer and the end of phase inner");
}

static char *causeless_text(const struct crit_costs *costs)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	crit_fix_causeless_write(out, costs);
	(void)fclose(out);
	return text;
}

/* Waiting of which no cause is known is told where it is much of the waiting, and of the run. */
static void test_causeless(void)
{
	struct crit_costs costs = { .waiting = 1000 * MS,
				    .window_ns = 2000 * MS,
				    .actless_ns = 900 * MS,
				    .actless_most_call = CRIT_MPI_Win_wait };
	char *text = causeless_text(&costs);

	CHECK(strstr(text, "of 90.0% of the waiting (0.900 s, most of it in MPI_Win_wait) "
			   "no cause is known:\n"));
	free(text);
	costs.actless_most_call = CRIT_CODE_IDLE;
	text = causeless_text(&costs);
	CHECK(strstr(text, "most of it in idle time of OpenMP)"));
	free(text);
	costs.actless_ns = 49 * MS;
	text = causeless_text(&costs);
	CHECK_STR_EQ(text, "");
	free(text);
	costs.waiting = costs.actless_ns = 19 * MS;
	text = causeless_text(&costs);
	CHECK_STR_EQ(text, "");
	free(text);
	text = causeless_text(NULL);
	CHECK_STR_EQ(text, "");
	free(text);
}

static char *even_text(const struct crit_fix_table *table)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	crit_fix_even_write(out, table);
	(void)fclose(out);
	return text;
}

/* Where it is not known who ended much of the waiting, balance is not foretold to lose. */
static void test_unsure(void)
{
	struct crit_costs costs = { .waiting = 1000 * MS,
				    .window_ns = 2000 * MS,
				    .endless_ns = 200 * MS };
	struct crit_fix_row rows[] = { { .kind = CRIT_FIX_BALANCED, .gain_ns = 1, .share = 0.01 },
				       { .kind = CRIT_FIX_NO_TRANSFER, .gain_ns = -1 },
				       { .kind = CRIT_FIX_ALL_BALANCED, .gain_ns = -2 },
				       { .kind = CRIT_FIX_BALANCED, .gain_ns = -3 },
				       { .kind = CRIT_FIX_WISHES, .gain_ns = -4 } };
	struct crit_fix_table table = { .rows = rows, .row_count = 5, .costs = &costs };
	char *text = even_text(&table);

	CHECK_STR_EQ(text, "  the cause of 20.0% of the waiting (0.200 s) is not known: balanced "
			   "code may gain more than foretold\n");
	free(text);
	costs.endless_ns--;
	text = even_text(&table);
	CHECK(strstr(text, "nothing stands out to balance: best single fix at most 1.0%"));
	free(text);
	crit_fix_table_omit_losses(&table);
	CHECK_UINT_EQ(table.row_count, 5);
	costs.endless_ns++;
	costs.window_ns = 10001 * MS;
	CHECK(!crit_fix_is_unsure(&costs));
	costs.window_ns = 10000 * MS;
	CHECK(crit_fix_is_unsure(&costs));
	crit_fix_table_omit_losses(&table);
	if (CHECK_UINT_EQ(table.row_count, 3)) {
		CHECK_INT_EQ(rows[0].gain_ns, 1);
		CHECK_INT_EQ(rows[1].gain_ns, -1);
		CHECK_INT_EQ(rows[2].gain_ns, -4);
	}
	CHECK(!crit_fix_is_unsure(NULL));
}

static char *what_if_text(const struct crit_fix_table *table, const struct crit_summary *summary)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	crit_what_if_text_write(out, table, summary);
	(void)fclose(out);
	return text;
}

/* Where more threads than CPUs work, what-if points to the option that has them share these. */
static void test_sharing(void)
{
	struct crit_node_row node = { .usable_cpus = 2 };
	struct crit_fix_row row = { .kind = CRIT_FIX_ALL_BALANCED, .gain_ns = -1, .share = -1e-9 };
	struct crit_fix_table table = { .rows = &row, .row_count = 1 };
	struct crit_summary summary;
	struct crit_results results;
	char *text;

	init(&summary, &results, NULL, 0);
	results.nodes = &node;
	results.node_count = 1;
	summary.lost = (struct crit_lost_time){ .is_valid = true,
						.threads_per_cpu = 1,
						.crowded_threads = 2 };
	text = what_if_text(&table, &summary);
	CHECK(!strstr(text, "--cpus"));
	CHECK(!strstr(text, "-0.0"));
	free(text);
	summary.lost.crowded_threads = 4;
	summary.lost.threads_per_cpu = 2;
	text = what_if_text(&table, &summary);
	CHECK(strstr(text, "\n  4 threads share 2 CPUs, ") && strstr(text, "with --cpus=2 "));
	free(text);
	table.is_on_cpus = true;
	text = what_if_text(&table, &summary);
	CHECK(!strstr(text, "--cpus"));
	free(text);
	results.nodes = NULL;
	results.node_count = 0;
	crit_summary_fini(&summary);
}

static void test_cut(void)
{
	struct crit_cause_table table = { .met_count = 40 };
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	crit_cause_cut_write(out, &table);
	(void)fflush(out);
	CHECK_STR_EQ(text, "");
	table.cut_count = 3;
	crit_cause_cut_write(out, &table);
	(void)fclose(out);
	CHECK(strstr(text, "at 3 of 40 meetings and messages"));
	free(text);
}

/*
 * One is named, and who was late computed longer than the best place gains, 0.09 s, or balanced
 * sums do, 0.1 s.
 */
static void check_late(struct crit_summary *summary, struct crit_cause_table *causes,
		       char text[CRIT_CAUSE_WHAT_BYTES])
{
	double gain_s = 0;

	summary->unit = CRIT_UNIT_RANKS;
	CHECK(isinf(crit_verdict_late_gain(summary))); /* nobody has met */
	CHECK(crit_verdict_fix(summary, text, CRIT_CAUSE_WHAT_BYTES, &gain_s));
	summary->lost.window_s = 1;
	causes->met_count = 40;
	causes->late_ns = 119 * MS;
	CHECK(crit_verdict_fix(summary, text, CRIT_CAUSE_WHAT_BYTES, &gain_s));
	CHECK_NEAR(crit_verdict_late_gain(summary), 0.119, 1e-9);
	summary->lost.gain_s = 0.148;
	CHECK(isinf(crit_verdict_late_gain(summary))); /* that is nearly the bound */
	causes->late_ns = 121 * MS;
	CHECK(!crit_verdict_fix(summary, text, CRIT_CAUSE_WHAT_BYTES, &gain_s));
	CHECK_STR_EQ(text, "");
	summary->lost.gain_s = 0.119; /* nor is more to be gained than the bound */
	CHECK(crit_verdict_fix(summary, text, CRIT_CAUSE_WHAT_BYTES, &gain_s));
	summary->lost.gain_s = 0.3;
	causes->cut_count = 5; /* of too many it is not known what they computed */
	CHECK(crit_verdict_fix(summary, text, CRIT_CAUSE_WHAT_BYTES, &gain_s));
	CHECK(isinf(crit_verdict_late_gain(summary)));
	causes->cut_count = 4;
	summary->lost.loss_s[CRIT_LOSS_CPUS] = 0.05; /* they lacked CPUs */
	CHECK(crit_verdict_fix(summary, text, CRIT_CAUSE_WHAT_BYTES, &gain_s));
	CHECK(isinf(crit_verdict_late_gain(summary)));
	summary->lost.loss_s[CRIT_LOSS_CPUS] = 0.049;
	CHECK(!crit_verdict_fix(summary, text, CRIT_CAUSE_WHAT_BYTES, &gain_s));
	causes->late_ns = 70 * MS; /* sums gain more */
	CHECK_NEAR(crit_verdict_late_gain(summary), 0.1, 1e-9);
}

/* Where nobody stands out, but balance in each step would gain much, no place does it alone. */
static void test_by_steps(void)
{
	static const struct crit_code_end outside;
	const struct crit_code_place place = { .before = &outside, .after = &outside };
	struct crit_fix_row rows[] = {
		{ .kind = CRIT_FIX_BALANCED, .place = &place, .gain_ns = 90 * MS },
		{ .kind = CRIT_FIX_ALL_BALANCED, .gain_ns = 100 * MS },
	};
	const struct crit_costs costs = { .window_ns = 1000 * MS };
	const struct crit_code_place elsewhere = place;
	struct crit_cause_row late[] = {
		{ .place = &place, .has_delay = true, .delay_ns = 70 * MS },
		{ .place = &place, .has_delay = true, .delay_ns = 50 * MS },
		{ .place = &place, .delay_ns = 1 * MS }, /* not known */
		{ .place = &place, .is_cpu = true, .has_delay = true, .delay_ns = 2 * MS },
		{ .place = &place, .is_blocked = true, .has_delay = true, .delay_ns = 4 * MS },
		{ .place = &elsewhere, .has_delay = true, .delay_ns = 8 * MS },
	};
	struct crit_cause_table causes = { .costs = &costs };
	struct crit_fix_table fixes = { .rows = rows, .row_count = 2 };
	char text[CRIT_CAUSE_WHAT_BYTES];
	struct crit_summary summary;
	struct crit_results results;
	double gain_s = 0;

	init(&summary, &results, NULL, 0);
	results.window_ns = 1000 * MS;
	summary.causes = &causes;
	summary.fixes = &fixes;
	summary.lost = (struct crit_lost_time){ .is_valid = true, .gain_s = 0.19 };
	CHECK(crit_verdict_fix(&summary, text, sizeof(text), &gain_s));
	CHECK_STR_EQ(text, " from its begin to its end");
	CHECK_NEAR(gain_s, 0.09, 1e-9);
	causes.rows = late; /* who is late there, by turns, is so by more than sums tell */
	causes.row_count = sizeof(late) / sizeof(late[0]);
	CHECK(crit_verdict_fix(&summary, text, sizeof(text), &gain_s));
	CHECK_NEAR(gain_s, 0.07 + 0.05, 1e-9);
	late[1].delay_ns = 0; /* it is not, by turns */
	CHECK(crit_verdict_fix(&summary, text, sizeof(text), &gain_s));
	CHECK_NEAR(gain_s, 0.09, 1e-9);
	causes.row_count = 0;
	summary.lost.gain_s = 0.21;
	CHECK(!crit_verdict_fix(&summary, text, sizeof(text), &gain_s));
	CHECK_STR_EQ(text, "");
	summary.lost.named_count = 1;
	CHECK(crit_verdict_fix(&summary, text, sizeof(text), &gain_s));
	check_late(&summary, &causes, text);
	summary.causes = NULL;
	summary.fixes = NULL;
	crit_summary_fini(&summary);
}

/* What threads lack CPUs while they wait for others costs nothing. */
static void test_cpus_gain(void)
{
	struct crit_fix_row rows[] = {
		{ .kind = CRIT_FIX_NO_OVERSUBSCRIPTION, .gain_ns = 30 * MS },
		{ .kind = CRIT_FIX_NO_PREEMPTION, .gain_ns = 15 * MS },
	};
	struct crit_costs costs = { .window_ns = 1000 * MS, .waiting = 1000 * MS };
	struct crit_cause_table causes = { .costs = &costs };
	struct crit_fix_table fixes = { .rows = rows, .row_count = 2 };
	struct crit_summary summary;
	struct crit_results results;

	init(&summary, &results, NULL, 0);
	results.window_ns = 1000 * MS;
	CHECK(crit_verdict_cpus_gain(&summary, 0.05)); /* nothing is foretold */
	summary.causes = &causes;
	summary.fixes = &fixes;
	CHECK(!crit_verdict_cpus_gain(&summary, 0.05));
	rows[1].gain_ns = 21 * MS;
	CHECK(crit_verdict_cpus_gain(&summary, 0.05));
	fixes.row_count = 1; /* what others took is not known */
	CHECK(crit_verdict_cpus_gain(&summary, 0.1));
	fixes.row_count = 2;
	CHECK(!crit_verdict_cpus_gain(&summary, 0.1));
	costs.endless_ns = 200 * MS;
	CHECK(crit_verdict_cpus_gain(&summary, 0.1));
	summary.causes = NULL;
	summary.fixes = NULL;
	crit_summary_fini(&summary);
}

int main(void)
{
	test_by_steps();
	test_cpus_gain();
	check_told();
	check_not_told();
	check_names();
	test_phases();
	test_causeless();
	test_unsure();
	test_cut();
	test_sharing();
	return check_done();
}
