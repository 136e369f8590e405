// SPDX-License-Identifier: BSD-3-Clause
// Several analysis processes yield the results of one, to the last bit, however time and nodes are
// distributed.
#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/analyse.h"
#include "analysis/account/engine.h"
#include "analysis/replay/tracer.h"
#include "core/abi/abi_blocked.h"
#include "core/base/array.h"
#include "core/base/err.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/lib/cluster.h"
#include "tests/lib/order.h"
#include "tests/maker/acts.h"
#include "tests/sim/synthetic.h"
#include "tests/lib/told.h"
#include "tests/sim/clocks.h"
#include "tests/sim/teams.h"

#ifdef __SANITIZE_THREAD__ /* slow there, and every seed takes the same locks */
#define SEEDS 10
#elif defined(__SANITIZE_ADDRESS__)
#define SEEDS 20
#else
#define SEEDS 60
#endif

#define NODES 6u

struct files { /* the recordings of a run */
	size_t count;
	int fds[NODES];
	char names[NODES][32];
	const char *paths[NODES];
};

static void add_file(struct files *files, struct crit_maker *m)
{
	size_t at = files->count++;

	files->fds[at] = crit_maker_memfd(m);
	(void)snprintf(files->names[at], sizeof(files->names[at]), "/proc/self/fd/%d",
		       files->fds[at]);
	files->paths[at] = files->names[at];
	crit_maker_destroy(m);
}

static void close_files(struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		close(files->fds[i]);
	files->count = 0;
}

static uint64_t samples_seen, edges_seen;

struct digests { /* of results */
	uint64_t all; /* but samples */
	uint64_t samples;
};

/*
 * Each thread is told of by the one analysis process that replays its node, as by a process that
 * replays all.
 */
static void check_told(const struct crit_test_crew *crew, const struct crit_test_told *parts,
		       const struct crit_test_told *alone)
{
	CHECK(parts[0].communicators == alone->communicators);
	for (size_t i = 0; i < alone->thread_count; i++) {
		uint64_t sum = 0;
		uint32_t peer, tellers = 0;

		for (peer = 0; peer < crew->transport; peer++) {
			tellers += parts[peer].sums && parts[peer].sums[i];
			sum += parts[peer].sums ? parts[peer].sums[i] : 0;
		}
		CHECK_MSG(sum == alone->sums[i] && tellers <= 1,
			  "%u peers, rounds of %zu: thread %zu is told by %u", crew->transport,
			  crew->round_steps, i, tellers);
	}
}

/* Process 0 is told of all nodes, as one process is: each call, in its order. */
static void check_gathered(const struct files *files, struct crit_test_crew *crew,
			   const struct crit_test_order *alone)
{
	struct crit_test_order order = { 0 };
	const struct crit_trace_sink sink = crit_test_order_sink(&order);
	const struct crit_listener listener = crit_test_order_listener(&order);
	struct crit_results *r = NULL;

	crew->sinks = &sink;
	crew->listeners = &listener;
	crew->is_gathered = true;
	CHECK_INT_EQ(crit_test_crew_analyse(crew, files->paths, files->count, &r), 0);
	CHECK_MSG(order.sum == alone->sum,
		  "%u peers, rounds of %zu: %llu calls and %llu edges told, not %llu and %llu",
		  crew->transport, crew->round_steps, (unsigned long long)order.calls,
		  (unsigned long long)order.edges, (unsigned long long)alone->calls,
		  (unsigned long long)alone->edges);
	crit_results_destroy(r);
	crew->sinks = NULL;
	crew->listeners = NULL;
	crew->is_gathered = false;
}

/* What one process tells, in its order. */
static void listen_alone(const struct files *files, enum crit_active_rule rule,
			 struct crit_test_order *ret_order)
{
	const struct crit_trace_sink sink = crit_test_order_sink(ret_order);
	const struct crit_listener listener = crit_test_order_listener(ret_order);
	const struct crit_analysis_options options = { .rule = rule,
						       .trace = &sink,
						       .listener = &listener };
	struct crit_results *r = NULL;
	struct crit_err err;

	*ret_order = (struct crit_test_order){ 0 };
	CHECK_INT_EQ(crit_analyse(files->paths, files->count, &options, &r, &err), 0);
	edges_seen += ret_order->edges;
	crit_results_destroy(r);
}

static void check_crew(const struct files *files, struct crit_test_crew *crew,
		       const struct digests *digests, const struct crit_test_told *alone)
{
	struct crit_trace_sink sinks[CRIT_TEST_CLUSTER_MAX];
	struct crit_test_told parts[CRIT_TEST_CLUSTER_MAX];
	struct crit_results *r = NULL;

	for (uint32_t i = 0; i < crew->transport; i++)
		crit_test_told_sink(&parts[i], &sinks[i]);
	crew->sinks = alone ? sinks : NULL;
	if (CHECK_INT_EQ(crit_test_crew_analyse(crew, files->paths, files->count, &r), 0) && r) {
		CHECK_MSG(crit_analysed_digest(r) == digests->all, "%u peers, rounds of %zu differ",
			  crew->transport, crew->round_steps);
		CHECK_MSG(crit_analysed_samples_digest(r) == digests->samples,
			  "%u peers, rounds of %zu: samples differ", crew->transport,
			  crew->round_steps);
		if (alone)
			check_told(crew, parts, alone);
	}
	crit_results_destroy(r);
	for (uint32_t i = 0; i < crew->transport; i++)
		crit_test_told_fini(&parts[i]);
}

/* What an analysis leaves to the next one changes no result, whatever rule came before. */
static void check_index(const struct files *files, enum crit_active_rule rule, uint64_t digest)
{
	const enum crit_active_rule rules[] = { rule, CRIT_ACTIVE_MAY_WAIT, rule };
	struct crit_analysis_options options = { .index = crit_run_index_create() };
	struct crit_err err;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct crit_results *r = NULL;

		options.rule = rules[i];
		CHECK_INT_EQ(crit_analyse(files->paths, files->count, &options, &r, &err), 0);
		if (r && rules[i] == rule)
			CHECK_MSG(crit_analysed_digest(r) == digest, "analysis %zu differs", i);
		crit_results_destroy(r);
	}
	crit_run_index_destroy(options.index);
}

/*
 * Compares crews of many kinds with one process.  The shortest rounds are of least_steps: where a
 * run is long, rounds of one step each are many, and of that kind there are enough in short runs.
 */
static void check_crews(const struct files *files, enum crit_active_rule rule, size_t least_steps)
{
	const size_t rounds[] = { least_steps, 7 * least_steps, 100 * least_steps, 0 };
	struct crit_analysis_options options = { .rule = rule };
	struct crit_results *r = NULL;
	struct crit_trace_sink sink;
	struct crit_test_told told;
	struct crit_err err;
	struct crit_test_order order;
	struct digests digests;

	crit_test_told_sink(&told, &sink);
	options.trace = &sink;
	if (!CHECK_INT_EQ(crit_analyse(files->paths, files->count, &options, &r, &err), 0) || !r)
		return;
	CHECK_UINT_EQ(told.begins, 1);
	digests.all = crit_analysed_digest(r);
	digests.samples = crit_analysed_samples_digest(r);
	samples_seen += r->samples.count;
	crit_results_destroy(r);
	check_index(files, rule, digests.all);
	listen_alone(files, rule, &order);
	for (uint32_t transport = 1; transport <= 5; transport++) {
		struct crit_test_crew crew = { .transport = transport,
					       .round_steps = rounds[transport % 4],
					       .rule = rule,
					       .blind = CRIT_NONE };

		check_crew(files, &crew, &digests, NULL);
		check_crew(files, &crew, &digests, &told);
		check_gathered(files, &crew, &order);
	}
	crit_test_told_fini(&told);
}

static void check_files(const struct files *files, enum crit_active_rule rule)
{
	check_crews(files, rule, 1);
}

static void check_scenario(uint64_t seed)
{
	struct crit_scenario_shape shape = crit_scenario_draw(seed, seed % 10 ? 150 : 1500);
	struct crit_scenario *s = crit_scenario_simulate(&shape);
	const struct crit_maker_options options = { .samples = seed };
	enum crit_active_rule rule = (enum crit_active_rule)(seed % CRIT_ACTIVE_COUNT);
	struct files files = { 0 };

	CHECK_CASE("seed %llu, %u nodes", (unsigned long long)seed, s->node_count);
	if (rule == CRIT_ACTIVE_KERNEL)
		rule = CRIT_ACTIVE_DEFAULT;
	for (uint32_t node = 0; node < s->node_count; node++)
		add_file(&files, crit_scenario_record(s, node, &options));
	check_crews(&files, rule, seed % 10 ? 1 : 10);
	close_files(&files);
	crit_scenario_destroy(s);
}

static void check_synthetic(const struct crit_synthetic *spec)
{
	struct files files = { 0 };

	CHECK_CASE("%u nodes, %u ranks, %u threads", spec->nodes, spec->ranks, spec->threads);
	for (uint32_t node = 0; node < spec->nodes; node++) {
		struct crit_maker *m =
			crit_maker_create(&(struct crit_maker_options){ .samples = node + 1 });

		crit_synthetic_write(spec, node, m);
		add_file(&files, m);
	}
	check_crews(&files, CRIT_ACTIVE_DEFAULT, 50);
	close_files(&files);
}

/* A process starts a thread, and waits in pthread_join until it ends. */
static struct crit_maker *make_join(uint32_t node)
{
	static const struct crit_kernel_call join = { .argument_2 = FUTEX_WAIT,
						      .number = SYS_futex };
	const uint64_t from_ns = (10 + node) * CRIT_ACT_MS, until_ns = from_ns + 20 * CRIT_ACT_MS;
	struct crit_kernel_blocked blocked = {
		.switched = { .head = { .kind = CRIT_K_SWITCH,
					.flags = CRIT_KF_PREV_MEMBER | CRIT_KF_CALL,
					.state = CRIT_ACT_SLEEPING,
					.time_ns = from_ns },
			      .prev_tid = CRIT_ACT_ROOT },
		.call = join
	};
	char host[16];
	struct crit_maker *m;

	(void)snprintf(host, sizeof(host), "node%u", node);
	m = crit_act_begin(host);
	crit_act_enrol(m, CRIT_ACT_MS, CRIT_ACT_ROOT);
	crit_act_start(m, 2 * CRIT_ACT_MS, 200, CRIT_ACT_ROOT, 1);
	crit_maker_kernel(m, &blocked.switched.head, sizeof(blocked));
	crit_maker_wake(m, (struct crit_kernel_wake){
				   .head = { .time_ns = until_ns, .state = CRIT_WAKER_MEMBER },
				   .tid = CRIT_ACT_ROOT,
				   .waker_tid = 200 });
	crit_act_in(m, until_ns, CRIT_ACT_ROOT, 0);
	crit_act_end(m, until_ns + 1000, 200, CRIT_ACT_ROOT, 1);
	crit_act_end(m, until_ns + 10 * CRIT_ACT_MS, CRIT_ACT_ROOT, CRIT_ACT_ROOT, 0);
	crit_maker_foot(m, (struct crit_rec_foot){ .time_ns = until_ns + 11 * CRIT_ACT_MS });
	return m;
}

/* Without ranks, on each node a thread waits for the end of another one. */
static void test_joins(void)
{
	const struct crit_analysis_options options = { .rule = CRIT_ACTIVE_DEFAULT };
	struct files files = { 0 };
	struct crit_results *r = NULL;
	struct crit_err err;

	CHECK_CASE("%s", "joins on three nodes");
	for (uint32_t node = 0; node < 3; node++)
		add_file(&files, make_join(node));
	CHECK_INT_EQ(crit_analyse(files.paths, files.count, &options, &r, &err), 0);
	if (CHECK(r != NULL) && CHECK_UINT_EQ(r->await_count, 3)) {
		CHECK_UINT_EQ(r->awaits[2].until_ns - r->awaits[2].since_ns, 20 * CRIT_ACT_MS);
		CHECK(r->awaits[2].is_certain);
	}
	crit_results_destroy(r);
	check_files(&files, CRIT_ACTIVE_DEFAULT);
	close_files(&files);
}

/*
 * Some slots are of a kind this program does not know; each analysis process counts those of its
 * nodes.
 */
static bool make_unknown(void *user, uint32_t stream, struct crit_slot *slot)
{
	(void)user, (void)stream;
	if (slot->time_ns % 16 == 0)
		slot->kind = CRIT_S_COUNT;
	return true;
}

/* Regions, teams and phases, on a node of each analysis process. */
static void check_teams(uint64_t seed)
{
	static const struct crit_maker_options options = { .tamper_slot = make_unknown };
	static struct sim_teams w;
	struct files files = { 0 };

	CHECK_CASE("teams of seed %llu", (unsigned long long)seed);
	for (uint64_t node = 0; node < 3; node++) {
		sim_teams_make(&w, seed + node, seed % 2 ? &options : NULL);
		add_file(&files, w.m);
	}
	check_crews(&files, CRIT_ACTIVE_DEFAULT, seed % 5 == 1 ? 1 : 20);
	close_files(&files);
}

struct retold { /* a sink whose told sums start again */
	struct crit_test_told told;
	struct crit_trace_sink sink;
	uint32_t times; /* it did */
};

static int retell(void *told)
{
	struct retold *retold = told;

	crit_test_told_fini(&retold->told);
	crit_test_told_sink(&retold->told, &retold->sink);
	retold->times++;
	return 0;
}

/* Who can forget is told at once, and again once clocks have moved: the same in the end. */
static void check_retold(const struct files *files, const struct crit_test_told *told,
			 const struct crit_results *results)
{
	struct retold retold = { .times = 0 };
	struct crit_analysis_options options = { .trace = &retold.sink,
						 .retell = retell,
						 .told = &retold };
	struct crit_results *moved = NULL;
	struct crit_err err;

	crit_test_told_sink(&retold.told, &retold.sink);
	CHECK_INT_EQ(crit_analyse(files->paths, files->count, &options, &moved, &err), 0);
	CHECK_UINT_EQ(retold.times, 1);
	CHECK_UINT_EQ(retold.told.begins, 1);
	CHECK_UINT_EQ(retold.told.thread_count, told->thread_count);
	for (size_t i = 0; i < told->thread_count && i < retold.told.thread_count; i++)
		CHECK_UINT_EQ(retold.told.sums[i], told->sums[i]);
	CHECK_UINT_EQ(retold.told.others, told->others);
	if (CHECK(moved))
		CHECK_UINT_EQ(crit_analysed_digest(moved), crit_analysed_digest(results));
	crit_results_destroy(moved);
	crit_test_told_fini(&retold.told);
}

/* Once known, the movement of clocks is used as it is; a sink hears of moved clocks only. */
static void check_known(const struct files *files)
{
	struct crit_analysis_options options = { .index = crit_run_index_create() };
	struct crit_results *first = NULL, *second = NULL;
	struct crit_trace_sink sink;
	struct crit_test_told told;
	struct crit_err err;

	CHECK_INT_EQ(crit_analyse(files->paths, files->count, &options, &first, &err), 0);
	CHECK(crit_run_index_has_moved_clocks(options.index));
	crit_test_told_sink(&told, &sink);
	options.trace = &sink;
	CHECK_INT_EQ(crit_analyse(files->paths, files->count, &options, &second, &err), 0);
	CHECK_UINT_EQ(told.begins, 1);
	if (CHECK(first && second)) {
		CHECK_UINT_EQ(crit_analysed_digest(first), crit_analysed_digest(second));
		check_retold(files, &told, second);
	}
	crit_results_destroy(first);
	crit_results_destroy(second);
	crit_test_told_fini(&told);
	crit_run_index_destroy(options.index);
}

/* Clocks that messages move, which only analysis process 0 knows of at first. */
static void check_skewed(uint64_t seed)
{
	static struct sim_clocks w;
	struct files files = { 0 };

	CHECK_CASE("skewed clocks of seed %llu", (unsigned long long)seed);
	w = (struct sim_clocks){ .is_wrong = seed % 8 == 7 };
	sim_clocks_make(&w, seed);
	for (uint32_t node = 0; node < w.node_count; node++)
		add_file(&files, w.nodes[node].m);
	check_crews(&files, CRIT_ACTIVE_DEFAULT, seed % 5 == 1 ? 1 : 20);
	if (!w.is_wrong)
		check_known(&files);
	close_files(&files);
}

/* How many calls, of all analysis processes together, until one fails as if memory had run out. */
static atomic_int failing_engine, failing_begin;

static bool is_its_turn(atomic_int *failing)
{
	return atomic_fetch_sub(failing, 1) == 1;
}

/* The linker's names (ld --wrap). */
int __real_crit_engine_init(struct crit_engine *engine, const struct crit_model *model,
			    enum crit_active_rule rule, const struct crit_step_sink *step_sink);
int __wrap_crit_engine_init(struct crit_engine *engine, const struct crit_model *model,
			    enum crit_active_rule rule, const struct crit_step_sink *step_sink);
int __real_crit_tracer_begin(struct crit_tracer *tracer);
int __wrap_crit_tracer_begin(struct crit_tracer *tracer);

int __wrap_crit_engine_init(struct crit_engine *engine, const struct crit_model *model,
			    enum crit_active_rule rule, const struct crit_step_sink *step_sink)
{
	int rc = __real_crit_engine_init(engine, model, rule, step_sink);

	return is_its_turn(&failing_engine) ? -ENOMEM : rc;
}

int __wrap_crit_tracer_begin(struct crit_tracer *tracer)
{
	int rc = __real_crit_tracer_begin(tracer);

	return is_its_turn(&failing_begin) ? -ENOMEM : rc;
}

/* One of three that runs out of memory before the replay ends the analysis of all. */
static void check_poor(const struct files *files, atomic_int *failing, bool has_sinks,
		       unsigned int begins)
{
	struct crit_trace_sink sinks[3];
	struct crit_test_crew crew = { .transport = 3,
				       .blind = CRIT_NONE,
				       .sinks = has_sinks ? sinks : NULL };

	for (int turn = 1; turn <= 3; turn++) {
		struct crit_results *r = NULL;
		struct crit_test_told told[3];

		for (int i = 0; i < 3; i++)
			crit_test_told_sink(&told[i], &sinks[i]);
		atomic_store(failing, turn);
		CHECK_INT_EQ(crit_test_crew_analyse(&crew, files->paths, files->count, &r),
			     -ENOMEM);
		CHECK(!r && atomic_load(failing) <= 0);
		for (int i = 0; i < 3; i++) {
			CHECK_UINT_EQ(told[i].begins, begins);
			crit_test_told_fini(&told[i]);
		}
	}
}

/* Who is told of all nodes fails at its first calls, in the midst, or at the last one. */
static void check_refusing(const struct files *files)
{
	struct crit_test_order whole;

	listen_alone(files, CRIT_ACTIVE_DEFAULT, &whole);
	for (uint64_t failing = 1; failing <= whole.calls; failing += whole.calls / 7) {
		struct crit_test_order order = { .failing = failing };
		const struct crit_trace_sink sink = crit_test_order_sink(&order);
		const struct crit_test_crew crew = { .transport = 3,
						     .round_steps = 20,
						     .sinks = &sink,
						     .is_gathered = true,
						     .blind = CRIT_NONE };
		struct crit_results *r = NULL;

		if (failing + whole.calls / 7 > whole.calls)
			order.failing = whole.calls;
		CHECK_INT_EQ(crit_test_crew_analyse(&crew, files->paths, files->count, &r), -EIO);
		CHECK(!r && order.calls == order.failing);
	}
}

/* An analysis process that fails before the replay does not leave the others waiting. */
static void test_failures(void)
{
	struct crit_synthetic spec = { 2, 2, 1, 100000, 20, false, 0, 0, 0, 0 };
	struct crit_test_crew crew = { .transport = 3, .blind = 1 };
	struct files files = { 0 };
	struct crit_results *r = NULL;

	for (uint32_t node = 0; node < spec.nodes; node++) {
		struct crit_maker *m = crit_maker_create(NULL);

		crit_synthetic_write(&spec, node, m);
		add_file(&files, m);
	}
	CHECK_CASE("%s", "one finds nothing to read");
	CHECK_INT_EQ(crit_test_crew_analyse(&crew, files.paths, files.count, &r), -ENOENT);
	CHECK(!r);
	/* another set of recordings is no help either */
	crew.blind = CRIT_NONE;
	crew.transport = 1;
	CHECK_INT_EQ(crit_test_crew_analyse(&crew, files.paths, files.count, &r), 0);
	crit_results_destroy(r);
	CHECK_CASE("%s", "one cannot make its engine");
	check_poor(&files, &failing_engine, false, 0);
	check_poor(&files, &failing_engine, true, 0);
	CHECK_CASE("%s", "one sink cannot begin");
	check_poor(&files, &failing_begin, true, 1);
	CHECK_CASE("%s", "who is told of all nodes fails");
	check_refusing(&files);
	close_files(&files);
}

int main(int argc, char **argv)
{
	static const struct crit_synthetic specs[] = {
		{ 3, 2, 2, 100000, 50, false, 1, 0, 0, 0 },
		{ 4, 1, 1, 50000, 200, true, 1, 0, 0, 0 },
		{ 2, 3, 1, 100000, 300, false, 0, 0, 0, 0 },
	};
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : argc > 1 ? 1 : SEEDS;

	for (uint64_t seed = first; seed < first + count; seed++)
		check_scenario(seed);
	for (uint64_t seed = first; seed < first + count / 4; seed++)
		check_teams(seed);
	for (uint64_t seed = first; seed < first + count / 4; seed++)
		check_skewed(seed);
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		check_synthetic(&specs[i]);
	test_joins();
	test_failures();
	CHECK_INT_GT(samples_seen, count);
	CHECK_INT_GT(edges_seen, count);
	return check_done();
}
