/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as data: results in order, sums over them, and what the findings say of them. */
#ifndef CRIT_SUMMARY_H
#define CRIT_SUMMARY_H

#include "analysis/table/efficiency.h"
#include "analysis/table/lost_time.h"
#include "analysis/schema/results.h"
#include "report/tables/hot_rows.h"
#include "report/tables/node_sums.h"
#include "report/tables/region_table.h"
#include "report/tables/call_sites.h"
#include "report/tables/wait_table.h"
#include "report/tables/words.h"

#define CRIT_SENTENCE_BYTES 2048
#define CRIT_MISSING_MAX 12

struct crit_cause_table;
struct crit_fix_table;
struct crit_wait_graph;

struct crit_missing {
	char what[CRIT_SENTENCE_BYTES]; /* what is missing or lost, and why */
	char fix[CRIT_SENTENCE_BYTES]; /* the one command that fixes it, "" none */
	bool is_incomplete; /* counts for exit code 3 */
};

struct crit_summary_options {
	const char *critd_path; /* for the command that fixes missing privileges */
	const char *privileges_fix; /* what fixes them here; NULL: capabilities of that file */
	const struct crit_call_sites *call_sites; /* NULL: no call sites */
	const struct crit_cause_table *causes; /* by place; NULL: waits are not told one by one */
	const struct crit_wait_graph *wait_graph; /* of the causes' pairs; may be NULL */
	const struct crit_fix_table *fixes; /* NULL: nobody knows what would help */
	const char *no_causes; /* why they could not be; NULL: the recordings do not tell of them */
	const char
		*no_excess; /* why ranks could not be compared; NULL: they were, or need not be */
	struct crit_symbols *symbols; /* NULL: code addresses have no names */
	const struct crit_region_finder *finder; /* where there are no symbols; may be NULL */
	bool is_live; /* the recording still grows: no foot is no loss */
};

struct crit_summary {
	const struct crit_results *results; /* borrowed */
	const struct crit_call_sites *call_sites; /* borrowed, may be NULL */
	const struct crit_cause_table *causes; /* borrowed, may be NULL */
	const struct crit_wait_graph *wait_graph; /* borrowed, may be NULL */
	const struct crit_fix_table *fixes; /* borrowed, may be NULL */
	struct crit_symbols *symbols; /* borrowed, may be NULL; finding a name changes it */
	enum crit_mode mode;
	enum crit_unit unit; /* of the headline: ranks, or threads without ranks */
	enum crit_verdict verdict;
	char sentence[CRIT_SENTENCE_BYTES];
	char preempted_note
		[CRIT_SENTENCE_BYTES]; /* who lost the CPU to whom; "" nobody to speak of */
	char may_wait_note[CRIT_SENTENCE_BYTES]; /* "" when counting mpi_may_wait changes little */
	struct crit_region_finder finder; /* names of addresses; find NULL: none */
	struct crit_hot_table hot; /* lines of the whole run */
	struct crit_wait_table waits;
	struct crit_region_table regions;
	struct crit_node_sum *node_sums; /* one per node */
	struct crit_efficiency efficiency;
	const struct crit_consistency_check *check; /* headline unit, scope run; NULL none */
	uint64_t silent_ns; /* T(n = 0) */
	double cmetric_s; /* sum over the headline unit, scope run */
	struct crit_lost_time lost;
	bool has_promise; /* the sentence says by how much sooner the run could end: */
	double promised_s;
	size_t app_threads;
	size_t ranks_missing; /* of the worlds' ranks, not recorded */
	size_t *rank_order; /* indexes into ranks, by CMetric, descending */
	size_t *thread_order; /* app threads first, by CMetric, descending */
	size_t *call_order; /* by all-waiting time + wait, descending */
	struct crit_missing *missing; /* room for CRIT_MISSING_MAX */
	size_t missing_folded; /* into the last of them */
	size_t missing_count;
	bool is_incomplete; /* exit code 3 */
	bool is_provisional; /* live, and silent about what may still come */
};

/*
 * Makes the tables; findings/summarise.h adds what the rules say.  Ownership: results stay the
 * caller's and must outlive the summary; fini frees.  Errors: -ENOMEM.
 */
int crit_summary_init(struct crit_summary *summary, const struct crit_results *results,
		      const struct crit_summary_options *options);

void crit_summary_fini(struct crit_summary *summary);

/* CMetric of row / sum over its unit; 0 when nothing was active. */
double crit_summary_share(const struct crit_summary *summary,
			  const struct crit_attribution *attribution);

/* Appends a row; more than CRIT_MISSING_MAX are folded into the last. */
void crit_summary_add_missing(struct crit_summary *summary, bool is_incomplete, const char *fix,
			      const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
