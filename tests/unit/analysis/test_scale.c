// SPDX-License-Identifier: BSD-3-Clause
// A recording some times as long takes some times the time, however it is made up; of several
// analyses of one, only the first reads it more than once; of many ranks each adds few reads.
#include <limits.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/analyse.h"
#include "analysis/symbols/symbols.h"
#include "core/base/err.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"
#include "tests/sim/synthetic.h"

#define MS CRIT_ACT_MS
#define PID 300u
#define ROUNDS 3
#define TIMES 4u
#define RATIO_MAX 12.0 /* n log n is 5, up to 8 as caches get colder; n * n is 16 to 18 */

/* Every rank has a world of its own. */
static void make_worlds(struct crit_maker *m, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct crit_rec_rank rank = { .pid = PID + i, .open_ns = 2 * MS + i };

		(void)snprintf(rank.world, sizeof(rank.world), "world%u", i);
		crit_maker_rank(m, rank);
	}
}

/* One thread number, used again and again. */
static void make_births(struct crit_maker *m, uint32_t count)
{
	crit_act_enrol(m, 1 * MS, CRIT_ACT_ROOT);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t at_ns = 2 * MS + 100ull * i;

		crit_act_start(m, at_ns, PID, CRIT_ACT_ROOT, 1);
		crit_act_end(m, at_ns + 50, PID, CRIT_ACT_ROOT, 1);
	}
}

/* Then streams that say they are the first user's. */
static void make_threads(struct crit_maker *m, uint32_t count)
{
	make_births(m, count);
	for (uint32_t i = 0; i < count; i++)
		(void)crit_act_claim(m, CRIT_ACT_ROOT, PID, 1 * MS);
}

/* The same with a process number; ends of processes that never registered. */
static void make_processes(struct crit_maker *m, uint32_t count)
{
	crit_act_enrol(m, 1 * MS, CRIT_ACT_ROOT);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t at_ns = 2 * MS + 100ull * i;

		crit_act_start(m, at_ns, PID, PID, 1);
		crit_act_end(m, at_ns + 50, PID, PID, 1);
	}
	for (uint32_t i = 0; i < count; i++) {
		crit_maker_gone(m, (struct crit_rec_gone){ .pid = PID, .time_ns = 1 * MS });
		crit_maker_close(m, (struct crit_rec_close){ .pid = PID, .close_ns = 1 * MS });
	}
}

static double cpu_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The least CPU time of some rounds: noise only adds. */
static double time_of(void (*make)(struct crit_maker *m, uint32_t count), uint32_t count)
{
	double least_s = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		struct crit_maker *m = crit_act_begin("node0");
		struct crit_results *r = NULL;
		double begin_s;

		make(m, count);
		crit_maker_drain(m);
		begin_s = cpu_s();
		CHECK_INT_EQ(crit_analysed_makers(&m, 1, CRIT_ACTIVE_DEFAULT, &r), 0);
		begin_s = cpu_s() - begin_s;
		if (begin_s < least_s)
			least_s = begin_s;
		crit_results_destroy(r);
		crit_maker_destroy(m);
	}
	return least_s;
}

static void test_growing(void)
{
	static const struct {
		const char *name;
		void (*make)(struct crit_maker *m, uint32_t count);
		uint32_t count; /* where the quadratic part would outweigh the rest */
	} cases[] = {
		{ "worlds", make_worlds, 10000 },
		{ "uses of a thread number", make_threads, 10000 },
		{ "uses of a process number", make_processes, 10000 },
	};

	/* memory stays the process's: what its first page faults cost, the host decides */
	(void)mallopt(M_MMAP_MAX, 0);
	(void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double once_s = time_of(cases[i].make, cases[i].count);
		double times_s = time_of(cases[i].make, TIMES * cases[i].count);

		CHECK_MSG(times_s < RATIO_MAX * once_s, "%s: %g s, %u times as many %g s",
			  cases[i].name, once_s, TIMES, times_s);
	}
}

/* What this process has read so far, by any descriptor: "rchar" bytes, in "syscr" calls. */
static uint64_t io_count(const char *wanted)
{
	unsigned long long count = 0, found = 0;
	FILE *io = fopen("/proc/self/io", "re");
	char name[32];

	if (!CHECK(io))
		return 0;
	while (fscanf(io, "%31[^:]: %llu\n", name, &count) == 2)
		if (!strcmp(name, wanted))
			found = count;
	fclose(io);
	return found;
}

static uint64_t read_bytes(void)
{
	return io_count("rchar");
}

/* A rank has nine chunks, most of them smaller than a page; slots are read at once. */
static void test_few_reads(void)
{
	const struct crit_synthetic spec = {
		.nodes = 1, .ranks = 2000, .threads = 1, .period_ns = 1 * MS, .periods = 40
	};
	struct crit_maker *m = crit_maker_create(NULL);
	struct crit_results *r = NULL;
	uint64_t calls;

	crit_synthetic_write(&spec, 0, m);
	crit_maker_drain(m);
	calls = io_count("syscr");
	CHECK_INT_EQ(crit_analysed_makers(&m, 1, CRIT_ACTIVE_DEFAULT, &r), 0);
	calls = io_count("syscr") - calls;
	CHECK_MSG(calls <= 3ull * spec.ranks, "%llu reads of %u ranks", (unsigned long long)calls,
		  spec.ranks);
	crit_results_destroy(r);
	crit_maker_destroy(m);
}

/* As a report and then an archive do it: the index pass once, symbols from what is open. */
static void test_read_once(void)
{
	struct crit_analysis_options options = { .index = crit_run_index_create() };
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_symbols *symbols = NULL;
	struct crit_results *r = NULL;
	char path[32];
	const char *const paths[] = { path };
	uint64_t bytes[3];
	struct crit_err err;
	struct stat status;
	int fd;

	make_births(m, 40000);
	fd = crit_maker_memfd(m);
	crit_maker_destroy(m);
	CHECK_INT_EQ(fstat(fd, &status), 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	bytes[0] = read_bytes();
	CHECK_INT_EQ(crit_analyse(paths, 1, &options, &r, &err), 0);
	crit_results_destroy(r);
	bytes[1] = read_bytes();
	r = NULL;
	CHECK_INT_EQ(crit_symbols_create(paths, 1, crit_run_index_opened(options.index), NULL,
					 &symbols, &err),
		     0);
	crit_symbols_destroy(symbols);
	CHECK_INT_EQ(crit_analyse(paths, 1, &options, &r, &err), 0);
	crit_results_destroy(r);
	bytes[2] = read_bytes();
	crit_run_index_destroy(options.index);
	close(fd);
	CHECK_MSG((double)(bytes[1] - bytes[0]) <= 3.1 * (double)status.st_size, "%llu of %lld",
		  (unsigned long long)(bytes[1] - bytes[0]), (long long)status.st_size);
	CHECK_MSG((double)(bytes[2] - bytes[1]) <= 1.01 * (double)status.st_size, "%llu of %lld",
		  (unsigned long long)(bytes[2] - bytes[1]), (long long)status.st_size);
}

int main(void)
{
	test_growing();
	test_few_reads();
	test_read_once();
	return check_done();
}
