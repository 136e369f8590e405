// SPDX-License-Identifier: BSD-3-Clause
// Call paths of samples in made recordings: what each has of the CMetric, one tree of several
// nodes, and entries that make no sense.
#include <limits.h>
#include <string.h>

#include "analysis/samples/call_paths.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"
#include "tests/maker/random.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT

static uint64_t whole_ns(crit_fix value)
{
	return (uint64_t)((value + ((crit_fix)1 << 63)) >> 64);
}

static void put(struct crit_maker *m, uint64_t at_ns, uint64_t ip, uint32_t request)
{
	crit_maker_sample(m, (struct crit_kernel_sample){ .head = { .time_ns = at_ns },
							  .tid = ROOT,
							  .ip = ip,
							  .request = request,
							  .period_ns = MS });
}

static void put_chunk(struct crit_maker *m, enum crit_chunk_kind kind, const void *records,
		      size_t bytes)
{
	crit_maker_chunk(m, (struct crit_chunk_head){ .kind = (uint16_t)kind }, records, bytes);
}

#define PUT_PATHS(m, ...)                                                                          \
	do {                                                                                       \
		const struct crit_rec_path records[] = { __VA_ARGS__ };                            \
		put_chunk(m, CRIT_C_PATHS, records, sizeof(records));                              \
	} while (0)

#define PUT_SAMPLES(m, ...)                                                                        \
	do {                                                                                       \
		const struct crit_rec_sample_path records[] = { __VA_ARGS__ };                     \
		put_chunk(m, CRIT_C_SAMPLES, records, sizeof(records));                            \
	} while (0)

static struct crit_maker *begin(const char *host)
{
	struct crit_maker *m = crit_act_begin(host);

	crit_act_enrol(m, 1, ROOT);
	return m;
}

static void end(struct crit_maker *m, uint64_t at_ns)
{
	crit_act_end(m, at_ns + 1, ROOT, ROOT, 0);
}

/* CMetric and samples at an address (0: any) called by a path, over all threads. */
static uint64_t at(const struct crit_results *r, uint64_t ip, uint32_t path, uint64_t *ret_count)
{
	crit_fix sum = 0;

	*ret_count = 0;
	for (size_t i = 0; i < r->samples.row_count; i++) {
		const struct crit_sample_row *row = &r->samples.rows[i];

		if ((ip && row->address != ip + 1) || row->path != path)
			continue;
		sum += row->cmetric;
		*ret_count += row->count;
	}
	return whole_ns(sum);
}

static void check_at(const struct crit_results *r, uint64_t ip, uint32_t path, uint64_t wanted_ns,
		     uint64_t wanted_count)
{
	uint64_t count;

	CHECK_UINT_EQ(at(r, ip, path, &count), wanted_ns);
	CHECK_UINT_EQ(count, wanted_count);
}

/* The path of one more frame; CRIT_NONE none. */
static uint32_t called(const struct crit_results *r, uint32_t parent, const char *file,
		       uint64_t offset)
{
	const struct crit_sample_results *samples = &r->samples;

	for (uint32_t i = CRIT_PATH_FIRST; i < samples->path_count; i++) {
		const struct crit_path_row *path = &samples->paths[i];
		const char *name = path->file == CRIT_NONE ? "" : samples->path_files[path->file];

		if (path->parent == parent && path->offset == offset && !strcmp(name, file))
			return i;
	}
	return CRIT_NONE;
}

/* Over paths as over lines as over cells, to the last bit. */
static void check_sums(const struct crit_results *r)
{
	const struct crit_sample_results *samples = &r->samples;
	uint64_t count = samples->unlisted;
	crit_fix sum = 0, all = 0;

	for (size_t i = 0; i < samples->row_count; i++) {
		sum += samples->rows[i].cmetric;
		count += samples->rows[i].count;
		CHECK(samples->rows[i].path < samples->path_count);
	}
	for (size_t i = CRIT_PATH_FIRST; i < samples->path_count; i++)
		CHECK(samples->paths[i].parent && samples->paths[i].parent < i &&
		      (samples->paths[i].file == CRIT_NONE ||
		       samples->paths[i].file < samples->path_file_count));
	for (size_t i = 0; i < r->thread_count; i++) {
		sum += samples->not_sampled[i];
		all += r->threads[i].run.cmetric[CRIT_UNIT_THREADS];
	}
	CHECK_UINT_EQ(count, samples->count);
	CHECK_MSG(sum == all, "off by %g ns", 1e9 * crit_fix_seconds(sum - all));
}

/*
 * One thread for 10 ms and ten samples: 0xa from f (2) and g (3), 0xb from f (1), cut from no CFI
 * (1), without a stack (1), whose answer is missing (1), and whose path is (1).
 */
static void test_paths(void)
{
	struct crit_maker *m = begin("node0");
	uint32_t main_path, f, g;
	struct crit_results *r;

	CHECK_CASE("paths");
	for (uint32_t i = 0; i < 10; i++)
		put(m, i * MS + MS / 2, i < 5 ? 0xa : 0xb, i == 7 ? 0 : 10 - i);
	crit_maker_path_file(m, 3, "/bin/solver");
	crit_maker_path_file(m, 4, "[anon]");
	PUT_PATHS(m, { .path = 5, .parent = CRIT_PATH_COMPLETE, .file = 3, .offset = 0x10 },
		  { .path = 6, .parent = 5, .file = 3, .offset = 0xf },
		  { .path = 9, .parent = 5, .file = 8, .offset = 0x99 },
		  { .path = 10, .parent = 5, .file = 4, .offset = 0x99 });
	PUT_SAMPLES(m, { 10, 6 }, { 9, 6 }, { 8, 9 }, { 7, 9 }, { 6, 9 });
	PUT_SAMPLES(m, { 2, 4711 }, { 5, 6 }, { 4, CRIT_PATH_CUT_CFI });
	end(m, 10 * MS);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	main_path = called(r, CRIT_PATH_COMPLETE, "/bin/solver", 0x10);
	f = called(r, main_path, "/bin/solver", 0xf);
	g = called(r, main_path, "", 0x99); /* of a file that nobody named */
	check_at(r, 0xa, f, 2 * MS, 2);
	check_at(r, 0xa, g, 3 * MS, 3);
	check_at(r, 0xb, f, 1 * MS, 1);
	check_at(r, 0xb, CRIT_PATH_CUT_CFI, 1 * MS, 1);
	check_at(r, 0xb, CRIT_PATH_NONE, 3 * MS, 3);
	CHECK_UINT_EQ(r->samples.row_count, 5);
	CHECK_UINT_EQ(r->samples.path_count, CRIT_PATH_FIRST + 3);
	CHECK_UINT_EQ(r->samples.refused_paths, 1);
	CHECK_UINT_EQ(crit_analysed_losses(&r->losses), 0);
	check_sums(r);
	crit_results_destroy(r);
}

/* Two nodes number paths and files their own way: one tree. */
static void test_nodes(void)
{
	struct crit_maker *makers[2];
	struct crit_results *r;
	uint32_t main_path, f;

	CHECK_CASE("nodes");
	for (uint32_t i = 0; i < 2; i++) {
		struct crit_maker *m = makers[i] = begin(i ? "node1" : "node0");

		put(m, MS, 0xa, 1);
		put(m, 2 * MS, 0xa, 2);
		crit_maker_path_file(m, 1 + i, "/bin/solver");
		crit_maker_path_file(m, 2 - i, "/lib/libc.so.6");
		PUT_PATHS(
			m,
			{ .path = 5 + i, .parent = CRIT_PATH_COMPLETE, .file = 2 - i, .offset = 1 },
			{ .path = 6 - i, .parent = 5 + i, .file = 1 + i, .offset = 2 },
			{ .path = 77, .parent = 6 - i, .file = 1 + i, .offset = 3 + i });
		PUT_SAMPLES(m, { 1, 6 - i }, { 2, 77 });
		end(m, 10 * MS);
	}
	r = crit_analysed_finish(makers, 2, CRIT_ACTIVE_DEFAULT);
	main_path = called(r, CRIT_PATH_COMPLETE, "/lib/libc.so.6", 1);
	f = called(r, main_path, "/bin/solver", 2);
	CHECK_UINT_EQ(r->samples.path_count, CRIT_PATH_FIRST + 4);
	CHECK_UINT_EQ(r->samples.path_file_count, 2);
	CHECK_UINT_EQ(r->samples.refused_paths, 0);
	check_at(r, 0xa, f, 5 * MS, 2);
	check_at(r, 0xa, called(r, f, "/bin/solver", 3), 5 * MS / 2, 1);
	check_at(r, 0xa, called(r, f, "/bin/solver", 4), 5 * MS / 2, 1);
	check_sums(r);
	crit_results_destroy(r);
}

/* Each of these is refused: its samples have no path, and the others keep theirs. */
static void test_refused(void)
{
	static const unsigned char nul[16] = { 1, 0, 0, 0, 3, 0, 0, 0, '/', 0, 'x' };
	static const unsigned char beyond[16] = { 2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, '/' };
	static unsigned char huge[PATH_MAX + 8] = { 3, 0, 0, 0, PATH_MAX & 0xff, PATH_MAX >> 8 };
	struct crit_maker *m = begin("node0");
	struct crit_results *r;

	CHECK_CASE("refused");
	memset(huge + 8, 'x', PATH_MAX);
	put_chunk(m, CRIT_C_PATH_FILES, nul, sizeof(nul));
	put_chunk(m, CRIT_C_PATH_FILES, beyond, sizeof(beyond));
	put_chunk(m, CRIT_C_PATH_FILES, huge, sizeof(huge));
	put_chunk(m, CRIT_C_PATH_FILES, nul, 7);
	crit_maker_path_file(m, 1, ""); /* has no name */
	crit_maker_path_file(m, 1, "/bin/solver");
	crit_maker_path_file(m, 1, "/bin/other");
	PUT_PATHS(m, { .path = 5, .parent = 6, .file = 1 }, /* before its parent */
		  { .path = 6, .parent = 1, .file = 1 }, { .path = 7, .parent = 7, .file = 1 },
		  { .path = 8, .parent = CRIT_PATH_NONE, .file = 1 },
		  { .path = CRIT_PATH_CUT_MAPS, .parent = 1, .file = 1 },
		  { .path = 6, .parent = 1, .file = 1, .offset = 4 }); /* there is one */
	put_chunk(m, CRIT_C_PATHS, huge, 23);
	for (uint32_t i = 1; i < 5; i++)
		put(m, i * MS, 0xa, i);
	PUT_SAMPLES(m, { 0, 6 }, { 1, 5 }, { 2, 6 }, { 3, 7 }, { 4, 6 }, { 4, 1 }, { 2, 6 });
	put_chunk(m, CRIT_C_SAMPLES, huge, 7);
	end(m, 10 * MS);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->samples.path_count, CRIT_PATH_FIRST + 1);
	CHECK_UINT_EQ(r->samples.path_file_count, 1);
	CHECK_UINT_EQ(r->samples.refused_paths, 6 + 6 + 5);
	check_at(r, 0xa, CRIT_PATH_FIRST, 10 * MS / 4, 1);
	check_at(r, 0xa, CRIT_PATH_NONE, 30 * MS / 4, 3);
	check_sums(r);
	crit_results_destroy(r);
}

/* A path of more frames than any stack has is left out from there on. */
static void test_depth(void)
{
	static struct crit_rec_path records[CRIT_CALL_PATH_FRAMES_MAX + 10];
	struct crit_maker *m = begin("node0");
	struct crit_results *r;

	CHECK_CASE("depth");
	for (uint32_t i = 0; i < CRIT_CALL_PATH_FRAMES_MAX + 10; i++)
		records[i] = (struct crit_rec_path){ .path = CRIT_PATH_FIRST + i,
						     .parent = i ? CRIT_PATH_FIRST + i - 1
								 : CRIT_PATH_COMPLETE,
						     .offset = i };
	put_chunk(m, CRIT_C_PATHS, records, sizeof(records));
	put(m, MS, 0xa, 1);
	end(m, 10 * MS);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_UINT_EQ(r->samples.path_count, CRIT_PATH_FIRST + CRIT_CALL_PATH_FRAMES_MAX);
	CHECK_UINT_EQ(r->samples.refused_paths, 10);
	check_sums(r);
	crit_results_destroy(r);
}

/* Chunks of any records: whatever they hold, sums hold and every path is one of the tree's. */
static void test_any(uint64_t seed)
{
	struct crit_random random = { .state = seed };
	struct crit_maker *m = begin("node0");
	struct crit_results *r;

	CHECK_CASE("seed %llu", (unsigned long long)seed);
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t words[64];

		for (size_t k = 0; k < 64; k++)
			words[k] = (uint32_t)crit_random_below(
				&random, crit_random_is(&random, 5) ? 1ull << 32 : 12);
		put_chunk(m,
			  (enum crit_chunk_kind[]){ CRIT_C_PATH_FILES, CRIT_C_PATHS,
						    CRIT_C_SAMPLES }[i % 3],
			  words, 1 + crit_random_below(&random, sizeof(words)));
		put(m, (i + 1) * MS / 5, 0xa + i % 3, (uint32_t)crit_random_below(&random, 12));
	}
	end(m, 10 * MS);
	r = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	check_sums(r);
	crit_results_destroy(r);
}

int main(void)
{
	test_paths();
	test_nodes();
	test_refused();
	test_depth();
	for (uint64_t seed = 1; seed <= 50; seed++)
		test_any(seed);
	return check_done();
}
