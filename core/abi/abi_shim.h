/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared memory between a shimmed process and critd: one memfd per process, sealed SHRINK, GROW
 * and SEAL, read by critd with pread (never mapped there) and written by it with pwrite.
 *
 *   offset 0                 struct crit_shm_head                       (4096 bytes)
 *   4096 + i * buffer_bytes  thread buffer i:
 *        +0                    struct crit_thread_buffer_head                    (4096 bytes)
 *        +4096                 struct crit_counter[CRIT_COUNTERS]         (61440 bytes)
 *        +65536                ring of ring_slots slots of 32 bytes
 *
 * A thread owns one thread buffer from its first event to its exit.  Slot n of a thread buffer (n
 * counts from 0 over the life of the thread buffer, across owners) belongs to lap n / lap_slots,
 * where lap_slots is ring_slots / CRIT_RING_LAPS, and lies in the lap's place: that part of the
 * ring whose number is the lap's, modulo CRIT_RING_LAPS, XOR what lap_places has for it.  A lap
 * takes the first place whose slots are all read, so a thread whose slots are read in time stays on
 * few pages of its ring; where there is none, that of the lap CRIT_RING_LAPS before it.  The writer
 * may fill slot n while n - read_pos < ring_slots; an enter reserves the room of its leave, so a
 * full ring loses whole spans.  The low 24 bits of "slots written" are the sequence in the tag
 * word.
 *
 * Everything here is untrusted to critd and to analysis.
 */
#ifndef CRIT_ABI_SHIM_H
#define CRIT_ABI_SHIM_H

#include <linux/types.h>

#include "core/abi/abi_slot.h"

#define CRIT_SHM_MAGIC 0x4d48532d54495243ull /* "CRIT-SHM" */
#define CRIT_SHM_VERSION 2u
#define CRIT_SHM_HEAD_BYTES 4096u
#define CRIT_THREAD_BUFFER_HEAD_BYTES 4096u
#define CRIT_THREAD_BUFFER_RING_OFFSET 65536u
#define CRIT_THREAD_BUFFERS_MIN 64u
#define CRIT_THREAD_BUFFERS_MAX 4096u
/* 8 MiB: a message takes three slots, and a drain may come 13 ms after the one before. */
#define CRIT_RING_SLOTS 262144u
#define CRIT_RING_LAPS 32u
#define CRIT_THREAD_BUFFER_OWN_WORDS 960u
#define CRIT_POLL_INACTIVE_NS 20000u /* a poll span this long is a wait */

enum crit_level {
	CRIT_LEVEL_NONE = 0,
	CRIT_LEVEL_PROFILE = 1,
	CRIT_LEVEL_TRACE = 2
};

enum crit_thread_buffer_state {
	CRIT_THREAD_BUFFER_FREE = 0,
	CRIT_THREAD_BUFFER_OWNED = 1, /* compare-and-swap by the claiming thread */
	CRIT_THREAD_BUFFER_RELEASED = 2 /* by the owner at its exit; critd drains, then sets FREE */
};

struct crit_shm_head {
	/* written once by the shim, before the memfd is handed over */
	__u64 magic;
	__u32 version;
	__u32 head_bytes; /* CRIT_SHM_HEAD_BYTES */
	__u32 buffer_count; /* 64..4096 */
	__u32 buffer_bytes; /* CRIT_THREAD_BUFFER_RING_OFFSET + ring_slots * CRIT_SLOT_BYTES */
	__u32 ring_slots; /* power of two, at most CRIT_RING_SLOTS */
	__u32 counter_count; /* counters per thread buffer */
	__s64 clock_offset_ns; /* added to the shim's clock gives the host's (time namespaces) */
	__u8 reserved0[88];
	/* offset 128, written by the shim at run time */
	__u32 buffers_used; /* high-water mark of claimed thread buffers: critd looks no further */
	__u32 reserved1;
	__u64 no_buffer; /* threads that found no buffer */
	__u8 reserved2[112];
	/* offset 256, written by critd (pwrite) */
	__u32 level; /* enum crit_level */
	__u32 tau_ns; /* level profile: wait spans shorter than this are folded */
	__u32 is_stopped; /* 1: the cap is reached or the recording ended; write nothing more */
	__u32 reserved3;
	__u8 reserved4[3824];
};

struct crit_thread_buffer_head {
	/* line 0: written by the owner */
	__u32 state; /* enum crit_thread_buffer_state */
	__u32 ns_tid; /* owner's number in its own pid namespace */
	__u64 claim_ns;
	__u64 release_ns; /* 0 while owned */
	__u64 claim_pos; /* slots written when this owner took it */
	__u64 write_pos; /* slots written so far; published with release order */
	__u64 lost_spans; /* whole spans dropped since the thread buffer was born */
	__u64 reserved0[2];
	/* offset 64: the open span, so that a thread that dies inside it is still accounted */
	__u32 open_call; /* 0: none */
	__u32 open_class;
	__u64 open_first_ns; /* poll: begin of the first failing call */
	__u64 open_last_ns; /* poll: leave of the last failing call */
	__u64 open_count;
	__u64 open_gap_sum_ns;
	__u64 open_site;
	__u64 reserved1[2];
	/* offset 128 */
	__u64 counters_lost; /* calls that found the counter table full */
	__u64 folded_ns; /* level profile: total time of folded wait spans */
	__u64 reserved2[2];
	__u8 lap_places[CRIT_RING_LAPS]; /* of the lap, modulo that many; see crit_ring_place */
	/* offset 192: written by critd (pwrite) */
	__u64 read_pos;
	__u64 reserved3[7];
	__u32 owner_only
		[CRIT_THREAD_BUFFER_OWN_WORDS]; /* its stack of constructs; nobody else's matter */
};

/* Calls without a span of their own: counts per (call, site).  Open addressing, linear probes. */
struct crit_counter { /* 64 bytes */
	__u64 site;
	__u32 call; /* 0: empty */
	__u32 region;
	__u64 count;
	__u64 folded_count; /* of these, wait spans shorter than tau */
	__u64 folded_ns; /* their time */
	__u64 bytes; /* sent or received by the counted calls, as far as known at the call */
	__u64 polled_count; /* asked between the polls of a poll span; not in count */
	__u64 reserved;
};

#define CRIT_COUNTERS                                                                              \
	((CRIT_THREAD_BUFFER_RING_OFFSET - CRIT_THREAD_BUFFER_HEAD_BYTES) / 64u) /* 960 */

/* Where a lap lies in the ring, in laps.  Range: below CRIT_RING_LAPS, whatever lap_places has. */
static inline __u32 crit_ring_place(const __u8 lap_places[CRIT_RING_LAPS], __u64 lap)
{
	return (__u32)(lap ^ lap_places[lap % CRIT_RING_LAPS]) % CRIT_RING_LAPS;
}

_Static_assert(sizeof(struct crit_counter) == 64, "counter");
_Static_assert(sizeof(struct crit_shm_head) == CRIT_SHM_HEAD_BYTES, "shm head");
_Static_assert(sizeof(struct crit_thread_buffer_head) == CRIT_THREAD_BUFFER_HEAD_BYTES,
	       "stripe head");
_Static_assert(__builtin_offsetof(struct crit_shm_head, buffers_used) == 128, "shm run-time line");
_Static_assert(__builtin_offsetof(struct crit_shm_head, level) == 256, "shm critd line");
_Static_assert(__builtin_offsetof(struct crit_thread_buffer_head, open_call) == 64, "open span");
_Static_assert(__builtin_offsetof(struct crit_thread_buffer_head, lap_places) == 160, "places");
_Static_assert(__builtin_offsetof(struct crit_thread_buffer_head, read_pos) == 192,
	       "read position");

#endif
