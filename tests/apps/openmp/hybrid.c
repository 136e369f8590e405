// SPDX-License-Identifier: BSD-3-Clause
// Ranks and threads whose work in each parallel region is known, and when they did it if asked.
#include <getopt.h>
#include <omp.h>
#include <string.h>
#ifdef HYBRID_MPI
#include <mpi.h>
#endif

#include "core/crit.h"
#include "tests/apps/openmp/hybrid.h"

enum part {
	PART_SERIAL = 0,
	PART_STATIC,
	PART_DYNAMIC,
	PART_CRITICAL,
	PART_LOCK,
	PART_NESTED,
	PART_TASKS,
	PART_CHAIN,
	PART_COUNT
};

#define STAMPS_MAX 4096

/* Threads of a rank are active in these stretches, and in no others. */
struct stamp {
	int round;
	enum part part;
	int tid;
	int64_t begin_ns;
	int64_t end_ns;
};

static struct stamp stamps[HYBRID_THREADS_MAX][STAMPS_MAX];
static int stamp_counts[HYBRID_THREADS_MAX];
static int this_round = -1;
static int64_t part_began_ns;

static void stamp(enum part part, int thread, int64_t begin_ns, int64_t end_ns)
{
	if (stamp_counts[thread] < STAMPS_MAX)
		stamps[thread][stamp_counts[thread]++] =
			(struct stamp){ this_round, part, gettid(), begin_ns, end_ns };
}

/* A thread is there: active for no time yet. */
static void mark(enum part part, int thread, int64_t at_ns)
{
	stamp(part, thread, at_ns, at_ns);
}

/* The first one is there before the team, and may have to wait for that. */
static void come(enum part part, int thread)
{
	mark(part, thread, thread ? work_clock_ns(CLOCK_MONOTONIC) : part_began_ns);
}

static void work(struct hybrid *h, enum part part, int thread, double units)
{
	const int64_t begin_ns = work_clock_ns(CLOCK_MONOTONIC);

	hybrid_work(h, part, thread, units);
	stamp(part, thread, begin_ns, work_clock_ns(CLOCK_MONOTONIC));
}

/* The line of the directive that follows. */
#define HERE(part) h->parts[part].line = __LINE__ + 1

static void do_serial(struct hybrid *h)
{
	come(PART_SERIAL, 0);
	work(h, PART_SERIAL, 0, 2);
}

/* Thread i works weight i. */
static void do_static(struct hybrid *h)
{
	HERE(PART_STATIC);
#pragma omp parallel for schedule(static, 1) num_threads(h->threads)
	for (int i = 0; i < h->threads; i++) {
		come(PART_STATIC, omp_get_thread_num());
		work(h, PART_STATIC, omp_get_thread_num(), hybrid_weight(h, i));
	}
}

/* One iteration as long as all that a thread can do meanwhile: 4 units for each. */
static void do_dynamic(struct hybrid *h)
{
	const int small_count = 16 * (h->threads - 1);

	HERE(PART_DYNAMIC);
#pragma omp parallel num_threads(h->threads)
	{
		come(PART_DYNAMIC, omp_get_thread_num());
#pragma omp for schedule(dynamic, 1)
		for (int i = 0; i <= small_count; i++)
			work(h, PART_DYNAMIC, omp_get_thread_num(), i == 0 ? 4 : 0.25);
	}
}

static void do_critical(struct hybrid *h)
{
	HERE(PART_CRITICAL);
#pragma omp parallel num_threads(h->threads)
	{
		come(PART_CRITICAL, omp_get_thread_num());
		work(h, PART_CRITICAL, omp_get_thread_num(), 1);
#pragma omp critical(crit_hybrid)
		work(h, PART_CRITICAL, omp_get_thread_num(), 1);
	}
}

static void do_lock(struct hybrid *h)
{
	omp_lock_t lock;

	omp_init_lock(&lock);
	HERE(PART_LOCK);
#pragma omp parallel num_threads(h->threads)
	{
		come(PART_LOCK, omp_get_thread_num());
		omp_set_lock(&lock);
		work(h, PART_LOCK, omp_get_thread_num(), 1);
		omp_unset_lock(&lock);
	}
	omp_destroy_lock(&lock);
}

/* A team in each thread of a team, for which libgomp creates threads every time. */
static void do_nested(struct hybrid *h)
{
	const int inner = h->threads / h->outer;

#pragma omp parallel num_threads(h->outer)
	{
		const int first = omp_get_thread_num() * inner;

		hybrid_unpin();
		HERE(PART_NESTED);
#pragma omp parallel num_threads(inner)
		{
			const int thread = first + omp_get_thread_num();

			come(PART_NESTED, thread);
			work(h, PART_NESTED, thread, hybrid_weight(h, thread));
		}
	}
}

/* Equal tasks, made by one thread. */
static void do_tasks(struct hybrid *h)
{
	HERE(PART_TASKS);
#pragma omp parallel num_threads(h->threads)
	{
		come(PART_TASKS, omp_get_thread_num());
#pragma omp single
		{
			for (int i = 0; i < 4 * h->threads; i++)
#pragma omp task
				work(h, PART_TASKS, omp_get_thread_num(), 0.5);
#pragma omp taskwait
		}
	}
}

/* Tasks of which only one can run at a time. */
static void do_chain(struct hybrid *h)
{
	int link = 0;

	HERE(PART_CHAIN);
#pragma omp parallel num_threads(h->threads) shared(link)
	{
		come(PART_CHAIN, omp_get_thread_num());
#pragma omp single
		for (int i = 0; i < 4; i++)
#pragma omp task depend(out : link) shared(link)
		{
			work(h, PART_CHAIN, omp_get_thread_num(), 0.5);
			link++;
		}
	}
}

static const struct {
	const char *name;
	void (*run)(struct hybrid *h);
} parts[PART_COUNT] = {
	{ "serial", do_serial },     { "static", do_static }, { "dynamic", do_dynamic },
	{ "critical", do_critical }, { "lock", do_lock },     { "nested", do_nested },
	{ "tasks", do_tasks },       { "chain", do_chain },
};

static void run_part(struct hybrid *h, enum part part)
{
	crit_region_begin(parts[part].name);
	part_began_ns = work_clock_ns(CLOCK_MONOTONIC);
	parts[part].run(h);
	mark(part, 0, work_clock_ns(CLOCK_MONOTONIC)); /* all have done theirs */
	crit_region_end();
}

/* PREFIX.RANK: a line for each stamp: round, part, thread, its number here, begin, end. */
static int write_stamps(const struct hybrid *h, const char *prefix)
{
	char path[4096];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s.%d", prefix, h->rank);
	file = fopen(path, "w");
	if (!file)
		return -1;
	for (int t = 0; t < h->threads; t++) {
		if (stamp_counts[t] == STAMPS_MAX) /* some are missing */
			return fclose(file), -1;
		for (const struct stamp *s = stamps[t]; s < stamps[t] + stamp_counts[t]; s++)
			fprintf(file, "%d %s %d %d %lld %lld\n", s->round,
				s->part == PART_COUNT ? "start" : parts[s->part].name, t, s->tid,
				(long long)s->begin_ns, (long long)s->end_ns);
	}
	return fclose(file);
}

static void meet(void)
{
	crit_region_begin("exchange");
#ifdef HYBRID_MPI
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	crit_region_end();
}

static const char *stamps_prefix;

static int parse_list(char *text, double *ret_values)
{
	char *save = NULL;
	int count = 0;

	for (char *t = strtok_r(text, ":,", &save); t && count < HYBRID_THREADS_MAX;
	     t = strtok_r(NULL, ":,", &save))
		ret_values[count++] = strtod(t, NULL);
	return count;
}

static void choose(struct hybrid *h, char *text)
{
	char *save = NULL;

	for (char *t = strtok_r(text, ",", &save); t; t = strtok_r(NULL, ",", &save))
		for (int i = 0; i < PART_COUNT; i++)
			if (strcmp(t, parts[i].name) == 0)
				h->parts[i].name = parts[i].name;
}

static int parse_options(struct hybrid *h, int argc, char **argv)
{
	char all[] = "serial,static,dynamic,critical,lock,nested,tasks,chain";
	char *chosen = all;
	int c;

	while ((c = getopt(argc, argv, "n:u:t:o:w:f:s:j:p")) != -1) {
		if (c == 'n')
			h->rounds = (int)strtol(optarg, NULL, 10);
		else if (c == 'u')
			h->unit_ns = (int64_t)(strtod(optarg, NULL) * 1e6);
		else if (c == 't')
			h->threads = (int)strtol(optarg, NULL, 10);
		else if (c == 'o')
			h->outer = (int)strtol(optarg, NULL, 10);
		else if (c == 'w')
			h->weight_count = parse_list(optarg, h->weights);
		else if (c == 'f')
			h->factor_count = parse_list(optarg, h->factors);
		else if (c == 's')
			chosen = optarg;
		else if (c == 'j')
			stamps_prefix = optarg;
		else if (c == 'p')
			h->has_pin = 1;
		else
			return -1;
	}
	choose(h, chosen);
	return h->rounds > 0 && h->threads > 0 && h->threads <= HYBRID_THREADS_MAX &&
			       h->unit_ns > 0 && h->weight_count && h->factor_count &&
			       h->outer > 0 && h->threads % h->outer == 0
		       ? 0
		       : -1;
}

int main(int argc, char **argv)
{
	static struct hybrid h = { .ranks = 1,
				   .threads = 2,
				   .outer = 1,
				   .rounds = 5,
				   .unit_ns = 10000000,
				   .weight_count = 2,
				   .weights = { 2, 1 },
				   .factor_count = 1,
				   .factors = { 1 } };

	if (parse_options(&h, argc, argv)) {
		fprintf(stderr,
			"usage: %s [-n rounds] [-u ms] [-t threads] [-o outer teams] "
			"[-w work of threads a:b…] [-f factor of ranks a:b…] [-s parts a,b…] "
			"[-j file for stamps] [-p]\n",
			argv[0]);
		return 2;
	}
	omp_set_dynamic(0);
	omp_set_max_active_levels(2);
#ifdef HYBRID_MPI
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &(int){ 0 });
	MPI_Comm_rank(MPI_COMM_WORLD, &h.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &h.ranks);
	mark(PART_COUNT, 0, work_clock_ns(CLOCK_MONOTONIC));
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	for (this_round = 0; this_round < h.rounds; this_round++) {
		for (int i = 0; i < PART_COUNT; i++)
			if (h.parts[i].name)
				run_part(&h, (enum part)i);
		meet();
	}
#ifdef HYBRID_MPI
	MPI_Finalize();
#endif
	hybrid_print(&h);
	if (stamps_prefix && write_stamps(&h, stamps_prefix)) {
		fprintf(stderr, "%s: cannot write %s.%d\n", argv[0], stamps_prefix, h.rank);
		return 1;
	}
	return 0;
}
