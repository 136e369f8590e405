/* SPDX-License-Identifier: BSD-3-Clause */
/* What an analysis yields about samples: the CMetric of each thread, by code address and caller. */
#ifndef CRIT_SAMPLE_RESULTS_H
#define CRIT_SAMPLE_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/attribution.h"
#include "core/abi/abi_paths.h"

#define CRIT_SAMPLE_BATCHES 32u /* equal parts of the window, for the standard error */

/*
 * A call path: the frame of a caller and the path of its own caller.  The first CRIT_PATH_FIRST
 * rows have no frame: they are the enum crit_path_root, and their parent is CRIT_NONE.
 */
struct crit_path_row {
	uint64_t offset; /* in the file, within the calling instruction; without one an address */
	uint32_t file; /* index into path_files; CRIT_NONE not known */
	uint32_t parent; /* index of the caller's path, smaller than its own */
};

struct crit_call_tree { /* borrowed */
	const struct crit_path_row *rows;
	char *const *files; /* by path_row.file */
};

/*
 * An app thread at one address, called by one path, in the window.  docs/metric.md, "Lines and
 * functions".
 * error_s[b]: what batch b has beyond its share, in seconds of CMetric; those of several rows add
 * up to those of their sum.  one_sample_s: what one of its samples stands for, on average, in that
 * of its cells where it is most; no sum is known better.
 */
struct crit_sample_row {
	uint64_t
		address; /* as a return address: that of the next byte, where it was in user mode */
	uint32_t thread; /* index into threads */
	uint32_t path; /* of its caller; CRIT_PATH_NONE: not captured, or no room */
	uint32_t count;
	crit_fix cmetric; /* unit threads, scope run */
	uint64_t cpu_ns; /* that its samples stand for */
	float error_s[CRIT_SAMPLE_BATCHES];
	float one_sample_s;
};

struct crit_sample_results { /* all 0 where there are no samples */
	struct crit_sample_row *rows; /* sorted by thread, address, path */
	size_t row_count;
	crit_fix *not_sampled; /* by thread: CMetric without a sample; NULL where row_count is 0 */
	uint64_t count; /* samples of app threads in the window; rows have them all but: */
	uint64_t unlisted; /* those for which there was no room */
	struct crit_path_row *paths; /* 0: the recordings have none */
	size_t path_count;
	char **path_files; /* names as in /proc/PID/maps */
	size_t path_file_count;
	uint64_t refused_paths; /* entries of recordings that made no sense or found no room */
	uint32_t batch_count; /* of the batches, those that have samples with a weight */
};

#endif
