/* SPDX-License-Identifier: BSD-3-Clause */
/* A shim stream: where the slots of one thread are in the recording, and which thread it is. */
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

#endif
