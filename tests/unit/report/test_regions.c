// SPDX-License-Identifier: BSD-3-Clause
// Regions joined over processes, their sums and spread in closed form.
#include "report/tables/location_fit.h"
#include "report/tables/region_table.h"

#include <math.h>
#include <string.h>

#include "core/base/call.h"
#include "tests/lib/check.h"
#include "tests/unit/report/results_sample.h"

static struct results_sample sample;

/* The program is loaded elsewhere in each process: 0x5000 in 1000 is 0x6000 in 1001. */
static void find(void *user, uint32_t node, uint32_t pid, uint64_t address,
		 struct crit_source_location *ret_place)
{
	bool has_lines = *(const bool *)user;

	(void)node;
	*ret_place = (struct crit_source_location){
		.module = "/opt/bin/hybrid",
		.offset = address - (pid == 1000 ? 0x4000 : 0x5000),
	};
	if (has_lines) {
		ret_place->function = "step";
		ret_place->file = "/src/stencil.c";
		ret_place->line = 42;
	}
}

static bool has_lines = true;
static const struct crit_region_finder finder = { .find = find, .user = &has_lines };

static double ms(crit_fix value)
{
	return crit_fix_seconds(value) * 1e3;
}

static const struct crit_region_line *of_kind(const struct crit_region_table *table,
					      const char *kind)
{
	for (size_t i = 0; i < table->row_count; i++)
		if (!strcmp(crit_region_kind(&table->rows[i]), kind))
			return &table->rows[i];
	fprintf(stderr, "no region of kind %s\n", kind);
	exit(1);
}

static void check_imbalance(const struct crit_imbalance *imbalance, size_t count, double max_s,
			    double mean_s, double variation, int32_t slowest)
{
	CHECK_UINT_EQ(imbalance->count, count);
	CHECK_NEAR(imbalance->max_s, max_s, 1e-12);
	CHECK_NEAR(imbalance->mean_s, mean_s, 1e-12);
	CHECK_NEAR(imbalance->percent, 100 * (max_s / mean_s - 1), 1e-9);
	CHECK_NEAR(imbalance->variation_ratio, variation, 1e-12);
	CHECK_INT_EQ(imbalance->slowest, slowest);
}

static void check_joined(const struct crit_region_table *table)
{
	const struct crit_region_line *parallel = of_kind(table, "parallel");
	const struct crit_region_line *outside = of_kind(table, "outside");

	CHECK_UINT_EQ(table->row_count, 3);
	CHECK_UINT_EQ(parallel->process_count, 2);
	CHECK_UINT_EQ(parallel->visits, 2);
	CHECK_UINT_EQ(parallel->team_max, 2);
	CHECK_UINT_EQ(parallel->elapsed_ns, 800000000);
	CHECK_UINT_EQ(parallel->imbalance_ns, 300000000);
	CHECK_UINT_EQ(parallel->share_count, 4);
	CHECK_UINT_EQ(parallel->sum.time_ns, 1600000000);
	CHECK_UINT_EQ(parallel->sum.useful_ns, 1300000000);
	CHECK_UINT_EQ(parallel->sum.omp_wait_ns, 300000000);
	CHECK_NEAR(ms(parallel->sum.run.cmetric[CRIT_UNIT_THREADS]), 600, 1e-9);
	CHECK_NEAR(ms(parallel->sum.run.blame), 1100, 1e-9);
	/* 0.6, 0.3, 0.2, 0.2 of the threads; 0.9, 0.4 of the ranks */
	check_imbalance(&parallel->threads, 4, 0.6, 0.325, sqrt(0.1075 / 4) / 0.325, 0);
	check_imbalance(&parallel->ranks, 2, 0.9, 0.65, 0.25 / 0.65, 0);
	/* what is left: 0.1 s of MPI_Recv, two idle workers, 0.1 s of work */
	CHECK_UINT_EQ(outside->sum.mpi_ns, 100000000);
	CHECK_UINT_EQ(outside->sum.omp_wait_ns, 1200000000);
	CHECK_UINT_EQ(outside->sum.useful_ns, 100000000);
	CHECK_UINT_EQ(outside->sum.time_ns, 1400000000);
	CHECK_NEAR(ms(outside->sum.run.cmetric[CRIT_UNIT_THREADS]), 100, 1e-9);
	check_imbalance(&outside->ranks, 2, 0.1, 0.05, 1, 1);
}

/* Every figure of all regions, with what is outside them, is that of the threads. */
static void check_sums(const struct crit_region_table *table)
{
	crit_fix cmetric = 0, blame = 0;
	uint64_t time_ns = 0, useful_ns = 0, waiting_ns = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		cmetric += table->rows[i].sum.run.cmetric[CRIT_UNIT_THREADS];
		blame += table->rows[i].sum.run.blame;
		waiting_ns += table->rows[i].sum.run.waiting_ns;
		time_ns += table->rows[i].sum.time_ns;
		useful_ns += table->rows[i].sum.useful_ns;
	}
	CHECK_NEAR(ms(cmetric), 1000, 1e-9);
	CHECK_NEAR(ms(blame), 2300, 1e-9);
	CHECK_UINT_EQ(waiting_ns, 2300000000);
	CHECK_UINT_EQ(time_ns, 4000000000);
	CHECK_UINT_EQ(useful_ns, 1700000000);
}

static void check_phase(const struct crit_region_table *table)
{
	const struct crit_region_line *phase = &table->phases[0];
	const struct crit_region_line *own = of_kind(table, "phase");

	if (!CHECK_UINT_EQ(table->phase_count, 1))
		return;
	CHECK_STR_EQ(phase->phase, "solve");
	CHECK_UINT_EQ(phase->visits, 2);
	CHECK_UINT_EQ(phase->sum.visits, 2);
	CHECK_UINT_EQ(phase->sum.time_ns, 2600000000);
	CHECK_UINT_EQ(phase->sum.useful_ns, 1600000000);
	CHECK_UINT_EQ(phase->sum.mpi_ns, 700000000);
	CHECK_NEAR(ms(phase->sum.run.cmetric[CRIT_UNIT_THREADS]), 900, 1e-9);
	CHECK_UINT_EQ(phase->share_count, 4);
	check_imbalance(&phase->ranks, 2, 1.2, 0.8, 0.5, 0);
	CHECK_UINT_EQ(own->sum.time_ns, 1000000000);
	CHECK_NEAR(ms(own->sum.run.cmetric[CRIT_UNIT_THREADS]), 300, 1e-9);
}

static void test_join(void)
{
	struct crit_region_table table;
	char text[512];

	for (int i = 0; i < 2; i++) {
		has_lines = i == 0;
		CHECK_CASE("lines known: %d", has_lines);
		results_sample_hybrid(&sample);
		CHECK_INT_EQ(crit_region_table_init(&table, &sample.results, &finder), 0);
		check_joined(&table);
		check_sums(&table);
		check_phase(&table);
		CHECK(&table.rows[table.order[0]] == of_kind(&table, "parallel"));
		CHECK_STR_EQ(crit_region_path(&table, of_kind(&table, "parallel"), text,
					      sizeof(text)),
			     has_lines ? "phase solve > omp parallel step stencil.c:42"
				       : "phase solve > omp parallel hybrid+0x1000");
		crit_region_table_fini(&table);
	}
	has_lines = true;
}

/* Without places, two addresses are two regions; of two lines of one file likewise. */
static void test_apart(void)
{
	struct crit_region_table table;

	results_sample_hybrid(&sample);
	CHECK_INT_EQ(crit_region_table_init(&table, &sample.results, NULL), 0);
	CHECK_UINT_EQ(table.row_count, 4);
	check_sums(&table);
	crit_region_table_fini(&table);

	/* the same line begun outside the phase is another region */
	sample.region_rows[3].parent = -1;
	CHECK_INT_EQ(crit_region_table_init(&table, &sample.results, &finder), 0);
	CHECK_UINT_EQ(table.row_count, 4);
	check_sums(&table);
	crit_region_table_fini(&table);
}

/* What a file may claim: parents that come later, or are their own; parts of nobody. */
static void test_nonsense(void)
{
	struct crit_region_table table;
	char text[64];

	results_sample_hybrid(&sample);
	sample.region_rows[0].parent = 3;
	sample.region_rows[2].parent = 2;
	sample.region_rows[3].parent = 1000;
	sample.region_parts[5].thread = 99;
	sample.region_parts[4].region = 99;
	CHECK_INT_EQ(crit_region_table_init(&table, &sample.results, &finder), 0);
	for (size_t i = 0; i < table.row_count; i++) {
		CHECK_INT_LT(table.rows[i].parent, (int)i);
		CHECK(strlen(crit_region_path(&table, &table.rows[i], text, sizeof(text))) <
		      sizeof(text));
	}
	crit_region_table_fini(&table);
	sample.results.regions.row_count = 0;
	CHECK_INT_EQ(crit_region_table_init(&table, &sample.results, &finder), 0);
	CHECK_UINT_EQ(table.row_count, 0);
	crit_region_table_fini(&table);
}

static void test_imbalance(void)
{
	static const int32_t indexes[] = { 7, 8, 9 };
	struct crit_imbalance imbalance;

	crit_imbalance_of((const double[]){ 1, 1, 1 }, indexes, 3, &imbalance);
	check_imbalance(&imbalance, 3, 1, 1, 0, 7);
	crit_imbalance_of((const double[]){ 1, 2, 3 }, indexes, 3, &imbalance);
	check_imbalance(&imbalance, 3, 3, 2, sqrt(2.0 / 3) / 2, 9);
	crit_imbalance_of((const double[]){ 0, 0 }, indexes, 2, &imbalance);
	CHECK_NEAR(imbalance.percent, 0, 0);
	crit_imbalance_of(NULL, NULL, 0, &imbalance);
	CHECK_INT_EQ(imbalance.slowest, -1);
}

/* However long the function's name is, file and line stay. */
static void test_fit(void)
{
	struct crit_region_line line = {
		.call = CRIT_CONSTRUCT_PARALLEL,
		.phase = "",
		.place = { .function = "a_function_with_a_very_long_name",
			   .file = "/src/stencil.c",
			   .line = 1234 },
	};
	char text[64];

	CHECK_STR_EQ(crit_location_fit(&line.place, 24, text, sizeof(text)),
		     "a_fu..ame stencil.c:1234");
	CHECK_STR_EQ(crit_location_fit(&line.place, 16, text, sizeof(text)), "stencil.c:1234");
	CHECK_STR_EQ(crit_region_fit(&line, 34, text, sizeof(text)),
		     "parallel a_fu..name stencil.c:1234");
	line.place.line = 0;
	CHECK(strlen(crit_location_fit(&line.place, 12, text, sizeof(text))) <= 12);
}

int main(void)
{
	test_fit();
	test_join();
	test_apart();
	test_nonsense();
	test_imbalance();
	return check_done();
}
