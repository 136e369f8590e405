// SPDX-License-Identifier: BSD-3-Clause
// From the edges of a replay to what ends the waits of a film, and to what they need; and its end.
#include "analysis/waits/filming.h"

#include <errno.h>
#include <string.h>

#include "analysis/waits/filming_state.h"
#include "core/base/call.h"

#define LOCKS_TOLD_APART 1024u /* as rows of costs */

/* Who meets there, by the number of a meeting; not those from CRIT_FILM_NOBODY on. */
static uint32_t meeting_of(const struct crit_edge *edge, uint64_t number)
{
	return CRIT_FILM_OBJECT | (uint32_t)(number << 1 | (edge->call >= CRIT_CALL_OMP_FIRST));
}

/* The same of its object, or the lock. */
static uint32_t object_of(const struct crit_edge *edge)
{
	return edge->kind >= CRIT_EDGE_LOCK_ASKED ? CRIT_FILM_LOCK | (uint32_t)edge->object
						  : meeting_of(edge, edge->object);
}

void crit_filming_count_free(struct crit_filming *filming, struct crit_known_wait *wait,
			     enum crit_free_order why)
{
	filming->counts.free[why] += !wait->is_free;
	wait->is_free = true;
}

static bool is_of_any(uint16_t call)
{
	return call == CRIT_MPI_Waitany || call == CRIT_MPI_Waitsome || call == CRIT_MPI_Testany ||
	       call == CRIT_MPI_Testsome;
}

static void note_order(struct crit_filming *filming, struct crit_known_wait *wait,
		       const struct crit_edge *edge)
{
	if (edge->kind == CRIT_EDGE_MESSAGE && edge->is_from_any)
		crit_filming_count_free(filming, wait, CRIT_FREE_SOURCE);
	else if (edge->kind == CRIT_EDGE_TASK)
		crit_filming_count_free(filming, wait, CRIT_FREE_TASK);
	else if (is_of_any(edge->call))
		crit_filming_count_free(filming, wait, CRIT_FREE_REQUEST);
	else if (edge->kind == CRIT_EDGE_LOCK_TAKEN && edge->cause != edge->waiter &&
		 edge->call != CRIT_CONSTRUCT_ORDERED_WAIT) /* the loop has an order */
		crit_filming_count_free(filming, wait, CRIT_FREE_LOCK);
}

void crit_send_sizes_wait(struct crit_send_sizes *sizes, uint64_t bytes)
{
	size_t at = 0, end = sizes->count;

	if (bytes < sizes->at_once)
		return;
	while (at < end) {
		const size_t middle = at + (end - at) / 2;

		if (sizes->waited[middle] < bytes)
			at = middle + 1;
		else
			end = middle;
	}
	if (at == CRIT_SEND_SIZES || (at < sizes->count && sizes->waited[at] == bytes))
		return;
	if (sizes->count == CRIT_SEND_SIZES)
		sizes->count--;
	memmove(&sizes->waited[at + 1], &sizes->waited[at],
		(sizes->count - at) * sizeof(*sizes->waited));
	sizes->waited[at] = bytes;
	sizes->count++;
}

void crit_send_sizes_pass(struct crit_send_sizes *sizes, uint64_t bytes)
{
	size_t below = 0;

	if (bytes < sizes->at_once)
		return;
	sizes->at_once = bytes + 1;
	while (below < sizes->count && sizes->waited[below] < sizes->at_once)
		below++;
	sizes->count -= below;
	memmove(sizes->waited, &sizes->waited[below], sizes->count * sizeof(*sizes->waited));
}

uint64_t crit_send_sizes_smallest(const struct crit_send_sizes *sizes)
{
	return sizes->count ? sizes->waited[0] : UINT64_MAX;
}

/* Tells the film from which size on sends wait. */
static int put_sizes(struct crit_filming *filming)
{
	int rc = 0;

	for (uint8_t i = 0; i < CRIT_FILM_GROUPS && !rc; i++) {
		const uint64_t bytes = crit_send_sizes_smallest(&filming->sizes[i]);

		if (bytes < CRIT_FILM_BYTES_MAX)
			rc = crit_filming_put_entry(
				filming, &(struct crit_film_entry){ .time_ns = filming->end_ns,
								    .number = (uint32_t)bytes,
								    .type = CRIT_FILM_BYTES_FROM,
								    .kind = i });
	}
	return rc;
}

/* Sends within a node are one group, those between nodes another. */
static uint8_t group_of(const struct crit_filming *filming, const struct crit_edge *edge)
{
	return filming->threads[edge->waiter].node != filming->threads[edge->cause].node;
}

/* Of which size the message of an edge is. */
static int put_bytes(struct crit_filming *filming, uint64_t time_ns, const struct crit_edge *edge)
{
	const struct crit_film_entry bytes = {
		.time_ns = time_ns,
		.number = (uint32_t)(edge->bytes < CRIT_FILM_BYTES_MAX ? edge->bytes
								       : CRIT_FILM_BYTES_MAX),
		.type = CRIT_FILM_BYTES,
		.kind = group_of(filming, edge)
	};

	return crit_filming_put_entry(filming, &bytes);
}

/* An act of an edge, and of which size its message is where it needs that. */
static int put_edge(struct crit_filming *filming, uint64_t time_ns, const struct crit_edge *edge,
		    const struct crit_known_wait *wait)
{
	const uint32_t node = edge->kind == CRIT_EDGE_LOCK_TAKEN ? object_of(edge) : edge->cause;
	int rc =
		time_ns > wait->begin_ns
			? crit_filming_put_cause(filming, time_ns, node, edge->waiter, wait->number)
			: crit_filming_put(filming, CRIT_FILM_NEED, time_ns, node, wait->number);

	return rc || edge->kind != CRIT_EDGE_RENDEZVOUS ? rc : put_bytes(filming, time_ns, edge);
}

/* Who ends a wait arrives then, as is filmed: that says which meeting the wait needs. */
static bool tells_meeting(const struct crit_filming *filming, const struct crit_known_wait *wait,
			  const struct crit_edge *edge, uint64_t cause_ns)
{
	return cause_ns == edge->cause_ns && cause_ns > wait->begin_ns &&
	       cause_ns >= filming->begin_ns;
}

static int put_both(struct crit_filming *filming, struct crit_known_wait *wait,
		    const struct crit_edge *edge)
{
	const struct crit_film_entry both = { .time_ns = edge->cause_ns,
					      .node = edge->cause,
					      .number = wait->number,
					      .more = edge->waiter,
					      .type = CRIT_FILM_CAUSE,
					      .kind = CRIT_FILM_MEETS };

	wait->has_cause = true;
	return crit_filming_put_entry(filming, &both);
}

/* The last act before its end that a wait could not end before. */
static int put_act(struct crit_filming *filming, struct crit_known_wait *wait,
		   const struct crit_edge *edge)
{
	const bool is_meeting = edge->meeting && filming->options.has_needs;
	int rc = 0;
	uint64_t cause_ns = edge->cause_ns;
	/* a call that is cut at the end of what is told of ends there */
	uint64_t end_ns = wait->end_ns < filming->end_ns ? wait->end_ns : filming->end_ns;

	wait->has_act = true;
	if (end_ns > edge->end_ns)
		end_ns = edge->end_ns;
	if (cause_ns > end_ns)
		cause_ns = end_ns;
	if (edge->kind == CRIT_EDGE_MEETING)
		return crit_filming_put_need(filming, cause_ns, object_of(edge), wait->number);
	if (is_meeting && tells_meeting(filming, wait, edge, cause_ns))
		return put_both(filming, wait, edge);
	if (is_meeting)
		rc = crit_filming_put_need(filming, cause_ns, meeting_of(edge, edge->meeting),
					   wait->number);
	if (rc)
		return rc;
	if (edge->kind == CRIT_EDGE_LOCK_TAKEN && cause_ns < wait->begin_ns)
		cause_ns = wait->begin_ns; /* it needs all releases until it asked */
	if (cause_ns > wait->begin_ns)
		wait->has_cause = true;
	else if (!filming->options.has_needs || cause_ns < filming->begin_ns)
		return 0;
	return put_edge(filming, cause_ns, edge, wait);
}

/* Does a call ask for messages that are to be received? */
static bool is_probe(uint16_t call)
{
	switch (call) {
	case CRIT_MPI_Probe:
	case CRIT_MPI_Iprobe:
	case CRIT_MPI_Mprobe:
	case CRIT_MPI_Improbe:
		return true;
	default:
		return false;
	}
}

/* A message that a thread receives at once, as it was there. */
static bool is_probed(const struct crit_edge *edge)
{
	return edge->kind == CRIT_EDGE_MESSAGE && edge->cause_ns <= edge->begin_ns &&
	       (edge->call == CRIT_MPI_Recv || edge->call == CRIT_MPI_Recv_c ||
		edge->call == CRIT_MPI_Mrecv || edge->call == CRIT_MPI_Mrecv_c);
}

static uint64_t known_waits_of(const struct crit_filmed_thread *filmed)
{
	return filmed->wait_count < filmed->wait_capacity ? filmed->wait_count
							  : filmed->wait_capacity;
}

/*
 * What a thread asked for again and again, in waits but so many: the message that it receives right
 * after probes, or the requests that the call of the edge found complete.
 */
static int put_asked(struct crit_filming *filming, const struct crit_edge *edge, uint64_t back)
{
	const struct crit_filmed_thread *filmed = &filming->threads[edge->waiter];
	const bool has_probed = is_probed(edge);
	uint64_t later_ns = edge->begin_ns;
	int rc = 0;

	if (!has_probed && !crit_filmed_is_test(edge->call))
		return 0;
	for (; back < known_waits_of(filmed) && !rc; back++) {
		struct crit_known_wait *wait = crit_filmed_wait(filmed, back);

		if (has_probed ? !is_probe(wait->call) : wait->next_ns != later_ns || wait->is_told)
			break;
		later_ns = wait->begin_ns;
		rc = put_act(filming, wait, edge);
	}
	return rc;
}

/*
 * An act before the wait, or of its own, leaves it transfer, as no cause does.  A wait that tasks
 * interrupted is several; for each of them the edge is the cause.
 */
static int take_edge(void *user, const struct crit_event *event)
{
	struct crit_filming *filming = user;
	const struct crit_edge *edge = event->edge;
	const struct crit_filmed_thread *filmed;
	const bool is_early = edge->cause_ns <= edge->begin_ns;
	bool is_known = false;
	uint64_t known_waits;
	int rc = 0;

	if (!filming->threads || (is_early && !filming->options.has_needs && !is_probed(edge)) ||
	    (edge->waiter == edge->cause && edge->kind != CRIT_EDGE_MEETING &&
	     edge->kind != CRIT_EDGE_LOCK_TAKEN))
		return 0;
	filmed = &filming->threads[edge->waiter];
	known_waits = known_waits_of(filmed);
	for (uint64_t i = 0; i < known_waits && !rc; i++) {
		struct crit_known_wait *wait = crit_filmed_wait(filmed, i);

		if (wait->begin_ns < edge->begin_ns) {
			rc = put_asked(filming, edge, i);
			break;
		}
		if (wait->begin_ns < edge->end_ns || wait->begin_ns == edge->begin_ns) {
			is_known = true;
			wait->is_told = true;
			note_order(filming, wait, edge);
			rc = put_act(filming, wait, edge);
		}
	}
	if (is_known)
		filming->counts.clamped += edge->cause_ns > edge->end_ns;
	else
		filming->counts.missed += !is_early;
	return rc;
}

/* All that its call had to complete, so it has waited; of those that must, no size is told. */
static int take_receiver(void *user, const struct crit_event *event)
{
	struct crit_filming *filming = user;

	if (filming->threads && event->edge->bytes != CRIT_EDGE_ANY_BYTES)
		crit_send_sizes_wait(&filming->sizes[group_of(filming, event->edge)],
				     event->edge->bytes);
	return take_edge(user, event);
}

/* What is sent at once, as others of its size were, needs nobody. */
static int take_rendezvous(void *user, const struct crit_event *event)
{
	struct crit_filming *filming = user;
	const struct crit_edge *edge = event->edge;
	struct crit_send_sizes *sizes;

	if (!filming->threads || edge->waiter == edge->cause)
		return 0;
	sizes = &filming->sizes[group_of(filming, edge)];
	if (edge->cause_ns >= edge->end_ns && edge->bytes != CRIT_EDGE_ANY_BYTES)
		crit_send_sizes_pass(sizes, edge->bytes);
	if (edge->cause_ns >= edge->end_ns || edge->bytes < sizes->at_once)
		return 0;
	return take_edge(user, event);
}

static int take_arrival(void *user, const struct crit_event *event)
{
	struct crit_filming *filming = user;
	const struct crit_edge *edge = event->edge;
	struct crit_film_entry entry = { .time_ns = edge->cause_ns < filming->end_ns
							    ? edge->cause_ns
							    : filming->end_ns,
					 .node = edge->cause,
					 .number = object_of(edge),
					 .type = CRIT_FILM_ARRIVAL };
	uint8_t place = 0;
	int rc = 0;

	if (!filming->threads || edge->cause_ns < filming->begin_ns)
		return 0;
	if (edge->place)
		rc = crit_filmed_place(&filming->threads[edge->cause], edge->place, &place);
	if (rc)
		return rc;
	entry.kind = (uint8_t)(CRIT_FILM_PLACE * place +
			       CRIT_FILM_LAST * (edge->cause_ns == edge->end_ns));
	return crit_filming_put_entry(filming, &entry);
}

/* Is it a thread of the run?  A launcher is none, though it reads what a rank prints. */
static bool is_filmed(const struct crit_filming *filming, uint32_t thread)
{
	return filming->threads[thread].has_begun;
}

/* The first wakeup of a thread is its creator's, if it was asleep since it began. */
static int take_birth(struct crit_filming *filming, const struct crit_edge *edge)
{
	struct crit_filmed_thread *filmed = &filming->threads[edge->waiter];
	const bool is_birth = filming->options.has_needs && filmed->has_begun &&
			      !filmed->was_woken && edge->begin_ns == filmed->begin_ns;

	filmed->was_woken = true;
	return is_birth ? crit_filming_put(filming, CRIT_FILM_BIRTH, filmed->begin_ns, edge->cause,
					   edge->waiter)
			: 0;
}

/*
 * In runs with ranks code is not divided where a thread blocks, as the same code of other ranks may
 * not: a sleep is a wait in it, if it was outside of calls and one of the run ended it.
 */
static int take_woken(struct crit_filming *filming, const struct crit_edge *edge)
{
	const struct crit_filmed_thread *filmed = &filming->threads[edge->waiter];
	const struct crit_filmed_thread *waker = &filming->threads[edge->cause];
	uint64_t time_ns = edge->cause_ns;
	int rc = 0;

	if (!filmed->was_outside || filmed->woke_ns != edge->end_ns || edge->cause == edge->waiter)
		return 0;
	if (waker->is_asleep && waker->slept_ns < time_ns)
		time_ns = waker->slept_ns;
	if (time_ns <= filmed->slept_ns || time_ns > filming->end_ns)
		return 0;
	if (filming->waits)
		rc = filming->waits->wait(filming->waits->user, edge->waiter,
					  filmed->woke_ns - (time_ns - filmed->slept_ns),
					  filmed->woke_ns);
	return rc ? rc
		  : crit_filming_put(filming, CRIT_FILM_WOKEN, time_ns, edge->cause, edge->waiter);
}

/*
 * When a waker acted: one that waits did before its wait.  But who creates a thread may do so in a
 * wait, as libgomp does in the barrier at a region's begin: it acted there.
 */
static uint64_t waker_act_of(struct crit_filming *filming, const struct crit_edge *edge)
{
	const uint64_t act_ns = crit_filming_act_of(filming, edge->cause, edge->cause_ns);
	const bool is_birth = edge->begin_ns == filming->threads[edge->waiter].begin_ns;

	return is_birth && act_ns <= edge->begin_ns ? edge->cause_ns : act_ns;
}

/*
 * A block within a call is no wait of its own.  Another CPU may be told to do the wakeup: the waker
 * may be blocked by then.
 */
static int take_wakeup(void *user, const struct crit_event *event)
{
	struct crit_filming *filming = user;
	struct crit_edge edge = *event->edge;
	const struct crit_event taken = { .edge = &edge };
	int rc;

	if (!filming->threads)
		return 0;
	rc = take_birth(filming, &edge);
	if (rc || !is_filmed(filming, edge.cause))
		return rc;
	if (filming->has_ranks)
		return take_woken(filming, &edge);
	if (filming->threads[edge.waiter].call.call != CRIT_CODE_BLOCKED)
		return 0;
	edge.cause_ns = waker_act_of(filming, &edge);
	return take_edge(filming, &taken);
}

static int put_lock(struct crit_filming *filming, enum crit_film_type type, uint64_t time_ns,
		    uint32_t lock)
{
	const struct crit_film_entry entry = { .time_ns = time_ns,
					       .node = lock,
					       .number = lock,
					       .type = (uint8_t)type,
					       .kind = CRIT_FILM_HOLD };

	return crit_filming_put_entry(filming, &entry);
}

/* The bucket of a lock while nobody has it. */
static int name_lock(struct crit_filming *filming, struct crit_lock_holder *holder,
		     const struct crit_edge *edge)
{
	const uint64_t number = edge->object < LOCKS_TOLD_APART ? edge->object + 1 : 0;
	const struct crit_code_key key = { .before = { number, CRIT_CODE_LOCK },
					   .thread = edge->waiter,
					   .is_call = true };

	return holder->bucket ? 0 : crit_code_keys_put(&filming->keys, &key, &holder->bucket);
}

/* Writes what happened to a lock; before the window that is nothing. */
static int put_steps(struct crit_filming *filming, const struct crit_lock_steps *steps,
		     uint64_t time_ns, uint32_t lock)
{
	struct crit_film_entry arrival = { .time_ns = time_ns,
					   .number = lock,
					   .type = CRIT_FILM_ARRIVAL };
	int rc = 0;

	for (size_t i = 0; i < steps->count && !rc && time_ns >= filming->begin_ns; i++) {
		const struct crit_lock_step *step = &steps->rows[i];

		if (step->kind == CRIT_LOCK_BEGINS)
			rc = put_lock(filming, CRIT_FILM_WAIT, time_ns, lock);
		if (step->kind == CRIT_LOCK_WAS_HELD || step->kind == CRIT_LOCK_WAS_FREE)
			rc = put_lock(filming, CRIT_FILM_END, time_ns, lock);
		if (!rc && step->kind == CRIT_LOCK_WAS_HELD)
			rc = crit_filming_put_cause(filming, time_ns, step->thread, lock, lock);
		arrival.node = step->thread;
		if (step->kind == CRIT_LOCK_RELEASED && filming->options.has_needs)
			rc = crit_filming_put_entry(filming, &arrival);
	}
	return rc;
}

/* The thread waits from the lock's last release back for who has it at each instant. */
static int take_lock(struct crit_filming *filming, struct crit_lock_holder *holder,
		     const struct crit_edge *edge, struct crit_lock_steps *ret_steps)
{
	const bool is_again = holder->thread == edge->waiter;
	struct crit_edge taken = *edge;

	crit_lock_holder_take(holder, edge->waiter, edge->begin_ns, edge->end_ns, ret_steps);
	taken.cause_ns = holder->was_released ? holder->released_ns : 0;
	taken.cause = holder->last == CRIT_NONE ? edge->waiter : holder->last;
	return is_again ? 0
			: take_edge(filming, &(struct crit_event){ .time_ns = edge->end_ns,
								   .edge = &taken });
}

static int follow_lock(void *user, const struct crit_event *event)
{
	struct crit_filming *filming = user;
	const struct crit_edge *edge = event->edge;
	struct crit_lock_steps steps = { .count = 0 };
	struct crit_lock_holder *holder;
	int rc = 0;

	if (!filming->threads || edge->end_ns > filming->end_ns)
		return 0;
	holder = crit_lock_holders_obtain(&filming->locks, (uint32_t)edge->object);
	if (!holder)
		return -ENOMEM;
	if (edge->kind == CRIT_EDGE_LOCK_ASKED)
		crit_lock_holder_ask(holder, edge->waiter, edge->end_ns, &steps);
	else if (edge->kind == CRIT_EDGE_LOCK_TAKEN)
		rc = take_lock(filming, holder, edge, &steps);
	else if (edge->kind == CRIT_EDGE_LOCK_RELEASED)
		crit_lock_holder_release(holder, edge->waiter, edge->end_ns, &steps);
	else
		crit_lock_holder_lose(holder, edge->waiter, &steps);
	if (!rc && (holder->is_begun || holder->released_ns > edge->begin_ns))
		rc = name_lock(filming, holder, edge);
	return rc ? rc : put_steps(filming, &steps, edge->end_ns, object_of(edge));
}

/* Who has locks at the window's end. */
static int end_locks(struct crit_filming *filming)
{
	int rc = 0;

	for (uint32_t i = 0; i < filming->locks.count && !rc; i++) {
		const struct crit_lock_holder *holder = &filming->locks.rows[i];
		const uint32_t lock = CRIT_FILM_LOCK | i;

		if (holder->is_begun)
			rc = put_lock(filming, CRIT_FILM_END, filming->end_ns, lock);
		if (!rc && holder->is_begun && holder->thread != CRIT_NONE)
			rc = crit_filming_put_cause(filming, filming->end_ns, holder->thread, lock,
						    lock);
		if (!rc && holder->bucket)
			rc = crit_filming_put(filming, CRIT_FILM_UNTIL, filming->end_ns, lock,
					      holder->bucket);
	}
	return rc;
}

/* From its end to the window's end a thread is outside, as those nobody knows always are. */
int crit_filming_put_ends(struct crit_filming *filming)
{
	int rc = filming->failed;

	for (uint32_t i = 0; i < filming->thread_count && !rc; i++)
		rc = crit_filming_put(filming, CRIT_FILM_UNTIL, filming->end_ns, i,
				      CRIT_CODE_OUTSIDE);
	for (uint32_t i = 0; i < CRIT_FILM_SYSTEM_CALLS && !rc; i++) {
		if (filming->nobody_buckets[i])
			rc = crit_filming_put(filming, CRIT_FILM_UNTIL, filming->end_ns,
					      CRIT_FILM_NOBODY + i, filming->nobody_buckets[i]);
	}
	if (!rc)
		rc = end_locks(filming);
	if (!rc)
		rc = put_sizes(filming);
	return rc ? rc : crit_film_finish(filming->film, &filming->err);
}

struct crit_listener crit_filming_listener(struct crit_filming *filming)
{
	struct crit_listener listener = {
		.user = filming,
		.on = { [CRIT_EVENT_EDGE + CRIT_EDGE_MESSAGE] = take_edge,
			[CRIT_EVENT_EDGE + CRIT_EDGE_RECEIVER] = take_receiver,
			[CRIT_EVENT_EDGE + CRIT_EDGE_RENDEZVOUS] = take_rendezvous,
			[CRIT_EVENT_EDGE + CRIT_EDGE_COLLECTIVE] = take_edge,
			[CRIT_EVENT_EDGE + CRIT_EDGE_BARRIER] = take_edge,
			[CRIT_EVENT_EDGE + CRIT_EDGE_LOCK_ASKED] = follow_lock,
			[CRIT_EVENT_EDGE + CRIT_EDGE_LOCK_TAKEN] = follow_lock,
			[CRIT_EVENT_EDGE + CRIT_EDGE_LOCK_RELEASED] = follow_lock,
			[CRIT_EVENT_EDGE + CRIT_EDGE_LOCK_LOST] = follow_lock,
			[CRIT_EVENT_EDGE + CRIT_EDGE_TASK] = take_edge,
			[CRIT_EVENT_EDGE + CRIT_EDGE_WAKEUP] = take_wakeup },
	};

	if (filming->options.has_needs) {
		listener.on[CRIT_EVENT_EDGE + CRIT_EDGE_ARRIVAL] = take_arrival;
		listener.on[CRIT_EVENT_EDGE + CRIT_EDGE_MEETING] = take_edge;
	}
	return listener;
}

struct crit_filming_counts crit_filming_counts(const struct crit_filming *filming)
{
	return filming->counts;
}

const struct crit_code_key *crit_filming_keys(const struct crit_filming *filming)
{
	return filming->keys.rows;
}

const struct crit_filmed_samples *crit_filming_samples(const struct crit_filming *filming)
{
	return &filming->samples;
}
