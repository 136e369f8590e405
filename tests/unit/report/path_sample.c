// SPDX-License-Identifier: BSD-3-Clause
// A run with call paths, filled by hand: 20 parts of a second of CMetric.
#include "tests/unit/report/path_sample.h"

#include <string.h>

#include "core/base/array.h"
#include "tests/lib/check.h"

#define BATCHES CRIT_SAMPLE_BATCHES

static struct crit_sample_row rows[8];
static crit_fix not_sampled[SAMPLE_THREADS_MAX];
static char solver[] = "/bin/solver", libc[] = "/lib/libc.so.6";
static char *files[] = { solver, libc };

/* start -> main:90 -> sweep:20 (-> sweep:20); main:91; code in no file, whose caller is unknown */
static struct crit_path_row paths[] = {
	{ 0, CRIT_NONE, CRIT_NONE },
	{ 0, CRIT_NONE, CRIT_NONE },
	{ 0, CRIT_NONE, CRIT_NONE },
	{ 0, CRIT_NONE, CRIT_NONE },
	{ 0, CRIT_NONE, CRIT_NONE },
	{ 0x50, 1, CRIT_PATH_COMPLETE },
	{ 0x90, 0, 5 },
	{ 0x20, 0, 6 },
	{ 0x20, 0, 7 },
	{ 0x91, 0, 5 },
	{ 0x77, CRIT_NONE, CRIT_PATH_CUT_CFI },
	{ 0x99, 0, 5 }, /* of no sample */
};

static const struct crit_source_frame inlined[] = { { "inner", "i.h", 5 }, { "relax", "a.c", 12 } };

static void place_of(uint64_t at, struct crit_source_location *place)
{
	*place = (struct crit_source_location){ .module = solver,
						.file = "a.c",
						.line = (uint32_t)(at >> 4 & 15) * 10 + (at & 15) };
	place->function = at >= 0x90 ? "main" : at >= 0x20 ? "sweep" : "relax";
}

static void find_place(void *user, uint32_t node, uint32_t pid, uint64_t address,
		       struct crit_source_location *ret_place)
{
	(void)user;
	(void)node;
	(void)pid;
	if (address == 0x999)
		return;
	place_of(address, ret_place);
	if (address == 0x18) {
		ret_place->frames = inlined;
		ret_place->frame_count = 2;
		ret_place->function = "inner";
		ret_place->outer = "relax";
	}
}

static void find_in_file(void *user, const char *path, uint64_t offset,
			 struct crit_source_location *ret_place)
{
	(void)user;
	CHECK(offset != 0x99);
	if (path == solver)
		place_of(offset, ret_place);
	else
		*ret_place = (struct crit_source_location){ .module = path, .function = "start" };
}

const struct crit_region_finder path_sample_finder = { .find = find_place,
						       .find_in_file = find_in_file };

static void add(struct crit_sample_results *samples, uint64_t address, uint32_t path,
		unsigned int parts, float error_s)
{
	struct crit_sample_row *row = &rows[samples->row_count++];

	*row = (struct crit_sample_row){ .address = address,
					 .path = path,
					 .count = 10 * parts,
					 .cmetric = parts * PATH_SAMPLE_PART };
	for (uint32_t i = 0; i < BATCHES; i++)
		row->error_s[i] = i % 2 ? -error_s : error_s;
	samples->count += row->count;
}

void path_sample_fill(struct results_sample *sample)
{
	results_sample_barriers(sample);
	sample->results.samples = (struct crit_sample_results){ .rows = rows,
								.not_sampled = not_sampled,
								.paths = paths,
								.path_count = 12,
								.path_files = files,
								.path_file_count = 2,
								.batch_count = BATCHES };
	add(&sample->results.samples, 0x10, 7, 6, 0.002f); /* relax, by sweep, by main:90 */
	add(&sample->results.samples, 0x11, 7, 2, -0.001f);
	add(&sample->results.samples, 0x10, 8, 3, 0); /* one sweep more */
	add(&sample->results.samples, 0x18, 9, 4, 0); /* inner in relax, by main:91 */
	add(&sample->results.samples, 0x999, 10, 1, 0);
	add(&sample->results.samples, 0x10, CRIT_PATH_NONE, 2, 0);
	add(&sample->results.samples, 0x91, 5, 1, 0); /* main itself */
	not_sampled[0] = PATH_SAMPLE_PART;
}
