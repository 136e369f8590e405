/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shim stream: where the slots of one thread are in the recording, which thread it is, and what
 * happens in it.
 */
#ifndef CRIT_STREAM_H
#define CRIT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/abi_recording.h"

struct crit_stream {
	uint32_t node;
	uint32_t pid;
	uint32_t ns_tid;
	uint32_t thread;
	uint32_t first_ref; /* SHIM chunks, linked by next */
	uint32_t last_ref;
	uint64_t slot_count; /* in these chunks */
	uint32_t first_counters;
	uint32_t last_counters;
	bool has_end;
	uint64_t claim_ns;
	uint64_t claim_pos;
	uint64_t next_slot; /* number the next SHIM chunk should begin with */
	uint64_t first_ns; /* stamp of the first slot, 0 none */
	uint64_t last_ns; /* stamp of the last slot */
	struct crit_rec_stream_end end;
};

enum crit_span_event_kind {
	CRIT_SPAN_NONE = 0, /* nothing changes but the slot number */
	CRIT_SPAN_WORKER, /* the thread is one of an OpenMP runtime */
	CRIT_SPAN_RELEASE, /* of a lock */
	CRIT_SPAN_TASK, /* call: enum crit_omp_task_note */
	CRIT_SPAN_ENTER,
	CRIT_SPAN_LEAVE
};

struct crit_span_event {
	uint64_t time_ns;
	uint64_t site;
	uint64_t arg; /* of an enter's slot, or the lock, or the task */
	uint64_t polled; /* calls merged into this poll span, 0 otherwise */
	uint64_t next_slot; /* number of the first slot not yet spent once this event is applied */
	uint32_t region;
	uint16_t call;
	uint8_t kind;
	uint8_t span_class;
};

#endif
