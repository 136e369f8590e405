// SPDX-License-Identifier: BSD-3-Clause
// Ranks and threads whose work in each parallel region is known.
#include <getopt.h>
#include <omp.h>
#include <string.h>
#ifdef HYBRID_MPI
#include <mpi.h>
#endif

#include "core/crit.h"
#include "tests/apps/hybrid.h"

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

/* The line of the directive that follows. */
#define HERE(part) h->parts[part].line = __LINE__ + 1

static void do_serial(struct hybrid *h)
{
	hybrid_work(h, PART_SERIAL, 0, 2);
}

/* Thread i works weight i. */
static void do_static(struct hybrid *h)
{
	HERE(PART_STATIC);
#pragma omp parallel for schedule(static, 1) num_threads(h->threads)
	for (int i = 0; i < h->threads; i++)
		hybrid_work(h, PART_STATIC, omp_get_thread_num(), hybrid_weight(h, i));
}

/* One iteration as long as all that a thread can do meanwhile: 4 units for each. */
static void do_dynamic(struct hybrid *h)
{
	const int small_count = 16 * (h->threads - 1);

	HERE(PART_DYNAMIC);
#pragma omp parallel for schedule(dynamic, 1) num_threads(h->threads)
	for (int i = 0; i <= small_count; i++)
		hybrid_work(h, PART_DYNAMIC, omp_get_thread_num(), i == 0 ? 4 : 0.25);
}

static void do_critical(struct hybrid *h)
{
	HERE(PART_CRITICAL);
#pragma omp parallel num_threads(h->threads)
	{
		hybrid_work(h, PART_CRITICAL, omp_get_thread_num(), 1);
#pragma omp critical(crit_hybrid)
		hybrid_work(h, PART_CRITICAL, omp_get_thread_num(), 1);
	}
}

static void do_lock(struct hybrid *h)
{
	omp_lock_t lock;

	omp_init_lock(&lock);
	HERE(PART_LOCK);
#pragma omp parallel num_threads(h->threads)
	{
		omp_set_lock(&lock);
		hybrid_work(h, PART_LOCK, omp_get_thread_num(), 1);
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

			hybrid_work(h, PART_NESTED, thread, hybrid_weight(h, thread));
		}
	}
}

/* Equal tasks, made by one thread. */
static void do_tasks(struct hybrid *h)
{
	HERE(PART_TASKS);
#pragma omp parallel num_threads(h->threads)
#pragma omp single
	{
		for (int i = 0; i < 4 * h->threads; i++)
#pragma omp task
			hybrid_work(h, PART_TASKS, omp_get_thread_num(), 0.5);
#pragma omp taskwait
	}
}

/* Tasks of which only one can run at a time. */
static void do_chain(struct hybrid *h)
{
	int link = 0;

	HERE(PART_CHAIN);
#pragma omp parallel num_threads(h->threads) shared(link)
#pragma omp single
	for (int i = 0; i < 4; i++)
#pragma omp task depend(out : link) shared(link)
	{
		hybrid_work(h, PART_CHAIN, omp_get_thread_num(), 0.5);
		link++;
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

static void meet(void)
{
	crit_region_begin("exchange");
#ifdef HYBRID_MPI
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	crit_region_end();
}

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

	while ((c = getopt(argc, argv, "n:u:t:o:w:f:s:p")) != -1) {
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
			"[-p]\n",
			argv[0]);
		return 2;
	}
	omp_set_dynamic(0);
	omp_set_max_active_levels(2);
#ifdef HYBRID_MPI
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &(int){ 0 });
	MPI_Comm_rank(MPI_COMM_WORLD, &h.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &h.ranks);
	MPI_Barrier(MPI_COMM_WORLD);
#endif
	for (int round = 0; round < h.rounds; round++) {
		for (int i = 0; i < PART_COUNT; i++) {
			if (!h.parts[i].name)
				continue;
			crit_region_begin(parts[i].name);
			parts[i].run(&h);
			crit_region_end();
		}
		meet();
	}
#ifdef HYBRID_MPI
	MPI_Finalize();
#endif
	hybrid_print(&h);
	return 0;
}
