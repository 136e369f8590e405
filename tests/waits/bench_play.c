// SPDX-License-Identifier: BSD-3-Clause
// bench-play: plays films of many ranks backwards and prints rate and peak memory, as JSON;
// with a number of scenarios, turns them round and plays them forwards.
//
// sweep: each rank waits for the one before, computes, and meets all others at a barrier, so waits
// make a chain through all ranks.  halo: each rank waits for the last of its four neighbours.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/waits/backwards/backplay.h"
#include "analysis/waits/resolved_film.h"
#include "tests/maker/random.h"
#include "tests/waits/turned.h"

#define COMPUTE 0u
#define IN_WAIT 1u
#define BARRIER 2u
#define BUCKETS 3u
#define STEP_NS 1000u
#define SCENARIOS_MAX 16u

struct bench {
	struct crit_film *film;
	struct crit_random dice;
	uint32_t ranks, number;
	struct crit_film_entry *entries; /* not written yet, as later ones may be earlier */
	size_t count, capacity;
	uint64_t *now_ns, *enter_ns; /* of each rank */
	uint64_t written_ns;
	size_t scenario_count; /* of a forecast; 0: none, and the film has no needs */
};

static double cpu_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of this program, where getrusage() knows as well what it was before exec(). */
static long peak_kib(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[128];
	long kib = 0;

	while (status && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, "VmHWM:", 6))
			kib = strtol(line + 6, NULL, 10);
	}
	if (status)
		fclose(status);
	return kib;
}

static void add(struct bench *bench, enum crit_film_type type, uint64_t time_ns, uint32_t node,
		uint32_t number)
{
	if (crit_array_grow(&bench->entries, &bench->capacity, bench->count + 1,
			    sizeof(*bench->entries)))
		abort();
	bench->entries[bench->count++] = (struct crit_film_entry){
		.time_ns = time_ns,
		.node = node,
		.number = number,
		.type = (uint8_t)type,
		.kind = node & CRIT_FILM_OBJECT ? CRIT_FILM_HOLD : 1,
	};
}

/* Of the wait of the last number. */
static void add_cause(struct bench *bench, uint64_t c_ns, uint32_t cause, uint32_t waiter)
{
	add(bench, CRIT_FILM_CAUSE, c_ns, cause, bench->number);
	bench->entries[bench->count - 1].more = waiter;
}

/*
 * A rank comes to a wait, which ends at end_ns for what the cause did at c_ns.  What it did until
 * then has an entry of its own, as the bars count them, and not one with that of the wait.
 */
static void add_wait(struct bench *bench, uint32_t rank, uint64_t end_ns, uint32_t cause,
		     uint64_t c_ns)
{
	const uint64_t begin_ns = bench->now_ns[rank];

	add(bench, CRIT_FILM_UNTIL, begin_ns, rank, COMPUTE);
	add(bench, CRIT_FILM_WAIT, begin_ns, rank, bench->number);
	add(bench, CRIT_FILM_UNTIL, end_ns, rank, IN_WAIT);
	add(bench, CRIT_FILM_END, end_ns, rank, bench->number);
	if (c_ns > begin_ns) /* else it is the last one */
		add_cause(bench, c_ns, cause, rank);
	bench->number++;
	bench->now_ns[rank] = end_ns;
}

/* The last wait needed this as well. */
static void add_need(struct bench *bench, uint64_t time_ns, uint32_t node)
{
	if (bench->scenario_count)
		add(bench, CRIT_FILM_NEED, time_ns, node, bench->number - 1);
}

static int by_time(const void *a, const void *b)
{
	const struct crit_film_entry *one = a, *other = b;

	return crit_by_number(one->time_ns, other->time_ns);
}

static void write_before(struct bench *bench, uint64_t until_ns)
{
	size_t done = 0;

	qsort(bench->entries, bench->count, sizeof(*bench->entries), by_time);
	while (done < bench->count && bench->entries[done].time_ns < until_ns) {
		bench->written_ns = bench->entries[done].time_ns;
		if (crit_film_put(bench->film, &bench->entries[done++], NULL))
			abort();
	}
	bench->count -= done;
	memmove(bench->entries, bench->entries + done, bench->count * sizeof(*bench->entries));
}

static uint64_t earliest(const struct bench *bench)
{
	uint64_t earliest_ns = UINT64_MAX;

	for (uint32_t rank = 0; rank < bench->ranks; rank++) {
		if (bench->now_ns[rank] < earliest_ns)
			earliest_ns = bench->now_ns[rank];
	}
	return earliest_ns;
}

static uint64_t compute_ns(struct bench *bench)
{
	return STEP_NS / 2 + crit_random_below(&bench->dice, STEP_NS);
}

/* The instance waits for the last one. */
static void hold(struct bench *bench, uint32_t instance, uint64_t first_ns, uint32_t last,
		 uint64_t c_ns)
{
	add(bench, CRIT_FILM_UNTIL, first_ns, instance, CRIT_FILM_NO_BUCKET);
	add(bench, CRIT_FILM_WAIT, first_ns, instance, bench->number);
	add(bench, CRIT_FILM_UNTIL, c_ns, instance, BARRIER);
	add(bench, CRIT_FILM_END, c_ns, instance, bench->number);
	add_cause(bench, c_ns, last, instance);
	bench->number++;
}

/* All meet: the instance begins with the first one, and waits for the last. */
static void meet(struct bench *bench, uint32_t instance)
{
	const uint64_t first_ns = earliest(bench);
	uint32_t last = 0;
	uint64_t c_ns;

	for (uint32_t rank = 1; rank < bench->ranks; rank++) {
		if (bench->now_ns[rank] > bench->now_ns[last])
			last = rank;
	}
	c_ns = bench->now_ns[last];
	if (!bench->scenario_count)
		hold(bench, instance, first_ns, last, c_ns);
	for (uint32_t rank = 0; rank < bench->ranks; rank++) {
		if (bench->scenario_count) {
			add(bench, CRIT_FILM_ARRIVAL, bench->now_ns[rank], rank, instance);
			bench->entries[bench->count - 1].kind = rank == last;
		}
		add_wait(bench, rank, c_ns + 1 + crit_random_below(&bench->dice, 100),
			 bench->scenario_count ? last : instance, c_ns);
		add_need(bench, c_ns, instance);
	}
}

static void sweep(struct bench *bench, uint32_t iteration)
{
	bench->now_ns[0] += compute_ns(bench);
	for (uint32_t rank = 1; rank < bench->ranks; rank++) {
		const uint64_t sent_ns = bench->now_ns[rank - 1];

		add_wait(bench, rank, sent_ns + 10, rank - 1, sent_ns);
		bench->now_ns[rank] += compute_ns(bench);
	}
	meet(bench, CRIT_FILM_OBJECT + iteration);
}

static void halo(struct bench *bench, uint32_t iteration)
{
	const uint32_t ranks = bench->ranks;
	const uint32_t steps[] = { 1, ranks - 1, 32 % ranks, (ranks - 32 % ranks) % ranks };

	(void)iteration;
	for (uint32_t rank = 0; rank < ranks; rank++)
		bench->enter_ns[rank] = bench->now_ns[rank] += compute_ns(bench);
	for (uint32_t rank = 0; rank < ranks; rank++) {
		uint32_t last = rank;

		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			const uint32_t other = (rank + steps[i]) % ranks;

			if (bench->enter_ns[other] > bench->enter_ns[last])
				last = other;
		}
		add_wait(bench, rank, bench->enter_ns[last] + 10, last, bench->enter_ns[last]);
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			const uint32_t other = (rank + steps[i]) % ranks;

			if (other != last)
				add_need(bench, bench->enter_ns[other], other);
		}
	}
}

static void make(struct bench *bench, uint64_t wanted, void (*step)(struct bench *, uint32_t))
{
	uint32_t iteration = 0;

	while (crit_film_entry_count(bench->film) < wanted) {
		step(bench, iteration++);
		write_before(bench, earliest(bench));
	}
	write_before(bench, UINT64_MAX);
	for (uint32_t rank = 0; rank < bench->ranks; rank++)
		add(bench, CRIT_FILM_UNTIL, bench->written_ns, rank, COMPUTE);
	write_before(bench, UINT64_MAX);
}

/* Scenarios in which code is faster by different parts: yields the CPU time; below 0: failed. */
static double forecast_s(struct crit_filmed_run *run, size_t scenario_count)
{
	static struct crit_factor factors[SCENARIOS_MAX][BUCKETS];
	static struct crit_scenario scenarios[SCENARIOS_MAX];
	struct crit_forecast_options options = run->options;
	struct crit_forecast forecast;
	struct crit_err err = { "" };
	double took_s = cpu_s();

	for (uint32_t k = 0; k < scenario_count; k++) {
		for (size_t i = 0; i < BUCKETS; i++)
			factors[k][i] = (struct crit_factor){ i == COMPUTE ? 100 - k : 100, 100 };
		scenarios[k] = (struct crit_scenario){ .factors = factors[k] };
	}
	options.outside = CRIT_FILM_NO_BUCKET;
	options.scenarios = scenarios;
	options.scenario_count = scenario_count;
	if (crit_forecast_play(run->film, &options, &forecast, &err)) {
		fprintf(stderr, "bench-play: %s\n", err.text);
		return -1;
	}
	crit_forecast_fini(&forecast);
	return cpu_s() - took_s;
}

static int foretell(struct bench *bench, const char *directory)
{
	const struct crit_resolved_film_options options = {
		.file = { .directory = directory, .max_bytes = 1ull << 34 },
		.thread_count = bench->ranks,
		.bucket_count = BUCKETS,
	};
	struct crit_filmed_run run = { 0 };
	struct crit_err err = { "" };
	double turned_s, one_s, all_s;
	int rc;

	crit_film_rewind(bench->film);
	turned_s = cpu_s();
	rc = crit_test_turn_round(bench->film, &options, &run, &err);
	turned_s = cpu_s() - turned_s;
	if (rc)
		fprintf(stderr, "bench-play: %s\n", err.text);
	one_s = rc ? -1 : forecast_s(&run, 1);
	all_s = rc ? -1 : forecast_s(&run, bench->scenario_count);
	printf("{\"turned_cpu_s\": %.3f, \"one_cpu_s\": %.3f, \"cpu_s\": %.3f, "
	       "\"scenarios\": %zu, \"peak_rss_kib\": %ld}\n",
	       turned_s, one_s, all_s, bench->scenario_count, peak_kib());
	crit_filmed_run_fini(&run);
	return one_s < 0 || all_s < 0;
}

static int play(struct bench *bench, const char *name)
{
	static const uint8_t parts[BUCKETS] = { 0 };
	const struct crit_backplay_options options = { .end_ns = bench->written_ns,
						       .thread_count = bench->ranks,
						       .bucket_count = BUCKETS,
						       .bucket_parts = parts,
						       .edges_max = 1u << 20 };
	const double entries = (double)crit_film_entry_count(bench->film);
	struct crit_costs costs;
	struct crit_err err = { "" };
	double took_s = cpu_s();
	int rc = crit_film_finish(bench->film, &err);

	if (!rc)
		rc = crit_backplay(bench->film, &options, &costs, &err);
	took_s = cpu_s() - took_s;
	if (!rc)
		rc = crit_costs_check(&costs, &err);
	if (rc) {
		fprintf(stderr, "bench-play: %s\n", err.text);
		return 1;
	}
	printf("{\"film\": \"%s\", \"ranks\": %u, \"entries\": %.0f, \"cpu_s\": %.3f, "
	       "\"entries_per_cpu_s\": %.4g, \"peak_rss_kib\": %ld, \"waits\": %llu, "
	       "\"cycles\": %llu}\n",
	       name, bench->ranks, entries, took_s, entries / took_s, peak_kib(),
	       (unsigned long long)costs.wait_count, (unsigned long long)costs.cycle_count);
	crit_costs_fini(&costs);
	return 0;
}

int main(int argc, char **argv)
{
	const bool is_sweep = argc >= 5 && !strcmp(argv[2], "sweep");
	struct crit_film_options options = { .max_bytes = 1ull << 34 };
	struct bench bench = { .dice = { 1 } };
	struct crit_err err;
	int rc;

	if (argc < 5 || argc > 6 || (!is_sweep && strcmp(argv[2], "halo"))) {
		fputs("usage: bench-play DIRECTORY sweep|halo RANKS ENTRIES [SCENARIOS]\n", stderr);
		return 2;
	}
	bench.scenario_count = argc == 6 ? strtoul(argv[5], NULL, 10) : 0;
	if (bench.scenario_count > SCENARIOS_MAX)
		return 2;
	options.directory = argv[1];
	bench.ranks = (uint32_t)strtoul(argv[3], NULL, 10);
	bench.now_ns = calloc(bench.ranks, sizeof(*bench.now_ns));
	bench.enter_ns = calloc(bench.ranks, sizeof(*bench.enter_ns));
	if (!bench.now_ns || !bench.enter_ns || crit_film_create(&options, &bench.film, &err))
		return 1;
	make(&bench, strtoull(argv[4], NULL, 10), is_sweep ? sweep : halo);
	rc = play(&bench, argv[2]);
	if (!rc && bench.scenario_count)
		rc = foretell(&bench, argv[1]);
	crit_film_destroy(bench.film);
	free(bench.entries);
	free(bench.now_ns);
	free(bench.enter_ns);
	return rc;
}
