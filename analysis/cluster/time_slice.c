// SPDX-License-Identifier: BSD-3-Clause
// Integrates one time slice over the steps of all analysis processes.
#include "analysis/cluster/time_slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

_Static_assert(sizeof(struct crit_time_slice_step) == 24, "every step of a run travels as one");

int crit_time_slice_init(struct crit_time_slice *slice, uint32_t process_count, uint32_t rank_count)
{
	*slice = (struct crit_time_slice){ .rank_count = rank_count };
	slice->rank_active = calloc(rank_count + 1ull, sizeof(*slice->rank_active));
	slice->sources = calloc(process_count, sizeof(*slice->sources));
	if (!slice->rank_active || !slice->sources)
		return -ENOMEM;
	return crit_merge_init(&slice->merge, process_count);
}

void crit_time_slice_fini(struct crit_time_slice *slice)
{
	free(slice->rank_active);
	free(slice->sources);
	crit_merge_fini(&slice->merge);
}

static int take_waiting(struct crit_blame *blame, uint32_t count,
			const struct crit_exchange_buffer *buffer, size_t *at)
{
	struct crit_time_slice_count waiting;
	int rc = 0;

	for (; count && !rc; count--) {
		if (!crit_exchange_buffer_take(buffer, at, &waiting, sizeof(waiting)))
			return -EPROTO;
		rc = crit_blame_wait(blame, waiting.number, (int)waiting.count, 0);
	}
	return rc;
}

static int take_ranks(struct crit_time_slice *slice, uint32_t count,
		      const struct crit_exchange_buffer *buffer, size_t *at)
{
	struct crit_time_slice_count active;

	for (; count; count--) {
		if (!crit_exchange_buffer_take(buffer, at, &active, sizeof(active)) ||
		    active.number >= slice->rank_count)
			return -EPROTO;
		slice->rank_active[active.number] = active.count;
	}
	return 0;
}

/* An analysis process's next note gets its place in the merge.  Errors: -EPROTO. */
static int move(struct crit_time_slice *slice, uint32_t peer,
		const struct crit_exchange_buffer *buffer, bool is_first)
{
	struct crit_time_slice_source *source = &slice->sources[peer];

	if (!source->left) {
		if (!is_first)
			crit_merge_remove(&slice->merge, peer);
		return 0;
	}
	if (!crit_exchange_buffer_take(buffer, &source->at, &source->note, sizeof(source->note)) ||
	    (source->note.rank != CRIT_NONE && source->note.rank >= slice->rank_count))
		return -EPROTO;
	source->left--;
	if (is_first)
		crit_merge_add(&slice->merge, peer, source->note.time_ns);
	else
		crit_merge_delay(&slice->merge, peer, source->note.time_ns);
	return 0;
}

static int open_source(struct crit_time_slice *slice, uint32_t peer, struct crit_blame *blame,
		       const struct crit_exchange_buffer *buffer)
{
	struct crit_time_slice_source *source = &slice->sources[peer];
	struct crit_time_slice_head head;
	int rc;

	*source = (struct crit_time_slice_source){ 0 };
	if (!crit_exchange_buffer_take(buffer, &source->at, &head, sizeof(head)))
		return -EPROTO;
	for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		slice->scope.active[unit] += head.active[unit];
		slice->scope.live[unit] += head.live[unit];
	}
	slice->scope.may_wait.active += head.may_wait_active;
	source->left = head.note_count;
	rc = take_waiting(blame, head.wait_count, buffer, &source->at);
	if (!rc)
		rc = take_ranks(slice, head.rank_count, buffer, &source->at);
	return rc ? rc : move(slice, peer, buffer, true);
}

static int put_answer(const struct crit_scope_state *scope, const struct crit_time_slice_step *note,
		      struct crit_exchange_buffer *answer)
{
	struct crit_marks marks;
	uint64_t active;

	if (note->is_sample) {
		active = crit_scope_active_until(scope, note->time_ns);
		return crit_exchange_buffer_put(answer, &active, sizeof(active));
	}
	memset(&marks, 0, sizeof(marks));
	memcpy(marks.cmetric, scope->cmetric, sizeof(marks.cmetric));
	memcpy(marks.all_waiting, scope->all_waiting, sizeof(marks.all_waiting));
	marks.waited = scope->waited;
	marks.active_ns = scope->active_ns;
	marks.may_wait_cmetric = scope->may_wait.cmetric;
	return crit_exchange_buffer_put(answer, &marks, sizeof(marks));
}

static int apply(struct crit_time_slice *slice, struct crit_blame *blame,
		 const struct crit_time_slice_step *note)
{
	crit_fix integral = slice->scope.cmetric[CRIT_UNIT_THREADS];
	int rc = 0;

	for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		slice->scope.active[unit] += (uint32_t)note->active[unit];
		slice->scope.live[unit] += (uint32_t)note->live[unit];
	}
	slice->scope.may_wait.active += (uint32_t)note->may_wait_active;
	if (note->from_call)
		rc = crit_blame_wait(blame, note->from_call, -1, integral);
	if (!rc && note->to_call)
		rc = crit_blame_wait(blame, note->to_call, 1, integral);
	if (note->rank == CRIT_NONE || !note->active[CRIT_UNIT_THREADS])
		return rc;
	crit_blame_settle(blame, note->rank, slice->rank_active[note->rank], integral);
	slice->rank_active[note->rank] += (uint32_t)note->active[CRIT_UNIT_THREADS];
	return rc;
}

int crit_time_slice_add_up(struct crit_time_slice *slice,
			   const struct crit_time_slice_bounds *bounds, struct crit_blame *blame,
			   const struct crit_exchange_buffer *from,
			   struct crit_exchange_buffer *answers)
{
	int rc = 0;

	slice->scope = (struct crit_scope_state){ .now_ns = bounds->begin_ns };
	slice->merge.count = 0;
	memset(slice->rank_active, 0, slice->rank_count * sizeof(*slice->rank_active));
	crit_blame_restart(blame);
	for (uint32_t i = 0; i < bounds->process_count && !rc; i++)
		rc = open_source(slice, i, blame, &from[i]);
	slice->scope.active_before = slice->scope.active[CRIT_UNIT_THREADS];
	while (!rc && slice->merge.count) {
		uint32_t peer = crit_merge_first(&slice->merge).source;
		struct crit_time_slice_step note = slice->sources[peer].note;

		crit_scope_advance(&slice->scope, bounds->reciprocals, bounds->window_end_ns,
				   note.time_ns);
		rc = put_answer(&slice->scope, &note, &answers[peer]);
		if (!rc)
			rc = apply(slice, blame, &note);
		if (!rc)
			rc = move(slice, peer, &from[peer], false);
	}
	crit_scope_advance(&slice->scope, bounds->reciprocals, bounds->window_end_ns,
			   bounds->end_ns);
	for (uint32_t i = 0; i < slice->rank_count && !rc; i++)
		crit_blame_settle(blame, i, slice->rank_active[i],
				  slice->scope.cmetric[CRIT_UNIT_THREADS]);
	for (uint32_t i = 0; i < bounds->process_count && !rc; i++)
		rc = crit_exchange_buffer_put(&answers[i], &slice->scope, sizeof(slice->scope));
	return rc;
}
