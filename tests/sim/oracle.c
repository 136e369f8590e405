// SPDX-License-Identifier: BSD-3-Clause
// Integrates a scenario piece by piece; every formula stands beside its definition in
// docs/metric.md.
#include "tests/sim/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "tests/maker/maker.h"

#define UNIT_EXACT ((crit_exact)CRIT_ORACLE_LCM * CRIT_ORACLE_LCM) /* one nanosecond */

/* One thread during one piece of time, in which nothing changes. */
struct moment {
	bool is_alive;
	bool counts; /* app, and its rank is inside its part of the window */
	bool is_active;
	bool is_entered; /* its span begins with this piece */
	enum crit_kernel_state state;
	enum crit_span_class class;
	uint32_t call;
};

struct oracle {
	const struct crit_scenario *s;
	struct crit_truth *truth;
	enum crit_active_rule rule;
	struct moment now[CRIT_SCENARIO_THREADS];
	uint64_t *cuts;
	size_t cut_count;
	size_t cut_room;
	size_t piece_at[CRIT_SCENARIO_THREADS]; /* time only goes forward */
	size_t span_at[CRIT_SCENARIO_THREADS];
};

double crit_exact_ns(crit_exact value)
{
	crit_exact whole = value / UNIT_EXACT;

	return (double)whole + (double)(value - whole * UNIT_EXACT) / (double)UNIT_EXACT;
}

static void add_cut(struct oracle *o, uint64_t time_ns)
{
	o->cuts = crit_maker_grow(o->cuts, &o->cut_room, o->cut_count + 1, sizeof(*o->cuts));
	o->cuts[o->cut_count++] = time_ns;
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * With ranks the window reaches from the first opening to the last close; else from first exec to
 * last exit.
 */
static void find_window(struct oracle *o)
{
	const struct crit_scenario *s = o->s;
	uint64_t begin = UINT64_MAX, end = 0;

	for (size_t i = 0; i < s->process_count && s->rank_count; i++) {
		if (!s->processes[i].has_open)
			continue;
		if (s->processes[i].open_ns < begin)
			begin = s->processes[i].open_ns;
		if (s->processes[i].close_ns > end)
			end = s->processes[i].close_ns;
	}
	for (size_t i = 0; i < s->thread_count && !s->rank_count; i++) {
		if (s->threads[i].death_ns == s->threads[i].birth_ns)
			continue;
		if (s->threads[i].birth_ns < begin)
			begin = s->threads[i].birth_ns;
		if (s->threads[i].death_ns > end)
			end = s->threads[i].death_ns;
	}
	if (begin >= end)
		return;
	o->truth->window_begin_ns = begin;
	o->truth->window_ns = end - begin;
}

static void collect_cuts(struct oracle *o)
{
	const struct crit_scenario *s = o->s;

	for (size_t i = 0; i < s->thread_count; i++) {
		const struct crit_scenario_thread *t = &s->threads[i];

		add_cut(o, t->birth_ns);
		add_cut(o, t->death_ns);
		for (size_t k = 0; k < t->piece_count; k++)
			add_cut(o, t->pieces[k].begin_ns);
		for (size_t k = 0; k < t->span_count; k++) {
			add_cut(o, t->spans[k].begin_ns);
			add_cut(o, t->spans[k].end_ns);
		}
	}
	for (size_t i = 0; i < s->process_count; i++) {
		add_cut(o, s->processes[i].open_ns);
		add_cut(o, s->processes[i].close_ns);
	}
	add_cut(o, o->truth->window_begin_ns);
	add_cut(o, o->truth->window_begin_ns + o->truth->window_ns);
	qsort(o->cuts, o->cut_count, sizeof(*o->cuts), compare_times);
}

/* Inside its part of the window; without ranks, inside the window. */
static bool takes_part(const struct oracle *o, const struct crit_scenario_thread *t, uint64_t at)
{
	const struct crit_scenario_process *p = &o->s->processes[t->process];

	if (!o->s->rank_count)
		return at >= o->truth->window_begin_ns &&
		       at < o->truth->window_begin_ns + o->truth->window_ns;
	if (p->owner == CRIT_SCENARIO_NONE)
		return false;
	p = &o->s->processes[p->owner];
	return p->has_open && at >= p->open_ns && at < p->close_ns;
}

static enum crit_kernel_state state_at(struct oracle *o, uint32_t thread, uint64_t at)
{
	const struct crit_scenario_thread *t = &o->s->threads[thread];
	size_t *k = &o->piece_at[thread];

	while (*k + 1 < t->piece_count && t->pieces[*k + 1].begin_ns <= at)
		(*k)++;
	return t->piece_count ? t->pieces[*k].state : CRIT_STATE_NONE;
}

/* The class of a poll span is that of a wait from 20 us on. */
static enum crit_span_class class_of(const struct crit_scenario_span *span)
{
	if (!span->is_poll)
		return crit_call_class(span->call);
	return span->end_ns - span->begin_ns >= 20000 ? CRIT_CLASS_MPI_POLL : CRIT_CLASS_MPI;
}

static const struct crit_scenario_span *span_at(struct oracle *o, uint32_t thread, uint64_t at)
{
	const struct crit_scenario_thread *t = &o->s->threads[thread];
	size_t *k = &o->span_at[thread];

	while (*k < t->span_count && t->spans[*k].end_ns <= at)
		(*k)++;
	if (*k == t->span_count || t->spans[*k].begin_ns > at)
		return NULL;
	return &t->spans[*k];
}

/* The definition of active, for each rule. */
static bool is_active(enum crit_active_rule rule, enum crit_kernel_state state,
		      enum crit_span_class class)
{
	bool wants_cpu = state == CRIT_STATE_RUNNING || state == CRIT_STATE_RUNNABLE ||
			 state == CRIT_STATE_ASSUMED;

	if (rule == CRIT_ACTIVE_KERNEL)
		return state == CRIT_STATE_RUNNING || state == CRIT_STATE_RUNNABLE;
	switch (class) {
	case CRIT_CLASS_SETUP:
	case CRIT_CLASS_MPI_WAIT:
	case CRIT_CLASS_OMP_WAIT:
	case CRIT_CLASS_OMP_IDLE:
		return false;
	case CRIT_CLASS_MPI_MAY_WAIT:
		return wants_cpu && rule == CRIT_ACTIVE_MAY_WAIT;
	case CRIT_CLASS_MPI_POLL:
		return wants_cpu && rule == CRIT_ACTIVE_POLL;
	default:
		return wants_cpu;
	}
}

static void look_at(struct oracle *o, uint32_t thread, uint64_t at)
{
	const struct crit_scenario_thread *t = &o->s->threads[thread];
	const struct crit_scenario_span *span = span_at(o, thread, at);
	struct moment *now = &o->now[thread];
	bool is_inside = takes_part(o, t, at);
	bool has_rank = o->s->processes[t->process].owner != CRIT_SCENARIO_NONE;

	memset(now, 0, sizeof(*now));
	now->is_alive = at >= t->birth_ns && at < t->death_ns;
	if (!now->is_alive)
		return;
	now->state = state_at(o, thread, at);
	now->class = span ? class_of(span) : CRIT_CLASS_USER;
	now->call = span ? span->call : 0;
	now->is_entered = span && span->begin_ns == at;
	if (has_rank && !is_inside)
		now->class = CRIT_CLASS_SETUP;
	now->counts = t->role == CRIT_THREAD_APP && is_inside;
	now->is_active = now->counts && is_active(o->rule, now->state, now->class);
}

/* How many threads, and ranks, are active (w = false) or count at all, in a scope. */
struct census {
	crit_exact threads;
	crit_exact ranks;
	crit_exact in_rank[CRIT_SCENARIO_PROCESSES];
};

static void take_census(const struct oracle *o, uint32_t node, bool only_active, struct census *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < o->s->thread_count; i++) {
		const struct crit_scenario_process *p = &o->s->processes[o->s->threads[i].process];
		bool is_in_scope = node == CRIT_SCENARIO_NONE || p->node == node;

		if (!is_in_scope || !(only_active ? o->now[i].is_active : o->now[i].counts))
			continue;
		ret->threads++;
		if (p->owner != CRIT_SCENARIO_NONE && ret->in_rank[p->owner]++ == 0)
			ret->ranks++;
	}
}

struct payee { /* the rows one thread's share goes to */
	struct crit_truth_row *rows[3];
	size_t count;
};

static struct payee payee_of(struct oracle *o, uint32_t thread)
{
	const struct crit_scenario_process *p = &o->s->processes[o->s->threads[thread].process];
	struct payee payee = { .rows = { &o->truth->threads[thread] }, .count = 1 };

	if (p->owner != CRIT_SCENARIO_NONE)
		payee.rows[payee.count++] = &o->truth->ranks[p->owner];
	if (o->now[thread].call && o->now[thread].counts)
		payee.rows[payee.count++] = &o->truth->calls[o->now[thread].call];
	return payee;
}

/* One scope in one piece of time: n, w, and everybody's shares. */
static void share_out(struct oracle *o, uint32_t node, uint64_t dt_ns)
{
	enum crit_scope scope = node == CRIT_SCENARIO_NONE ? CRIT_SCOPE_RUN : CRIT_SCOPE_NODE;
	struct crit_truth_law *checks = node == CRIT_SCENARIO_NONE ? o->truth->run
								   : o->truth->node[node];
	struct census active, all;
	const struct census *takers = &active;
	crit_exact dt = (crit_exact)dt_ns * UNIT_EXACT;

	take_census(o, node, true, &active);
	take_census(o, node, false, &all);
	for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		checks[unit].active_ns += active.threads ? dt_ns : 0;
		checks[unit].nobody_ns += all.threads ? 0 : dt_ns;
	}
	if (!active.threads)
		takers = &all;
	for (uint32_t i = 0; i < o->s->thread_count; i++) {
		const struct crit_scenario_process *p = &o->s->processes[o->s->threads[i].process];
		struct payee payee = payee_of(o, i);
		crit_exact share[CRIT_UNIT_COUNT] = { 0 };

		if ((node != CRIT_SCENARIO_NONE && p->node != node) ||
		    !(active.threads ? o->now[i].is_active : o->now[i].counts))
			continue;
		share[CRIT_UNIT_THREADS] = dt / takers->threads;
		if (p->owner != CRIT_SCENARIO_NONE)
			share[CRIT_UNIT_RANKS] = dt / takers->ranks / takers->in_rank[p->owner];
		for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
			*(active.threads ? &checks[unit].cmetric : &checks[unit].all_waiting) +=
				share[unit];
			for (size_t k = 0; k < payee.count; k++) {
				struct crit_truth_attribution *e = &payee.rows[k]->attributed;

				*(active.threads ? &e->cmetric[scope][unit]
						 : &e->all_waiting[scope][unit]) += share[unit];
			}
		}
	}
}

/* While somebody is active, those who wait are charged to those who are. */
static void charge_waiting(struct oracle *o, uint64_t dt_ns)
{
	struct census active, all;
	crit_exact waiting;

	take_census(o, CRIT_SCENARIO_NONE, true, &active);
	take_census(o, CRIT_SCENARIO_NONE, false, &all);
	if (!active.threads)
		return;
	waiting = all.threads - active.threads;
	for (uint32_t i = 0; i < o->s->thread_count; i++) {
		struct payee payee = payee_of(o, i);

		for (size_t k = 0; k < payee.count && o->now[i].counts; k++) {
			struct crit_truth_attribution *e = &payee.rows[k]->attributed;

			if (o->now[i].is_active)
				e->blame +=
					(crit_exact)dt_ns * UNIT_EXACT * waiting / active.threads;
			else
				e->waiting_ns += dt_ns;
		}
	}
}

static void fill_cells(struct oracle *o, uint64_t dt_ns)
{
	for (uint32_t i = 0; i < o->s->thread_count; i++) {
		const struct moment *now = &o->now[i];
		const struct crit_scenario_process *p = &o->s->processes[o->s->threads[i].process];

		if (!now->is_alive)
			continue;
		o->truth->threads[i].cells.ns[now->state][now->class] += dt_ns;
		if (o->s->threads[i].role != CRIT_THREAD_APP)
			continue;
		if (p->owner != CRIT_SCENARIO_NONE)
			o->truth->ranks[p->owner].cells.ns[now->state][now->class] += dt_ns;
		if (!now->call || !now->counts)
			continue;
		o->truth->calls[now->call].visits += now->is_entered;
		o->truth->calls[now->call].cells.ns[now->state][now->class] += dt_ns;
	}
}

static void integrate(struct oracle *o)
{
	uint64_t end_ns = o->truth->window_begin_ns + o->truth->window_ns;

	for (size_t i = 0; i + 1 < o->cut_count; i++) {
		uint64_t from = o->cuts[i], dt_ns = o->cuts[i + 1] - from;

		if (!dt_ns)
			continue;
		for (uint32_t thread = 0; thread < o->s->thread_count; thread++)
			look_at(o, thread, from);
		fill_cells(o, dt_ns);
		if (from < o->truth->window_begin_ns || from >= end_ns)
			continue;
		share_out(o, CRIT_SCENARIO_NONE, dt_ns);
		for (uint32_t node = 0; node < o->s->node_count; node++)
			share_out(o, node, dt_ns);
		charge_waiting(o, dt_ns);
	}
}

struct crit_truth *crit_oracle_integrate(const struct crit_scenario *s, enum crit_active_rule rule)
{
	struct oracle *o = calloc(1, sizeof(*o));
	struct crit_truth *truth = calloc(1, sizeof(*truth));
	size_t app = 0;

	if (!o || !truth)
		crit_maker_fail("get memory");
	for (size_t i = 0; i < s->thread_count; i++)
		app += s->threads[i].role == CRIT_THREAD_APP;
	if (app > CRIT_ORACLE_APP_THREADS)
		crit_maker_fail("share exactly among so many threads");
	o->s = s;
	o->truth = truth;
	o->rule = rule;
	find_window(o);
	collect_cuts(o);
	integrate(o);
	free(o->cuts);
	free(o);
	return truth;
}
