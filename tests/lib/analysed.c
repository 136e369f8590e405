// SPDX-License-Identifier: BSD-3-Clause
// Hands recordings to the analysis through memfds and folds its results into digests.
#include "tests/lib/analysed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/analyse.h"
#include "analysis/table/efficiency.h"
#include "analysis/table/lost_time.h"
#include "core/base/err.h"
#include "tests/sim/synthetic.h"

static int analyse(const int *fds, size_t count, const struct crit_analysis_options *options,
		   struct crit_results **ret_results)
{
	char names[CRIT_ANALYSED_NODES][32];
	const char *paths[CRIT_ANALYSED_NODES] = { NULL };
	struct crit_err err = { .text = "" };

	for (size_t i = 0; i < count; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "/proc/self/fd/%d", fds[i]);
		paths[i] = names[i];
	}
	return crit_analyse(paths, count, options, ret_results, &err);
}

int crit_analysed_makers(struct crit_maker *const *makers, size_t count, enum crit_active_rule rule,
			 struct crit_results **ret_results)
{
	return crit_analysed_traced(makers, count, rule, NULL, ret_results);
}

int crit_analysed_traced(struct crit_maker *const *makers, size_t count, enum crit_active_rule rule,
			 const struct crit_trace_sink *sink, struct crit_results **ret_results)
{
	const struct crit_analysis_options options = { .rule = rule, .trace = sink };

	return crit_analysed_with(makers, count, &options, ret_results);
}

int crit_analysed_with(struct crit_maker *const *makers, size_t count,
		       const struct crit_analysis_options *options,
		       struct crit_results **ret_results)
{
	int fds[CRIT_ANALYSED_NODES] = { 0 };
	int rc;

	for (size_t i = 0; i < count; i++)
		fds[i] = crit_maker_memfd(makers[i]);
	rc = analyse(fds, count, options, ret_results);
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
	return rc;
}

int crit_analysed_bytes(const void *bytes, size_t length, enum crit_active_rule rule,
			struct crit_results **ret_results)
{
	struct crit_analysis_options options = { .rule = rule };
	int fd = crit_maker_memfd_of(bytes, length);
	int rc = analyse(&fd, 1, &options, ret_results);

	close(fd);
	return rc;
}

int crit_analysed_scenario(const struct crit_scenario *s, enum crit_active_rule rule,
			   const struct crit_maker_options *options, uint64_t interleave,
			   struct crit_results **ret_results)
{
	struct crit_maker *makers[CRIT_ANALYSED_NODES];
	int rc;

	for (uint32_t node = 0; node < s->node_count; node++) {
		makers[node] = crit_scenario_record(s, node, options);
		if (interleave) {
			crit_maker_jumble(makers[node], interleave + node, 400000);
			crit_maker_interleave(makers[node], interleave + node);
		}
	}
	rc = crit_analysed_makers(makers, s->node_count, rule, ret_results);
	for (uint32_t node = 0; node < s->node_count; node++)
		crit_maker_destroy(makers[node]);
	return rc;
}

static void end_test(const char *why)
{
	fprintf(stderr, "analysed: %s\n", why);
	exit(1);
}

struct crit_results *crit_analysed_finish(struct crit_maker **makers, size_t count,
					  enum crit_active_rule rule)
{
	struct crit_results *r = NULL;

	if (crit_analysed_makers(makers, count, rule, &r))
		end_test("the analysis fails");
	if (crit_analysed_failed_check(r))
		end_test(crit_analysed_failed_check(r));
	for (size_t i = 0; i < r->check_count; i++)
		if (!(r->checks[i].error_ratio <= 1e-12))
			end_test("a law is not exact");
	for (size_t i = 0; i < count; i++)
		crit_maker_destroy(makers[i]);
	return r;
}

void crit_analysed_pair(const struct crit_maker_options *options, bool is_spinning,
			struct crit_maker **ret_maker, struct crit_results *ret_results[2])
{
	const struct crit_synthetic spec = { .nodes = 1,
					     .ranks = 3,
					     .threads = 2,
					     .period_ns = 10000001,
					     .periods = 50,
					     .peers = 1,
					     .is_spinning = is_spinning };
	struct crit_maker *makers[] = { crit_maker_create(NULL), crit_maker_create(options) };

	*ret_maker = makers[1];
	for (size_t i = 0; i < 2; i++) {
		crit_synthetic_write(&spec, 0, makers[i]);
		ret_results[i] = crit_analysed_finish(&makers[i], 1, CRIT_ACTIVE_DEFAULT);
	}
}

const struct crit_thread_row *crit_analysed_thread(const struct crit_results *r, uint32_t tid)
{
	for (size_t i = 0; i < r->thread_count; i++) {
		if (r->threads[i].tid == tid)
			return &r->threads[i];
	}
	fprintf(stderr, "no thread %u\n", tid);
	exit(1);
}

double crit_analysed_ms(crit_fix value)
{
	return crit_fix_seconds(value) * 1e3;
}

uint64_t crit_analysed_cells_ns(const struct crit_cells *cells)
{
	uint64_t sum = 0;

	for (int state = 0; state < CRIT_STATE_COUNT; state++)
		for (int class = 0; class < CRIT_CLASS_COUNT; class ++)
			sum += cells->ns[state][class];
	return sum;
}

uint64_t crit_analysed_losses(const struct crit_losses *l)
{
	return l->kernel_records + l->shim_spans + l->unmatched_switches + l->tag_disagreements +
	       l->tag_stale + l->late_records + l->corrupt_chunks + l->truncated_bytes +
	       l->missing_chunks + l->unknown_chunks + l->unknown_records + l->no_buffer_threads +
	       l->refused_clients + l->unbalanced_spans + l->counters_lost;
}

static double fix_ns(crit_fix value)
{
	return crit_fix_seconds(value) * 1e9;
}

static bool differs(double a, double b)
{
	return !(fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b))));
}

struct sums {
	double cmetric[CRIT_SCOPE_COUNT][CRIT_UNIT_COUNT];
	double all_waiting[CRIT_SCOPE_COUNT][CRIT_UNIT_COUNT];
	double blame;
	double waiting;
};

/* Scope node: over the threads of one node.  Scope run: over all. */
static struct sums sum_threads(const struct crit_results *r, uint32_t node)
{
	struct sums sums = { .waiting = 0 };

	for (size_t i = 0; i < r->thread_count; i++) {
		const struct crit_thread_row *t = &r->threads[i];

		for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
			sums.cmetric[CRIT_SCOPE_RUN][unit] += fix_ns(t->run.cmetric[unit]);
			sums.all_waiting[CRIT_SCOPE_RUN][unit] += fix_ns(t->run.all_waiting[unit]);
			if (t->node != node)
				continue;
			sums.cmetric[CRIT_SCOPE_NODE][unit] += fix_ns(t->node_cmetric[unit]);
			sums.all_waiting[CRIT_SCOPE_NODE][unit] +=
				fix_ns(t->node_all_waiting[unit]);
		}
		sums.blame += fix_ns(t->run.blame);
		sums.waiting += (double)t->run.waiting_ns;
	}
	return sums;
}

static const char *broken_by(const struct crit_results *r,
			     const struct crit_consistency_check *check)
{
	struct sums sums = sum_threads(r, check->node);
	double cmetric = sums.cmetric[check->scope][check->unit];
	double all_waiting = sums.all_waiting[check->scope][check->unit];

	if (check->window_ns != r->window_ns || check->active_ns > check->window_ns)
		return "the window of a law";
	if (differs(cmetric, fix_ns(check->cmetric_sum)) ||
	    differs(all_waiting, fix_ns(check->all_waiting_sum)))
		return "the sums of a law";
	if (differs(cmetric, (double)check->active_ns))
		return "CMetric sums to T(n >= 1)";
	if (differs(cmetric + all_waiting + fix_ns(check->nobody), (double)check->window_ns))
		return "CMetric and stall sum to the window";
	if (!(check->error_ratio <= 1e-9))
		return "the printed error of a law";
	return NULL;
}

/* Where each rank has one thread and none is left out, useful time is told by the cells alone. */
static bool is_useful_of_cells(const struct crit_results *r, const struct crit_lost_time *lost)
{
	double useful_s = 0;

	if (!r->has_ranks || lost->unit_count != r->rank_count || r->rule != CRIT_ACTIVE_DEFAULT)
		return true;
	for (size_t i = 0; i < r->rank_count; i++) {
		struct crit_usage usage;

		crit_usage_of(&r->ranks[i].cells, &usage);
		useful_s += (double)usage.useful_ns * 1e-9;
		if (r->ranks[i].app_threads != 1)
			return true;
	}
	return !differs(useful_s * 1e9, lost->useful_s * lost->units * 1e9);
}

/* Useful time and losses divide the window; the gain is no part of what work needs. */
static const char *broken_by_lost_time(const struct crit_results *r)
{
	struct crit_lost_time lost = { 0 };
	double sum_s, most_s;

	if (crit_lost_time_of(r, NULL, &lost) || !lost.is_valid)
		return NULL;
	sum_s = lost.useful_s;
	for (int i = 0; i < CRIT_LOSS_COUNT; i++) {
		if (lost.loss_s[i] < -1e-9 * lost.window_s)
			return "a loss of time is not negative";
		sum_s += lost.loss_s[i];
	}
	if (differs(sum_s * 1e9, lost.window_s * 1e9))
		return "useful time and losses sum to the window";
	if (!is_useful_of_cells(r, &lost))
		return "useful time is that of the cells";
	most_s = lost.window_s > lost.floor_s ? lost.window_s - lost.floor_s : 0;
	if (lost.gain_s < 0 || lost.gain_s > most_s * (1 + 1e-9))
		return "the bound is not below what the CPUs need";
	return NULL;
}

/* Blocked time of app threads inside their parts of the window, by system calls. */
static bool differ_blocked(const struct crit_results *r)
{
	const struct crit_block_results *blocks = &r->blocks;
	uint64_t untold_ns = blocks->untold_ns;
	size_t at = 0;

	for (size_t i = 0; i < r->thread_count; i++) {
		uint64_t blocked_ns = 0;

		for (int c = 0; c < CRIT_CLASS_COUNT; c++)
			if (c != CRIT_CLASS_SETUP && r->threads[i].role == CRIT_THREAD_APP)
				blocked_ns += r->threads[i].cells.ns[CRIT_STATE_BLOCKED][c];
		for (; at < blocks->cell_count && blocks->cells[at].thread == i; at++) {
			const struct crit_block_cell *cell = &blocks->cells[at];
			uint64_t sum_ns = cell->not_captured_ns;

			if (cell->blocked_ns > blocked_ns)
				return true;
			blocked_ns -= cell->blocked_ns;
			for (size_t path = 0; path < cell->path_count; path++)
				sum_ns += blocks->paths[cell->first_path + path].blocked_ns;
			if (sum_ns != cell->blocked_ns)
				return true;
		}
		untold_ns -= blocked_ns;
	}
	return untold_ns || at != blocks->cell_count;
}

const char *crit_analysed_failed_check(const struct crit_results *r)
{
	struct sums sums = sum_threads(r, 0);

	for (size_t i = 0; i < r->check_count; i++) {
		const char *broken = broken_by(r, &r->checks[i]);

		if (broken)
			return broken;
	}
	for (size_t i = 0; i < r->thread_count; i++) {
		const struct crit_thread_row *t = &r->threads[i];

		if (crit_analysed_cells_ns(&t->cells) != t->life_ns)
			return "cells sum to life";
		if (t->death_ns < t->birth_ns || t->death_ns - t->birth_ns != t->life_ns)
			return "life lasts from birth to death";
	}
	if (differ_blocked(r))
		return "system calls sum to blocked time, paths to system calls";
	if (differs(sums.blame, sums.waiting))
		return "waited-for equals waiting";
	return broken_by_lost_time(r);
}

static void fold(uint64_t *digest, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < length; i++)
		*digest = (*digest ^ at[i]) * 0x100000001b3ull;
}

#define FOLD(digest, value) fold((digest), &(value), sizeof(value))

static void fold_attribution(uint64_t *digest, const struct crit_attribution *e)
{
	FOLD(digest, e->cmetric);
	FOLD(digest, e->all_waiting);
	FOLD(digest, e->blame);
	FOLD(digest, e->waiting_ns);
}

static void fold_thread(uint64_t *digest, const struct crit_thread_row *t)
{
	FOLD(digest, t->node);
	FOLD(digest, t->tid);
	FOLD(digest, t->rank_row);
	FOLD(digest, t->role);
	fold(digest, t->name, strnlen(t->name, sizeof(t->name)));
	FOLD(digest, t->birth_ns);
	FOLD(digest, t->death_ns);
	FOLD(digest, t->life_ns);
	FOLD(digest, t->cells);
	fold_attribution(digest, &t->run);
	FOLD(digest, t->node_cmetric);
	FOLD(digest, t->node_all_waiting);
	FOLD(digest, t->switches);
	FOLD(digest, t->unmatched);
}

static void fold_call(uint64_t *digest, const struct crit_call_row *c)
{
	FOLD(digest, c->call);
	FOLD(digest, c->site);
	FOLD(digest, c->visits);
	FOLD(digest, c->polled_calls);
	FOLD(digest, c->time_ns);
	FOLD(digest, c->wait_ns);
	fold_attribution(digest, &c->run);
	FOLD(digest, c->top_rank_row);
}

static void fold_messages(uint64_t *digest, const struct crit_message_results *m)
{
	FOLD(digest, m->until_ns);
	FOLD(digest, m->is_whole);
	FOLD(digest, m->has_order);
	FOLD(digest, m->losses);
	for (size_t i = 0; i < m->traffic_count; i++) {
		FOLD(digest, m->traffic[i].call);
		FOLD(digest, m->traffic[i].sent);
		FOLD(digest, m->traffic[i].received);
	}
	for (size_t i = 0; i < m->pair_count; i++)
		FOLD(digest, m->pairs[i]);
	for (size_t i = 0; i < m->communicator_count; i++) {
		FOLD(digest, m->communicators[i].kind);
		FOLD(digest, m->communicators[i].known_members);
		FOLD(digest, m->communicators[i].name);
	}
	for (size_t i = 0; i < m->collective_count; i++) {
		FOLD(digest, m->collectives[i].communicator);
		FOLD(digest, m->collectives[i].call);
		FOLD(digest, m->collectives[i].visits);
		FOLD(digest, m->collectives[i].instances);
		FOLD(digest, m->collectives[i].incomplete);
		FOLD(digest, m->collectives[i].spread_sum_ns);
		FOLD(digest, m->collectives[i].late_sum_ns);
	}
	for (size_t i = 0; i < m->last_count; i++) {
		FOLD(digest, m->lasts[i].rank_row);
		FOLD(digest, m->lasts[i].count);
		FOLD(digest, m->lasts[i].late_sum_ns);
	}
}

static void fold_regions(uint64_t *digest, const struct crit_region_results *regions)
{
	for (size_t i = 0; i < regions->row_count; i++) {
		const struct crit_region_row *row = &regions->rows[i];

		FOLD(digest, row->node);
		FOLD(digest, row->pid);
		FOLD(digest, row->number);
		FOLD(digest, row->parent);
		FOLD(digest, row->call);
		FOLD(digest, row->site);
		FOLD(digest, row->caller);
		FOLD(digest, row->name);
		FOLD(digest, row->visits);
		FOLD(digest, row->elapsed_ns);
		FOLD(digest, row->team_max);
		FOLD(digest, row->scheduling_ns);
		FOLD(digest, row->imbalance_ns);
	}
	for (size_t i = 0; i < regions->part_count; i++) {
		FOLD(digest, regions->parts[i].region);
		FOLD(digest, regions->parts[i].thread);
		FOLD(digest, regions->parts[i].time_ns);
		FOLD(digest, regions->parts[i].useful_ns);
		fold_attribution(digest, &regions->parts[i].run);
	}
}

static void fold_preemptors(uint64_t *digest, const struct crit_results *r)
{
	for (size_t i = 0; i < r->preemptor_count; i++) {
		FOLD(digest, r->preemptors[i].thread);
		FOLD(digest, r->preemptors[i].by_thread);
		FOLD(digest, r->preemptors[i].kind);
		FOLD(digest, r->preemptors[i].name);
		FOLD(digest, r->preemptors[i].count);
		FOLD(digest, r->preemptors[i].lost_ns);
	}
}

static void fold_await(uint64_t *digest, const struct crit_await_row *row)
{
	FOLD(digest, row->since_ns);
	FOLD(digest, row->until_ns);
	FOLD(digest, row->waiter);
	FOLD(digest, row->ended);
	FOLD(digest, row->is_certain);
}

uint64_t crit_analysed_digest(const struct crit_results *r)
{
	uint64_t digest = 0xcbf29ce484222325ull;

	FOLD(&digest, r->window_begin_ns);
	FOLD(&digest, r->window_ns);
	FOLD(&digest, r->elapsed_ns);
	FOLD(&digest, r->losses);
	for (size_t i = 0; i < r->thread_count; i++)
		fold_thread(&digest, &r->threads[i]);
	for (size_t i = 0; i < r->rank_count; i++) {
		FOLD(&digest, r->ranks[i].rank);
		FOLD(&digest, r->ranks[i].open_ns);
		FOLD(&digest, r->ranks[i].close_ns);
		FOLD(&digest, r->ranks[i].cells);
		FOLD(&digest, r->ranks[i].idle_in_mpi_ns);
		FOLD(&digest, r->ranks[i].active_ns);
		fold_attribution(&digest, &r->ranks[i].run);
		FOLD(&digest, r->ranks[i].may_wait_cmetric);
	}
	for (size_t i = 0; i < r->call_count; i++)
		fold_call(&digest, &r->calls[i]);
	for (size_t i = 0; i < r->call_site_count; i++)
		fold_call(&digest, &r->call_sites[i]);
	for (size_t i = 0; i < r->rank_call_count; i++) {
		FOLD(&digest, r->rank_calls[i].rank_row);
		FOLD(&digest, r->rank_calls[i].call);
		FOLD(&digest, r->rank_calls[i].visits);
		FOLD(&digest, r->rank_calls[i].time_ns);
		FOLD(&digest, r->rank_calls[i].wait_ns);
		FOLD(&digest, r->rank_calls[i].durations);
	}
	for (size_t i = 0; i < r->await_count; i++)
		fold_await(&digest, &r->awaits[i]);
	for (size_t i = 0; i < r->check_count; i++) {
		FOLD(&digest, r->checks[i].cmetric_sum);
		FOLD(&digest, r->checks[i].all_waiting_sum);
		FOLD(&digest, r->checks[i].nobody);
		FOLD(&digest, r->checks[i].active_ns);
	}
	for (size_t i = 0; i < r->node_count; i++) {
		FOLD(&digest, r->nodes[i].clock_offset_ns);
		FOLD(&digest, r->nodes[i].clock_drift_ppb);
		FOLD(&digest, r->nodes[i].clock_correction_ns);
		FOLD(&digest, r->nodes[i].clock_bound_ns);
		FOLD(&digest, r->nodes[i].usable_cpus);
		FOLD(&digest, r->nodes[i].kernel_record_count);
		FOLD(&digest, r->nodes[i].slot_count);
		FOLD(&digest, r->nodes[i].busy_ns);
		FOLD(&digest, r->nodes[i].shortage);
	}
	fold_preemptors(&digest, r);
	fold_regions(&digest, &r->regions);
	fold_messages(&digest, &r->messages);
	return digest;
}

uint64_t crit_analysed_samples_digest(const struct crit_results *r)
{
	const struct crit_sample_results *samples = &r->samples;
	uint64_t digest = 0xcbf29ce484222325ull;

	FOLD(&digest, samples->count);
	FOLD(&digest, samples->unlisted);
	FOLD(&digest, samples->batch_count);
	for (size_t i = 0; i < samples->row_count; i++) {
		FOLD(&digest, samples->rows[i].address);
		FOLD(&digest, samples->rows[i].thread);
		FOLD(&digest, samples->rows[i].count);
		FOLD(&digest, samples->rows[i].cmetric);
		FOLD(&digest, samples->rows[i].cpu_ns);
		FOLD(&digest, samples->rows[i].error_s);
	}
	for (size_t i = 0; i < r->thread_count && samples->not_sampled; i++)
		FOLD(&digest, samples->not_sampled[i]);
	FOLD(&digest, r->blocks.untold_count);
	FOLD(&digest, r->blocks.untold_ns);
	for (size_t i = 0; i < r->blocks.cell_count; i++) {
		FOLD(&digest, r->blocks.cells[i].thread);
		FOLD(&digest, r->blocks.cells[i].call.number);
		FOLD(&digest, r->blocks.cells[i].call.object);
		FOLD(&digest, r->blocks.cells[i].count);
		FOLD(&digest, r->blocks.cells[i].blocked_ns);
		FOLD(&digest, r->blocks.cells[i].not_captured_ns);
	}
	for (size_t i = 0; i < r->blocks.path_count; i++) {
		FOLD(&digest, r->blocks.paths[i].address);
		FOLD(&digest, r->blocks.paths[i].count);
		FOLD(&digest, r->blocks.paths[i].blocked_ns);
	}
	return digest;
}
