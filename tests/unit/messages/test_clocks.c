// SPDX-License-Identifier: BSD-3-Clause
// Nodes whose clocks differ: by their wall clocks, and as they were compared.
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"

#define T0 1000000000ull
#define PID 100u
#define SECOND 1000000000ull

struct skewed { /* a clock: T0 on the true one is T0 + ahead_ns */
	int64_t ahead_ns;
	int64_t ppm;
};

static uint64_t bend(const struct skewed *clock, uint64_t true_ns)
{
	int64_t passed_ns = (int64_t)(true_ns - T0);

	return (uint64_t)((int64_t)true_ns + clock->ahead_ns + passed_ns / 1000000 * clock->ppm);
}

/* One rank that runs from T0 until the end of its part, on a node of its own boot. */
static struct crit_maker *make_node(const char *boot, uint32_t rank, const struct skewed *clock,
				    const uint64_t part_ns[2])
{
	struct crit_maker *m = crit_maker_create(NULL);
	struct crit_kernel_head head = { .time_ns = bend(clock, T0), .flags = CRIT_KF_RUNNING };
	struct crit_rec_file file = { .cpu_count = 1,
				      .start_mono_ns = head.time_ns,
				      .start_real_ns = 1700000000000000000ull };
	struct crit_rec_rank record = { .pid = PID,
					.rank = rank,
					.size = 2,
					.open_ns = bend(clock, part_ns[0]),
					.world = "world" };

	(void)snprintf(file.boot, sizeof(file.boot), "%s", boot);
	(void)snprintf(file.host, sizeof(file.host), "node-%s", boot);
	crit_maker_file(m, file);
	crit_maker_enrol(m, (struct crit_kernel_enrol){
				    .head = head, .tid = PID, .tgid = PID, .ns_tid = PID });
	crit_maker_process(m, (struct crit_rec_process){ .pid = PID,
							 .ns_pid = PID,
							 .flavour = CRIT_FLAVOUR_MPICH,
							 .time_ns = head.time_ns });
	crit_maker_rank(m, record);
	crit_maker_close(m, (struct crit_rec_close){ .pid = PID,
						     .close_ns = bend(clock, part_ns[1]) });
	head = (struct crit_kernel_head){ .time_ns = bend(clock, part_ns[1] + 1000) };
	crit_maker_exit(m, (struct crit_kernel_exit){ .head = head, .tid = PID, .tgid = PID });
	head.state = 0x80;
	head.flags = CRIT_KF_TAG_STALE;
	crit_maker_switch(m, (struct crit_kernel_switch){ .head = head, .prev_tid = PID });
	crit_maker_gone(m, (struct crit_rec_gone){ .pid = PID, .time_ns = head.time_ns });
	return m;
}

/* node-a's clock is right; the comparison errs by error_ns and says so. */
static void compare(struct crit_maker *m, const struct skewed *clock, uint64_t true_ns,
		    int64_t error_ns)
{
	struct crit_rec_clock record = {
		.time_ns = bend(clock, true_ns),
		.offset_ns = (int64_t)(true_ns - bend(clock, true_ns)) + error_ns,
		.bound_ns = 10000,
		.reference = "node-a",
	};

	crit_maker_clock(m, record);
}

static const uint64_t parts[2][2] = { { T0 + 100, T0 + 100 * SECOND },
				      { T0 + 200, T0 + 101 * SECOND } };

struct expected {
	enum crit_clock_kind kind;
	int64_t drift_ppb;
	uint64_t bound_ns;
	uint64_t error_ns; /* of a stamp of node b, at most */
};

/* Node b is given first: the reference need not be the first file. */
static void check_nodes(struct crit_maker *b, const struct expected *expected)
{
	const struct skewed right = { 0, 0 };
	struct crit_maker *makers[] = { b, make_node("a", 0, &right, parts[0]) };
	struct crit_results *r = NULL;
	int rc = crit_analysed_makers(makers, 2, CRIT_ACTIVE_DEFAULT, &r);

	if (CHECK_INT_EQ(rc, 0) && r && CHECK_UINT_EQ(r->rank_count, 2)) {
		const struct crit_node_row *node = &r->nodes[0];
		const struct crit_rank_row *rank = &r->ranks[1];

		CHECK_STR_EQ(crit_analysed_failed_check(r), NULL);
		CHECK_INT_EQ(node->clock_kind, expected->kind);
		CHECK_NEAR((double)node->clock_drift_ppb, (double)expected->drift_ppb, 2);
		CHECK_UINT_EQ(node->clock_bound_ns, expected->bound_ns);
		CHECK_NEAR((double)(int64_t)(rank->open_ns - parts[1][0]), 0,
			   (double)expected->error_ns);
		CHECK_NEAR((double)(int64_t)(rank->close_ns - parts[1][1]), 0,
			   (double)expected->error_ns);
	}
	crit_results_destroy(r);
	crit_maker_destroy(makers[0]);
	crit_maker_destroy(makers[1]);
}

static void check_compared(void)
{
	static const struct skewed clocks[] = { { 5000 * (int64_t)SECOND, 0 },
						{ -300000000, 50 },
						{ 7, -100 } };

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		struct crit_maker *b = make_node("b", 1, &clocks[i], parts[1]);

		CHECK_CASE("compared at both ends");
		compare(b, &clocks[i], parts[1][1], 0);
		compare(b, &clocks[i], parts[1][0], 0);
		check_nodes(b, &(struct expected){ .kind = CRIT_CLOCK_COMPARED,
						   .drift_ppb = -clocks[i].ppm * 1000000000 /
								(1000000 + clocks[i].ppm),
						   .bound_ns = 10000,
						   .error_ns = 3 });
	}
}

/* Without the second comparison nobody knows of the drift; one that is absurd is not believed. */
static void check_compared_once(void)
{
	const struct skewed clock = { 3 * (int64_t)SECOND, 50 };
	struct crit_maker *b = make_node("b", 1, &clock, parts[1]);

	CHECK_CASE("compared once");
	compare(b, &clock, parts[1][0], 0);
	check_nodes(b, &(struct expected){ CRIT_CLOCK_COMPARED_ONCE, 0, 10000, 101 * 50000 });
	b = make_node("b", 1, &clock, parts[1]);
	CHECK_CASE("the second contradicts the first");
	compare(b, &clock, parts[1][0], 0);
	compare(b, &clock, parts[1][1], (int64_t)SECOND);
	check_nodes(b, &(struct expected){ CRIT_CLOCK_COMPARED_ONCE, 0, 10000, 101 * 50000 });
}

static void check_nonsense(void)
{
	const struct skewed clock = { 0, 0 };
	struct crit_maker *b = make_node("b", 1, &clock, parts[1]);
	struct crit_rec_clock record = { .offset_ns = INT64_MIN, .reference = "node-a" };

	CHECK_CASE("an offset no clock has");
	crit_maker_clock(b, record);
	check_nodes(b, &(struct expected){ CRIT_CLOCK_REFERENCE, 0, 0, 0 });
}

/* Other boots agree by their wall clocks where nobody compared them. */
static void check_wall(void)
{
	const struct skewed right = { 0, 0 };
	const struct skewed ahead = { 7000 * (int64_t)SECOND, 0 };
	struct crit_maker *makers[] = { make_node("b", 1, &ahead, parts[1]),
					make_node("a", 0, &right, parts[0]) };
	struct crit_results *r = NULL;
	int rc = crit_analysed_makers(makers, 2, CRIT_ACTIVE_DEFAULT, &r);

	CHECK_CASE("two boots");
	if (CHECK_INT_EQ(rc, 0) && r && CHECK_UINT_EQ(r->rank_count, 2)) {
		CHECK_STR_EQ(crit_analysed_failed_check(r), NULL);
		CHECK_INT_EQ(r->nodes[1].clock_kind, CRIT_CLOCK_WALL);
		CHECK_UINT_EQ(r->nodes[1].clock_bound_ns, CRIT_CLOCK_UNBOUND);
		CHECK_UINT_EQ(r->window_ns, 101 * SECOND - 100);
		CHECK_UINT_EQ(r->ranks[1].open_ns - r->ranks[0].open_ns, 100);
	}
	crit_results_destroy(r);
	crit_maker_destroy(makers[0]);
	crit_maker_destroy(makers[1]);
}

/* Who goes by the wall clock of a compared node takes over its drift, whatever its own stamps. */
static void check_wall_of_compared(void)
{
	const struct skewed compared = { -300000000, 50 };
	const struct skewed other = { 7000 * (int64_t)SECOND, 50 };
	struct crit_maker *makers[] = { make_node("b", 0, &compared, parts[0]),
					make_node("c", 1, &other, parts[1]) };
	struct crit_results *r = NULL;
	int rc;

	CHECK_CASE("the wall clock of a node that drifts");
	compare(makers[0], &compared, parts[0][0], 0);
	compare(makers[0], &compared, parts[0][1], 0);
	rc = crit_analysed_makers(makers, 2, CRIT_ACTIVE_DEFAULT, &r);
	if (CHECK_INT_EQ(rc, 0) && r && CHECK_UINT_EQ(r->rank_count, 2)) {
		CHECK_INT_EQ(r->nodes[0].clock_kind, CRIT_CLOCK_COMPARED);
		CHECK_INT_EQ(r->nodes[1].clock_kind, CRIT_CLOCK_WALL);
		CHECK_NEAR((double)(int64_t)(r->ranks[1].open_ns - parts[1][0]), 0, 3);
		CHECK_NEAR((double)(int64_t)(r->ranks[1].close_ns - parts[1][1]), 0, 3);
	}
	crit_results_destroy(r);
	crit_maker_destroy(makers[0]);
	crit_maker_destroy(makers[1]);
}

int main(void)
{
	check_compared();
	check_compared_once();
	check_nonsense();
	check_wall();
	check_wall_of_compared();
	return check_done();
}
