/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parallel regions, tasks and phases over all processes: the same line of code, begun in the same
 * region, is one row, wherever it was loaded.
 */
#ifndef CRIT_REGIONS_H
#define CRIT_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/results.h"
#include "analysis/symbols/symbols.h"

#define CRIT_REGION_TEXT 192

struct crit_region_sum {
	uint64_t visits;
	uint64_t time_ns;
	uint64_t useful_ns;
	uint64_t omp_wait_ns;
	uint64_t mpi_ns;
	struct crit_attribution run;
};

struct crit_region_share { /* what one thread did in one region */
	uint32_t thread; /* index into the results' threads */
	struct crit_region_sum sum;
};

/* How unevenly useful time is spread.  docs/metric.md, "Imbalance". */
struct crit_imbalance {
	size_t count; /* ranks or threads that took part */
	double max_s;
	double mean_s;
	double percent; /* 100 (max / mean - 1) */
	double variation_ratio; /* standard deviation / mean */
	int32_t slowest; /* index of the thread or rank that has max; -1 none */
};

struct crit_region_line {
	uint32_t call; /* CRIT_CONSTRUCT_PARALLEL, _TASK, _PHASE; 0: outside all regions */
	int32_t parent; /* index into rows, always a smaller one; -1 none */
	struct crit_source_location place;
	const char *phase; /* name of a phase, "" else */
	uint32_t process_count;
	uint32_t team_max;
	uint64_t visits; /* begun; of a parallel region counted once per team */
	uint64_t elapsed_ns;
	uint64_t scheduling_ns;
	uint64_t imbalance_ns;
	uint64_t runnable_ns;
	struct crit_region_sum sum;
	size_t first_share; /* by thread, in the table's shares */
	size_t share_count;
	struct crit_imbalance threads; /* over all threads that took part */
	struct crit_imbalance ranks; /* sums over a rank's threads; count 0 without ranks */
};

struct crit_region_table {
	struct crit_region_line *rows; /* regions inside a region apart */
	size_t row_count;
	size_t *order; /* indexes into rows, by CMetric, descending; "outside" among them */
	struct crit_region_line *phases; /* with all regions inside them; by CMetric, descending */
	size_t phase_count;
	struct crit_region_share *shares;
	size_t share_count;
};

struct crit_region_finder { /* where an address of a process is */
	void (*find)(void *user, uint32_t node, uint32_t pid, uint64_t address,
		     struct crit_source_location *ret_place);
	void *user;
	/* Where a byte of a file is, within a call; NULL: nobody knows. */
	void (*find_in_file)(void *user, const char *path, uint64_t offset,
			     struct crit_source_location *ret_place);
};

/*
 * Joins the regions of the results.  finder NULL: addresses stay what they are.
 * Ownership: fini frees; results and the finder's texts must outlive the table.  An empty table
 * when the run has no regions.  Errors: -ENOMEM.
 */
int crit_region_table_init(struct crit_region_table *table, const struct crit_results *results,
			   const struct crit_region_finder *finder);
void crit_region_table_fini(struct crit_region_table *table);

/* "parallel", "task", "phase", "outside". */
const char *crit_region_kind(const struct crit_region_line *line);

/* "omp parallel step (stencil.c:42)", "phase solve", "outside all regions". */
const char *crit_region_name(const struct crit_region_line *line, char *text, size_t text_bytes);

/* The name in so many columns, "parallel step stencil.c:42"; the line stays whole. */
const char *crit_region_fit(const struct crit_region_line *line, int columns, char *text,
			    size_t text_bytes);

/* Names from the outermost region in, with " > " between. */
const char *crit_region_path(const struct crit_region_table *table,
			     const struct crit_region_line *line, char *text, size_t text_bytes);

/* Spread of values; those that took part only.  Shape: indexes[i] is whose value i is. */
void crit_imbalance_of(const double *values_s, const int32_t *indexes, size_t count,
		       struct crit_imbalance *ret_imbalance);

#endif
