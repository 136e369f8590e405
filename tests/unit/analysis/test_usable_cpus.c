// SPDX-License-Identifier: BSD-3-Clause
// CPUs a run could use: masks of app threads united, quotas added up along their tree.
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT
#define CPU 1000000u /* in millionths */

struct limits {
	uint32_t count;
	struct crit_rec_cpu_limit rows[CRIT_CPU_LIMITS_MAX];
};

struct usable { /* what critd saw of a process */
	uint32_t pid;
	uint64_t at_ns;
	uint64_t cpus[2];
	struct limits limits;
	struct {
		uint32_t tid;
		uint64_t cpus;
	} threads[3]; /* in place of cpus: masks that differ */
};

static void put_words(struct crit_maker *m, const struct crit_rec_usable_cpus *head,
		      const uint64_t *words, size_t count)
{
	struct {
		struct crit_rec_usable_cpus head;
		uint64_t words[256];
	} record = { .head = *head };

	memcpy(record.words, words, count * sizeof(*words));
	crit_maker_chunk(m,
			 (struct crit_chunk_head){ .kind = CRIT_C_USABLE_CPUS,
						   .first_ns = head->time_ns,
						   .last_ns = head->time_ns },
			 &record, sizeof(record.head) + count * sizeof(*words));
}

static void put(struct crit_maker *m, const struct usable *u)
{
	struct crit_rec_usable_cpus head = {
		.pid = u->pid, .word_count = 2, .limit_count = u->limits.count, .time_ns = u->at_ns
	};
	uint64_t words[2 * CRIT_CPU_LIMITS_MAX + 9] = { 0 };
	uint64_t *entry = words + 2 * (size_t)u->limits.count;

	memcpy(words, u->limits.rows, u->limits.count * sizeof(u->limits.rows[0]));
	for (; head.thread_count < 3 && u->threads[head.thread_count].tid; entry += 3) {
		entry[0] = u->threads[head.thread_count].tid;
		entry[1] = u->threads[head.thread_count++].cpus;
	}
	if (head.thread_count == 0) {
		memcpy(entry + 1, u->cpus, sizeof(u->cpus));
		head.thread_count = 1;
		entry += 3;
	}
	put_words(m, &head, words, (size_t)(entry - words));
}

/*
 * Two ranks, 200 and 201, that the root launched; in the first one a thread of its library, 300,
 * and a worker, 301, that works from 11 to 13 ms.
 */
struct launch {
	struct crit_maker *m;
	uint32_t streams[2];
};

static struct launch begin(const char *host)
{
	struct launch l = { .m = crit_act_begin(host) };
	struct crit_kernel_fork child = { .head = { .time_ns = 9 * MS, .flags = CRIT_KF_HAS_TAG },
					  .parent_tid = 200,
					  .parent_tgid = 200,
					  .tid = 300,
					  .tgid = 200,
					  .ns_tid = 300,
					  .parent_tag = crit_tag_pack(1, 0, CRIT_MPI_Init,
								      CRIT_CLASS_MPI, 0) };

	crit_act_enrol(l.m, 1 * MS, ROOT);
	for (uint32_t i = 0; i < 2; i++)
		crit_act_start(l.m, 2 * MS, 200 + i, 200 + i, (uint16_t)(1 + i));
	crit_maker_fork(l.m, child);
	child.head.time_ns = 11 * MS;
	child.tid = child.ns_tid = 301;
	child.parent_tag = crit_tag_pack(2, 0, 0, CRIT_CLASS_USER, 0);
	crit_maker_fork(l.m, child);
	crit_act_wake(l.m, 11 * MS, 301);
	crit_act_in(l.m, 12 * MS, 301, 3);
	crit_act_end(l.m, 13 * MS, 301, 200, 3);
	for (uint32_t i = 0; i < 2; i++) {
		l.streams[i] = crit_act_rank(l.m, 200 + i, i, 10 * MS);
	}
	return l;
}

static void end(struct launch *l)
{
	for (uint32_t i = 0; i < 2; i++) {
		crit_act_close(l->m, 200 + i, l->streams[i], 20 * MS);
		crit_act_end(l->m, 22 * MS, 200 + i, 200 + i, (uint16_t)(1 + i));
	}
}

#define LIMITS(...)                                                                                \
	{                                                                                          \
		sizeof((struct crit_rec_cpu_limit[]){ __VA_ARGS__ }) /                             \
			sizeof(struct crit_rec_cpu_limit),                                         \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
static const struct {
	const char *what;
	struct usable seen[4]; /* up to the first without a pid */
	double expected;
} cases[] = {
	{ "nothing was recorded", { { .pid = 0 } }, 0 },
	{ "the launcher's mask does not count",
	  { { .pid = ROOT, .at_ns = 9 * MS, .cpus = { 0xff } } },
	  0 },
	{ "a CPU each",
	  { { .pid = ROOT, .at_ns = 9 * MS, .cpus = { 0xff } },
	    { .pid = 200, .at_ns = 10 * MS, .cpus = { 1 } },
	    { .pid = 201, .at_ns = 10 * MS, .cpus = { 2 } } },
	  2 },
	{ "one CPU for both",
	  { { .pid = 200, .at_ns = 10 * MS, .cpus = { 4 } },
	    { .pid = 201, .at_ns = 10 * MS, .cpus = { 4 } } },
	  1 },
	{ "more than 64 CPUs",
	  { { .pid = 200, .at_ns = 10 * MS, .cpus = { 0, 0xf0 } },
	    { .pid = 201, .at_ns = 10 * MS, .cpus = { 1, 0x10 } } },
	  5 },
	{ "all were bound later",
	  { { .pid = 200, .at_ns = 10 * MS, .cpus = { 0xff } },
	    { .pid = 200, .at_ns = 15 * MS, .cpus = { 3 } } },
	  2 },
	{ "the library's thread stayed unbound",
	  { { .pid = 200, .at_ns = 10 * MS, .cpus = { 0xff } },
	    { .pid = 200,
	      .at_ns = 12 * MS,
	      .cpus = { 0 },
	      .threads = { { 200, 1 }, { 300, 0xff }, { 301, 6 } } } },
	  3 },
	{ "a worker ended before the masks were alike",
	  { { .pid = 200,
	      .at_ns = 12 * MS,
	      .cpus = { 0 },
	      .threads = { { 200, 0xf }, { 300, 0xf }, { 301, 0x30 } } },
	    { .pid = 200, .at_ns = 15 * MS, .cpus = { 1 } } },
	  3 },
	{ "another process's thread",
	  { { .pid = 201,
	      .at_ns = 12 * MS,
	      .cpus = { 0 },
	      .threads = { { 200, 0xff }, { 201, 1 }, { 77, 0xff } } } },
	  1 },
	{ "a stranger's mask", { { .pid = 999, .at_ns = 10 * MS, .cpus = { 1 } } }, 0 },
	{ "one cgroup for both",
	  { { .pid = 200, .at_ns = 10 * MS, .cpus = { 3 }, .limits = LIMITS({ 7, CPU / 2 }) },
	    { .pid = 201, .at_ns = 10 * MS, .cpus = { 3 }, .limits = LIMITS({ 7, CPU / 2 }) } },
	  0.5 },
	{ "a cgroup each",
	  { { .pid = 200, .at_ns = 10 * MS, .cpus = { 3 }, .limits = LIMITS({ 7, CPU / 2 }) },
	    { .pid = 201, .at_ns = 10 * MS, .cpus = { 3 }, .limits = LIMITS({ 8, CPU / 4 }) } },
	  0.75 },
	{ "the cgroup above both allows less than they do",
	  { { .pid = 200,
	      .at_ns = 10 * MS,
	      .cpus = { 3 },
	      .limits = LIMITS({ 7, CPU / 2 }, { 9, 6 * CPU / 10 }) },
	    { .pid = 201,
	      .at_ns = 10 * MS,
	      .cpus = { 3 },
	      .limits = LIMITS({ 8, CPU / 4 }, { 9, 6 * CPU / 10 }) } },
	  0.6 },
	{ "the cgroup above both allows more",
	  { { .pid = 200,
	      .at_ns = 10 * MS,
	      .cpus = { 3 },
	      .limits = LIMITS({ 7, CPU / 2 }, { 9, CPU }) },
	    { .pid = 201,
	      .at_ns = 10 * MS,
	      .cpus = { 3 },
	      .limits = LIMITS({ 8, CPU / 4 }, { 9, CPU }) } },
	  0.75 },
	{ "the smallest quota on the path",
	  { { .pid = 200,
	      .at_ns = 10 * MS,
	      .cpus = { 3 },
	      .limits = LIMITS({ 7, 2 * CPU }, { 8, CPU / 4 }, { 9, CPU }) } },
	  0.25 },
	{ "one in a cgroup, one below it",
	  { { .pid = 200, .at_ns = 10 * MS, .cpus = { 3 }, .limits = LIMITS({ 9, CPU }) },
	    { .pid = 201,
	      .at_ns = 10 * MS,
	      .cpus = { 3 },
	      .limits = LIMITS({ 8, CPU / 4 }, { 9, CPU }) } },
	  1 },
	{ "one has no limit",
	  { { .pid = 200, .at_ns = 10 * MS, .cpus = { 3 }, .limits = LIMITS({ 7, CPU / 2 }) },
	    { .pid = 201, .at_ns = 10 * MS, .cpus = { 3 } } },
	  2 },
	{ "the quota was raised, then lowered",
	  { { .pid = 200, .at_ns = 10 * MS, .cpus = { 3 }, .limits = LIMITS({ 7, CPU / 4 }) },
	    { .pid = 200, .at_ns = 12 * MS, .cpus = { 3 }, .limits = LIMITS({ 7, CPU }) },
	    { .pid = 200, .at_ns = 14 * MS, .cpus = { 3 }, .limits = LIMITS({ 7, CPU / 2 }) } },
	  1 },
	{ "the quota is larger than the mask",
	  { { .pid = 200, .at_ns = 10 * MS, .cpus = { 1 }, .limits = LIMITS({ 7, 8 * CPU }) } },
	  1 },
	{ "cgroups above each other",
	  { { .pid = 200,
	      .at_ns = 10 * MS,
	      .cpus = { 3 },
	      .limits = LIMITS({ 7, CPU / 2 }, { 8, CPU }) },
	    { .pid = 201,
	      .at_ns = 10 * MS,
	      .cpus = { 3 },
	      .limits = LIMITS({ 8, CPU }, { 7, CPU / 2 }) } },
	  1 },
	{ "numbers without a meaning",
	  { { .pid = 200,
	      .at_ns = 10 * MS,
	      .cpus = { ~0ull, ~0ull },
	      .limits = LIMITS({ ~0ull, ~0ull }, { 0, ~0ull }) },
	    { .pid = 201,
	      .at_ns = 10 * MS,
	      .cpus = { 0 },
	      .limits = LIMITS({ ~0ull, ~0ull }, { ~0ull, ~0ull }) } },
	  128 },
};

static void test_fold(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct launch l = begin("node0");
		struct crit_results *r;

		for (const struct usable *u = cases[i].seen; u->pid; u++)
			put(l.m, u);
		end(&l);
		r = crit_analysed_finish(&l.m, 1, CRIT_ACTIVE_DEFAULT);
		CHECK_MSG(r->nodes[0].usable_cpus == cases[i].expected, "%s: %g, not %g",
			  cases[i].what, r->nodes[0].usable_cpus, cases[i].expected);
		CHECK_UINT_EQ(r->losses.corrupt_chunks, 0);
		crit_results_destroy(r);
	}
}

static void test_without_ranks(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;

	crit_act_enrol(m, 1 * MS, ROOT);
	crit_maker_process(m, (struct crit_rec_process){ .pid = ROOT, .time_ns = 2 * MS });
	put(m, &(struct usable){ .pid = ROOT, .at_ns = 3 * MS, .cpus = { 0x70 } });
	crit_act_end(m, 20 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK(r->nodes[0].usable_cpus == 3);
	crit_results_destroy(r);
}

static const struct {
	const char *what;
	uint64_t main_ms; /* of 100, for which the main thread works; then it waits */
	uint64_t worker_ms; /* for which each of its three threads does, one after another */
	bool has_masks; /* of the threads, too */
	double expected;
} idle_cases[] = {
	{ "a main thread that waits for those it bound", 1, 30, true, 1 },
	{ "one that works as well", 10, 30, true, 9 },
	{ "threads that live for a short time do most together", 90, 2, true, 9 },
	{ "threads that were over before their masks were read", 1, 30, false, 8 },
};

/* The main thread may use eight CPUs; its threads, 101 to 103, are bound to a ninth. */
static void test_idle(void)
{
	for (size_t i = 0; i < sizeof(idle_cases) / sizeof(idle_cases[0]); i++) {
		const uint64_t began_ms = idle_cases[i].main_ms + 1;
		struct crit_maker *m = crit_act_begin("node0");
		struct crit_results *r;

		crit_act_enrol(m, 1 * MS, ROOT);
		crit_maker_process(m, (struct crit_rec_process){ .pid = ROOT, .time_ns = 1 * MS });
		crit_act_out(m, began_ms * MS, ROOT, 0, CRIT_ACT_SLEEPING);
		for (uint32_t k = 0; k < 3; k++) {
			const uint64_t from_ms = began_ms + k * idle_cases[i].worker_ms;

			crit_act_start(m, from_ms * MS, ROOT + 1 + k, ROOT, 1);
			crit_act_end(m, (from_ms + idle_cases[i].worker_ms) * MS, ROOT + 1 + k,
				     ROOT, 1);
		}
		put(m, &(struct usable){ .pid = ROOT,
					 .at_ns = (began_ms + 1) * MS,
					 .threads = { { ROOT, 0xff } } });
		for (uint32_t k = 0; idle_cases[i].has_masks && k < 3; k++)
			put(m, &(struct usable){ .pid = ROOT,
						 .at_ns = (began_ms + 1) * MS,
						 .threads = { { ROOT + 1 + k, 0x100 } } });
		crit_act_end(m, 110 * MS, ROOT, ROOT, 0);
		r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
		CHECK_MSG(r->nodes[0].usable_cpus == idle_cases[i].expected, "%s: %g, not %g",
			  idle_cases[i].what, r->nodes[0].usable_cpus, idle_cases[i].expected);
		crit_results_destroy(r);
	}
}

/* A rank that sleeps has its CPU all the same: work could be given to it. */
static void test_idle_rank(void)
{
	struct launch l = { .m = crit_act_begin("node0") };
	struct crit_results *r;

	crit_act_enrol(l.m, 1 * MS, ROOT);
	for (uint32_t i = 0; i < 2; i++)
		crit_act_start(l.m, 2 * MS, 200 + i, 200 + i, (uint16_t)(1 + i));
	crit_act_out(l.m, 2 * MS + MS / 100, 201, 2, CRIT_ACT_SLEEPING);
	for (uint32_t i = 0; i < 2; i++) {
		l.streams[i] = crit_act_rank(l.m, 200 + i, i, 10 * MS);
		put(l.m,
		    &(struct usable){ .pid = 200 + i, .at_ns = 10 * MS, .cpus = { 1ull << i } });
	}
	end(&l);
	r = crit_analysed_finish(&l.m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK(r->nodes[0].usable_cpus == 2);
	crit_results_destroy(r);
}

static void test_nodes(void)
{
	struct launch l[2] = { begin("node0"), begin("node1") };
	struct crit_maker *makers[2];
	struct crit_results *r;

	for (uint32_t i = 0; i < 2; i++) {
		put(l[i].m,
		    &(struct usable){ .pid = 200, .at_ns = 10 * MS, .cpus = { i ? 0xff : 1 } });
		end(&l[i]);
		makers[i] = l[i].m;
	}
	r = crit_analysed_finish(makers, 2, CRIT_ACTIVE_DEFAULT);
	CHECK(r->nodes[0].usable_cpus == 1);
	CHECK(r->nodes[1].usable_cpus == 8);
	crit_results_destroy(r);
}

/* Counts that the chunk does not hold: it is counted as corrupt, the others stand. */
static void test_torn(void)
{
	static const struct crit_rec_usable_cpus heads[] = {
		{ .pid = 200, .word_count = CRIT_CPU_WORDS_MAX + 1 },
		{ .pid = 200, .limit_count = CRIT_CPU_LIMITS_MAX + 1 },
		{ .pid = 200, .thread_count = CRIT_CPU_THREADS_MAX + 1, .word_count = 1 },
		{ .pid = 200, .thread_count = 1, .word_count = 2 },
		{ .pid = 200, .thread_count = 1, .word_count = 1, .limit_count = 1 },
		{ .pid = 200, .thread_count = 1 },
		{ .pid = 200, .thread_count = ~0u, .word_count = ~0u, .limit_count = ~0u },
	};
	static const uint64_t words[2] = { ~0ull, ~0ull };
	const size_t count = sizeof(heads) / sizeof(heads[0]);
	struct launch l = begin("node0");
	struct crit_results *r;

	for (size_t i = 0; i < count; i++)
		put_words(l.m, &heads[i], words, 2);
	put(l.m, &(struct usable){ .pid = 200, .at_ns = 10 * MS, .cpus = { 3 } });
	end(&l);
	r = crit_analysed_finish(&l.m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK(r->nodes[0].usable_cpus == 2);
	CHECK_UINT_EQ(r->losses.corrupt_chunks, count);
	crit_results_destroy(r);
}

int main(void)
{
	test_fold();
	test_without_ranks();
	test_idle();
	test_idle_rank();
	test_nodes();
	test_torn();
	return check_done();
}
