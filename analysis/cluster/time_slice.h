/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One time slice of a run: its owner merges the steps of all analysis processes in order of time
 * and integrates over them. Steps of equal time may come in any order: no time passes between them.
 */
#ifndef CRIT_TIME_SLICE_H
#define CRIT_TIME_SLICE_H

#include "analysis/account/blame.h"
#include "analysis/replay/merge.h"
#include "analysis/cluster/transport.h"
#include "analysis/account/step.h"

/* what an analysis process says first of a time slice: its threads when it begins */
struct crit_time_slice_head {
	uint32_t active[CRIT_UNIT_COUNT];
	uint32_t live[CRIT_UNIT_COUNT];
	uint32_t wait_count; /* crit_time_slice_count by call */
	uint32_t rank_count; /* crit_time_slice_count by rank */
	uint32_t may_wait_active; /* ranks */
	uint32_t reserved;
	uint64_t note_count;
};

struct crit_time_slice_count { /* threads that wait in a call, or are active of a rank */
	uint32_t number;
	uint32_t count;
};

struct crit_time_slice_step { /* a step */
	uint64_t time_ns;
	uint32_t rank; /* whose thread it is, CRIT_NONE */
	int8_t active[CRIT_UNIT_COUNT]; /* what it changes */
	int8_t live[CRIT_UNIT_COUNT];
	uint16_t from_call; /* that the thread no longer waits in, 0 none */
	uint16_t to_call;
	int8_t may_wait_active; /* ranks */
	uint8_t is_sample; /* it changes nothing */
	uint8_t reserved[2];
};

struct crit_time_slice_source { /* an analysis process's part */
	struct crit_time_slice_step note; /* the next one */
	uint64_t left; /* notes behind it */
	size_t at; /* bytes of its buffer that were read */
};

struct crit_time_slice {
	/* all analysis processes' threads; integrals from the time slice's begin */
	struct crit_scope_state scope;
	uint32_t *rank_active; /* by rank */
	uint32_t rank_count;
	struct crit_merge merge; /* of the sources */
	struct crit_time_slice_source *sources; /* by analysis process */
};

/* Errors: -ENOMEM. */
int crit_time_slice_init(struct crit_time_slice *slice, uint32_t process_count,
			 uint32_t rank_count);
void crit_time_slice_fini(struct crit_time_slice *slice);

struct crit_time_slice_bounds {
	uint64_t begin_ns, end_ns;
	uint64_t window_end_ns;
	const crit_fix *reciprocals;
	uint32_t process_count;
};

/*
 * Adds up the buffers that came, charges blame, and puts into each analysis process's answer a
 * crit_marks per step, the number of active threads (uint64_t) per sample, and the time slice's own
 * scope at last.  Errors: -ENOMEM, -EPROTO.
 */
int crit_time_slice_add_up(struct crit_time_slice *slice,
			   const struct crit_time_slice_bounds *bounds, struct crit_blame *blame,
			   const struct crit_exchange_buffer *from,
			   struct crit_exchange_buffer *answers);

#endif
