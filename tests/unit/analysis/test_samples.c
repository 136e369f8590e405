// SPDX-License-Identifier: BSD-3-Clause
// Samples at given stamps: what each address has of the CMetric, in closed form; and that samples
// change nothing else.
#include "analysis/samples/tallies.h"
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT
#define OTHER 200u

static uint64_t whole_ns(crit_fix value)
{
	return (uint64_t)((value + ((crit_fix)1 << 63)) >> 64);
}

/* A thread at an instruction of the given number, for period_ns, kept with keep / 65536. */
static void put(struct crit_maker *m, uint64_t at_ns, uint32_t tid, uint64_t ip, uint32_t period_ns,
		uint16_t keep)
{
	crit_maker_sample(
		m, (struct crit_kernel_sample){ .head = { .time_ns = at_ns, .cpu = tid == OTHER },
						.tid = tid,
						.ip = ip,
						.period_ns = period_ns,
						.keep = keep });
}

static const struct crit_sample_row *find(const struct crit_results *r, uint32_t tid, uint64_t ip)
{
	for (size_t i = 0; i < r->samples.row_count; i++) {
		const struct crit_sample_row *row = &r->samples.rows[i];

		if (r->threads[row->thread].tid == tid && row->address == ip + 1)
			return row;
	}
	return NULL;
}

static uint64_t at(const struct crit_results *r, uint32_t tid, uint64_t ip)
{
	const struct crit_sample_row *row = find(r, tid, ip);

	return CHECK_MSG(row, "no row of %u at %llu", tid, (unsigned long long)ip)
		       ? whole_ns(row->cmetric)
		       : 0;
}

/* Over addresses and what was not sampled: that of the threads, to the last bit. */
static void check_sums(const struct crit_results *r)
{
	const struct crit_sample_results *samples = &r->samples;
	double batches_s[CRIT_SAMPLE_BATCHES] = { 0 };
	uint64_t count = samples->unlisted;
	crit_fix sum = 0, all = 0;

	for (size_t i = 0; i < samples->row_count; i++) {
		const struct crit_sample_row *row = &samples->rows[i];

		sum += row->cmetric;
		count += row->count;
		CHECK(i == 0 || row[-1].thread < row->thread || row[-1].address < row->address ||
		      row[-1].path < row->path);
		CHECK(row->path < CRIT_PATH_FIRST || row->path < samples->path_count);
		for (uint32_t b = 0; b < CRIT_SAMPLE_BATCHES; b++)
			batches_s[b] += (double)row->error_s[b];
	}
	CHECK_UINT_EQ(count, samples->count);
	for (size_t i = CRIT_PATH_FIRST; i < samples->path_count; i++)
		CHECK(samples->paths[i].parent && samples->paths[i].parent < i &&
		      (samples->paths[i].file == CRIT_NONE ||
		       samples->paths[i].file < samples->path_file_count));
	for (size_t i = 0; i < r->thread_count; i++) {
		sum += samples->not_sampled[i];
		all += r->threads[i].run.cmetric[CRIT_UNIT_THREADS];
	}
	CHECK_MSG(sum == all, "off by %g ns", 1e9 * crit_fix_seconds(sum - all));
	for (uint32_t b = 0; b < CRIT_SAMPLE_BATCHES && !samples->unlisted; b++)
		CHECK_MSG(fabs(batches_s[b]) < 1e-7, "batch %u: %g s", b, batches_s[b]);
}

/*
 * The root is alone for 10 ms, then two threads work for 15: it has 10 + 7.5 ms, the other 7.5.
 * a = 3 and b = 7 of the first ten, then both in p: 12, 28 and 60 per cent.
 */
static struct crit_maker *make_two_threads(uint16_t keep)
{
	struct crit_maker *m = crit_act_begin("node0");

	crit_act_enrol(m, 1, ROOT);
	put(m, 1 * MS, ROOT, 0xa, 3 * MS, 0);
	put(m, 5 * MS, ROOT, 0xb, 7 * MS, 0);
	crit_act_start(m, 10 * MS + 1, OTHER, ROOT, 1);
	put(m, 12 * MS, ROOT, 0xc, 15 * MS / 4, keep);
	put(m, 12 * MS, OTHER, 0xc, 15 * MS, 0);
	crit_act_end(m, 25 * MS + 1, OTHER, ROOT, 1);
	crit_act_end(m, 25 * MS + 1, ROOT, ROOT, 0);
	return m;
}

static struct crit_results *two_threads(uint16_t keep)
{
	struct crit_maker *m = make_two_threads(keep);

	return crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
}

static void test_weights(void)
{
	struct crit_results *r = two_threads(65536 / 4);

	CHECK_CASE("weights");
	CHECK_UINT_EQ(r->window_ns, 25 * MS);
	CHECK_UINT_EQ(at(r, ROOT, 0xa), 3 * MS);
	CHECK_UINT_EQ(at(r, ROOT, 0xb), 7 * MS);
	CHECK_UINT_EQ(at(r, ROOT, 0xc), 15 * MS / 2);
	CHECK_UINT_EQ(at(r, OTHER, 0xc), 15 * MS / 2);
	CHECK_UINT_EQ(r->samples.count, 4);
	CHECK_UINT_EQ(find(r, ROOT, 0xc)->cpu_ns, 15 * MS);
	check_sums(r);
	crit_results_destroy(r);
}

/* With at most one active thread only the first 10 ms count, and with two all is as it was. */
static void test_gate(void)
{
	struct crit_results *r[3] = { NULL };

	CHECK_CASE("gate");
	for (uint32_t active_max = 0; active_max < 3; active_max++) {
		const struct crit_analysis_options options = { .active_max = active_max };
		struct crit_maker *m = make_two_threads(65536 / 4);

		CHECK_INT_EQ(crit_analysed_with(&m, 1, &options, &r[active_max]), 0);
		crit_maker_destroy(m);
	}
	CHECK_UINT_EQ(at(r[1], ROOT, 0xa), 3 * MS);
	CHECK_UINT_EQ(at(r[1], ROOT, 0xb), 7 * MS);
	CHECK_UINT_EQ(r[1]->samples.count, 2);
	CHECK_UINT_EQ(whole_ns(crit_analysed_thread(r[1], OTHER)->run.cmetric[CRIT_UNIT_THREADS]),
		      0);
	check_sums(r[1]);
	for (uint32_t tid = ROOT; tid <= OTHER; tid += OTHER - ROOT)
		CHECK_UINT_EQ(at(r[2], tid, 0xc), at(r[0], tid, 0xc));
	CHECK_UINT_EQ(at(r[2], ROOT, 0xc), 15 * MS / 2);
	for (size_t i = 0; i < 3; i++)
		crit_results_destroy(r[i]);
}

/*
 * At the instant the other begins and ends, whichever record comes first, n is that of the time
 * before: 0xa has two thirds of 22.5 ms, 0xb one.
 */
static void test_instant(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;

	CHECK_CASE("instant");
	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 10 * MS + 1, OTHER, ROOT, 1);
	put(m, 10 * MS + 1, ROOT, 0xa, MS, 0);
	crit_act_end(m, 25 * MS + 1, OTHER, ROOT, 1);
	put(m, 25 * MS + 1, ROOT, 0xb, MS, 0);
	crit_act_end(m, 30 * MS + 1, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(at(r, ROOT, 0xa), 15 * MS);
	CHECK_UINT_EQ(at(r, ROOT, 0xb), 15 * MS / 2);
	check_sums(r);
	crit_results_destroy(r);
}

/* Were it kept with a probability of 1, it would stand for 15 / 4 ms on its CPU. */
static void test_keep(void)
{
	struct crit_results *r = two_threads(0);

	CHECK_CASE("keep");
	CHECK_UINT_EQ(at(r, ROOT, 0xa), 4421053); /* 17.5 ms * 3 / (10 + 15 / 8) */
	CHECK_UINT_EQ(find(r, ROOT, 0xc)->cpu_ns, 15 * MS / 4);
	check_sums(r);
	crit_results_destroy(r);
}

/* In the kernel the address is that behind the system call; without a period all count 1. */
static void test_modes(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_kernel_sample in_kernel = {
		.head = { .time_ns = 3 * MS, .flags = CRIT_KF_IN_KERNEL }, .tid = ROOT, .ip = 0xb
	};
	struct crit_results *r;

	CHECK_CASE("modes");
	crit_act_enrol(m, 1, ROOT);
	put(m, 1 * MS, ROOT, 0xa, 0, 0);
	put(m, 2 * MS, ROOT, 0xc, 0, 0);
	crit_maker_sample(m, in_kernel);
	put(m, 4 * MS, ROOT, 0xc, 0, 0);
	put(m, 5 * MS, 4711, 0xc, 0, 0); /* of no thread */
	crit_act_end(m, 10 * MS + 1, ROOT, ROOT, 0);
	put(m, 11 * MS, ROOT, 0xd, 0, 0); /* it is gone, and with it the window */
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->window_ns, 10 * MS);
	CHECK_UINT_EQ(r->samples.count, 4);
	CHECK_UINT_EQ(r->samples.row_count, 2);
	CHECK_UINT_EQ(at(r, ROOT, 0xa), 5 * MS); /* 0xa and 0xb in the kernel */
	CHECK_UINT_EQ(at(r, ROOT, 0xc), 5 * MS);
	check_sums(r);
	crit_results_destroy(r);
}

/*
 * A rank waits in MPI_Recv from 20 to 40 ms: what is sampled there has no weight.  Its part is from
 * 10 to 60 ms.  In MPI_Comm_rank, from 50 on, nothing is sampled.
 */
static void test_cells(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	struct crit_results *r;
	uint32_t stream;

	CHECK_CASE("cells");
	crit_act_enrol(m, 1, ROOT);
	crit_act_start(m, 2 * MS, OTHER, OTHER, 1);
	stream = crit_act_rank(m, OTHER, 0, 10 * MS);
	put(m, 5 * MS, OTHER, 0xe, MS, 0);
	put(m, 12 * MS, OTHER, 0xa, MS, 0);
	crit_maker_enter(m, stream, 20 * MS, CRIT_MPI_Recv);
	put(m, 22 * MS, OTHER, 0xf, MS, 65536 / 16);
	crit_maker_leave(m, stream, 40 * MS, CRIT_MPI_Recv);
	put(m, 42 * MS, OTHER, 0xb, 3 * MS, 0);
	crit_maker_enter(m, stream, 50 * MS, CRIT_MPI_Comm_rank);
	crit_maker_leave(m, stream, 60 * MS, CRIT_MPI_Comm_rank);
	crit_act_close(m, OTHER, stream, 60 * MS);
	crit_act_end(m, 61 * MS, OTHER, OTHER, 1);
	crit_act_end(m, 62 * MS, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->samples.count, 3);
	CHECK_UINT_EQ(at(r, OTHER, 0xa), 5 * MS);
	CHECK_UINT_EQ(at(r, OTHER, 0xb), 15 * MS);
	CHECK_UINT_EQ(at(r, OTHER, 0xf), 0);
	CHECK_UINT_EQ(find(r, OTHER, 0xf)->cpu_ns, 16 * MS);
	CHECK_UINT_EQ(whole_ns(r->samples.not_sampled[crit_analysed_thread(r, OTHER) - r->threads]),
		      10 * MS);
	check_sums(r);
	crit_results_destroy(r);
}

/* Two functions take turns with the batches: the residual of each is a batch's share. */
static void test_errors(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	const struct crit_sample_row *a, *b;
	struct crit_results *r;

	CHECK_CASE("errors");
	crit_act_enrol(m, 1, ROOT);
	for (uint64_t i = 0; i < CRIT_SAMPLE_BATCHES; i++)
		put(m, i * 10 * MS + 5 * MS, ROOT, 0xa + i % 2, MS, 0);
	crit_act_end(m, CRIT_SAMPLE_BATCHES * 10 * MS + 1, ROOT, ROOT, 0);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	a = find(r, ROOT, 0xa);
	b = find(r, ROOT, 0xb);
	CHECK_UINT_EQ(r->samples.batch_count, CRIT_SAMPLE_BATCHES);
	CHECK_REL(a ? (double)a->one_sample_s : 0, 0.01, 1e-6, 0);
	for (uint32_t i = 0; a && b && i < CRIT_SAMPLE_BATCHES; i++) {
		CHECK_REL((double)a->error_s[i], i % 2 ? -0.005 : 0.005, 1e-6, 0);
		CHECK_REL((double)b->error_s[i], i % 2 ? 0.005 : -0.005, 1e-6, 0);
	}
	check_sums(r);
	crit_results_destroy(r);
}

/* Beyond the most that are counted apart, samples keep their weights and lose their addresses. */
static void test_tallies(void)
{
	struct crit_tallies tallies = { .max = 3 };
	struct crit_tally sample = { .weight = 2, .cpu_ns = 3, .count = 1 };

	CHECK_CASE("tallies");
	for (uint64_t address = 1; address <= 10; address++) {
		sample.address = address;
		CHECK_INT_EQ(crit_tallies_add(&tallies, &sample),
			     address <= 3 ? (int64_t)address - 1 : 3);
	}
	sample.address = 2;
	CHECK_INT_EQ(crit_tallies_add(&tallies, &sample), 1);
	if (CHECK_UINT_EQ(tallies.count, 4)) {
		CHECK_UINT_EQ(tallies.rows[1].count, 2);
		CHECK_UINT_EQ(tallies.rows[3].address, 0);
		CHECK_UINT_EQ(tallies.rows[3].count, 7);
		CHECK_UINT_EQ(tallies.rows[3].cpu_ns, 21);
		CHECK_UINT_EQ((uint64_t)tallies.rows[3].weight, 14);
	}
	crit_tallies_fini(&tallies);
}

/* What has no room loses its path first. */
static void test_tallies_of_paths(void)
{
	struct crit_tallies tallies = { .max = 2 };
	struct crit_tally sample = { .address = 7, .weight = 2, .count = 1 };

	CHECK_CASE("tallies of paths");
	for (sample.path = 0; sample.path < 4; sample.path++)
		CHECK_INT_EQ(crit_tallies_add(&tallies, &sample),
			     sample.path < 2 ? sample.path : 0);
	if (CHECK_UINT_EQ(tallies.count, 2)) {
		CHECK_UINT_EQ(tallies.rows[0].path, 0);
		CHECK_UINT_EQ(tallies.rows[0].count, 3);
		CHECK_UINT_EQ(tallies.rows[1].path, 1);
	}
	crit_tallies_fini(&tallies);
}

static void check_same(uint64_t seed)
{
	const struct crit_maker_options options = { .chunk_bytes = seed % 3 ? 4096 : 64,
						    .samples = seed };
	struct crit_results *r[2]; /* without samples, and with them */
	struct crit_maker *m;

	CHECK_CASE("seed %llu", (unsigned long long)seed);
	crit_analysed_pair(&options, false, &m, r);
	CHECK_UINT_EQ(r[0]->samples.count, 0);
	CHECK(!r[0]->samples.rows && !r[0]->samples.not_sampled);
	CHECK_INT_GT(r[1]->samples.count, 100);
	check_sums(r[1]);
	CHECK_UINT_EQ(crit_analysed_losses(&r[1]->losses), 0);
	r[1]->nodes[0].kernel_record_count = r[0]->nodes[0].kernel_record_count;
	r[1]->nodes[0].recording_bytes = r[0]->nodes[0].recording_bytes;
	CHECK_UINT_EQ(crit_analysed_digest(r[1]), crit_analysed_digest(r[0]));
	crit_results_destroy(r[0]);
	crit_results_destroy(r[1]);
}

int main(void)
{
	test_weights();
	test_gate();
	test_instant();
	test_keep();
	test_modes();
	test_cells();
	test_errors();
	test_tallies();
	test_tallies_of_paths();
	for (uint64_t seed = 1; seed <= 30; seed++)
		check_same(seed);
	return check_done();
}
