/* SPDX-License-Identifier: BSD-3-Clause */
/* What filming knows of a thread: its last waits, and the spans that are open around its time. */
#ifndef CRIT_FILMED_THREAD_H
#define CRIT_FILMED_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/trace.h"
#include "analysis/waits/code_keys.h"
#include "analysis/waits/filmed_samples.h"
#include "analysis/waits/known_wait.h"
#include "core/abi/abi_slot.h"
#include "core/base/array.h"
#include "core/base/call.h"

enum crit_open_wait {
	CRIT_OPEN_NONE = 0,
	CRIT_OPEN_CALL,
	CRIT_OPEN_IDLE,
	CRIT_OPEN_BLOCKED
};

enum crit_span_kind {
	CRIT_SPAN_OTHER = 0,
	CRIT_SPAN_WAIT,
	CRIT_SPAN_TASK
};

/* What a span is for a film. */
enum crit_span_kind crit_filmed_kind_of(const struct crit_trace_span *span);

/* An OpenMP worker is idle from the end of a parallel region to its next one. */
static inline bool crit_filmed_is_worker(const struct crit_trace_span *span)
{
	return span->call == CRIT_CONSTRUCT_PARALLEL && !(span->arg & CRIT_INSTANCE_PRIMARY);
}

/* The region that is in force in it is its own. */
static inline bool crit_filmed_is_region(const struct crit_trace_span *span)
{
	return span->call == CRIT_CONSTRUCT_PARALLEL || span->call == CRIT_CONSTRUCT_TASK ||
	       span->call == CRIT_CONSTRUCT_PHASE;
}

/* Does a call ask whether requests are complete? */
static inline bool crit_filmed_is_test(uint16_t call)
{
	return call == CRIT_MPI_Test || call == CRIT_MPI_Testall || call == CRIT_MPI_Testany ||
	       call == CRIT_MPI_Testsome || call == CRIT_MPI_Request_get_status ||
	       call == CRIT_MPI_Request_get_status_all || call == CRIT_MPI_Request_get_status_any ||
	       call == CRIT_MPI_Request_get_status_some;
}

struct crit_open_span {
	struct crit_code_call call;
	enum crit_span_kind kind;
};

struct crit_filmed_place { /* where a thread meets others */
	uint32_t place; /* of edges */
	uint32_t use; /* the last one: of two the later has the higher number */
};

/* In lines of the cache by how often they are looked at. */
struct CRIT_LINE_ALIGNED crit_filmed_thread {
	struct crit_known_wait *waits; /* a ring, which grows to CRIT_FILMING_WAITS */
	uint64_t wait_count;
	uint64_t until_ns; /* of its last bucket */
	struct crit_code_call call; /* of the open wait, or of the last one */
	uint32_t wait_capacity; /* 0, or a power of two */
	uint32_t key; /* number of its last bucket */
	uint32_t depth;
	uint32_t wait_depth; /* of the open wait's span */
	enum crit_open_wait open;
	bool has_begun;
	bool is_around; /* it has left the region */
	bool has_called; /* something since its last wait, but to ask again */
	bool is_queued; /* it has no CPU */
	bool is_asleep; /* it is blocked, as far as the film has that */

	struct crit_open_span *spans; /* from 1, the outermost wait, on, to DEPTH_MAX */
	size_t span_capacity;
	uint64_t region_site; /* of the parallel region it is in; 0: none */
	uint32_t node;
	uint32_t region; /* that it was in last, as far as spans tell; 0: none */
	struct crit_filmed_stretch samples; /* since until_ns, while it does not wait */

	uint64_t begin_ns, end_ns;
	uint64_t slept_ns, woke_ns; /* its last sleep in the film; woke: 0 while it sleeps */
	uint64_t queued_ns; /* since when it wanted a CPU last */
	struct crit_filmed_place *places; /* by its own numbers of them */
	size_t place_count, place_capacity;
	uint32_t place_uses;
	uint32_t blocks_in; /* the system call of its last block, 1 more; 0: not known */
	bool was_outside; /* of all waits, when it was blocked last */
	bool was_woken; /* who made it is told no more */
};

#define CRIT_FILMED_OFTEN 128 /* bytes of it that each event looks at */

/* Or in what it does while it waits. */
static inline bool crit_filmed_is_in_wait(const struct crit_filmed_thread *filmed)
{
	return filmed->depth || filmed->open;
}

void crit_filmed_thread_fini(struct crit_filmed_thread *filmed);

/* The last wait but so many, which are fewer than are known.  Range: there are waits. */
static inline struct crit_known_wait *crit_filmed_wait(const struct crit_filmed_thread *filmed,
						       uint64_t back)
{
	return &filmed->waits[(filmed->wait_count - 1 - back) & (filmed->wait_capacity - 1)];
}

static inline struct crit_known_wait *crit_filmed_last_wait(const struct crit_filmed_thread *filmed)
{
	return crit_filmed_wait(filmed, 0);
}

/*
 * One wait more, in place of the oldest where there are CRIT_FILMING_WAITS, of which all is told.
 * Errors: -ENOMEM.
 */
int crit_filmed_add_wait(struct crit_filmed_thread *filmed, struct crit_actless_waits *actless);

/* No more is told of the thread's waits; those that go on end at end_ns. */
void crit_filmed_end_waits(const struct crit_filmed_thread *filmed, uint64_t end_ns,
			   struct crit_actless_waits *actless);

/*
 * The thread's own number of a place (schema/edge.h).  A film tells some apart: of more, a new one
 * has the number of that which was used longest ago.  Errors: -ENOMEM.
 */
int crit_filmed_place(struct crit_filmed_thread *filmed, uint32_t place, uint8_t *ret_number);

/* An open span: 1 is the outermost wait. */
struct crit_open_span *crit_filmed_span(const struct crit_filmed_thread *filmed, uint32_t depth);

/* Errors: -ENOMEM. */
int crit_filmed_push_span(struct crit_filmed_thread *filmed, const struct crit_open_span *span);

#endif
