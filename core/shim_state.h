/* SPDX-License-Identifier: BSD-3-Clause */
/* The state behind core/shim.h: one struct per thread in static TLS, one per process. */
#ifndef CRIT_SHIM_STATE_H
#define CRIT_SHIM_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi_shim.h"
#include "core/client.h"

#define CRIT_TAU_NS 1000u /* level profile: shorter waits are folded */
#define CRIT_HIDDEN __attribute__((visibility("hidden")))

enum crit_recorded {
	CRIT_RECORDED_NOT = 0,
	CRIT_RECORDED_HELD =
		1, /* ENTER lies in the ring, unpublished: a short wait will be folded */
	CRIT_RECORDED_PUBLISHED = 2
};

struct crit_clock { /* per thread: CLOCK_MONOTONIC carried on from an anchor by the cycle counter */
	uint64_t anchor_cycles;
	uint64_t anchor_ns;
	uint64_t scale; /* ns per cycle, 32.32; 0: not known yet */
	uint64_t limit_cycles; /* an anchor older than this is renewed; 0: always */
	uint64_t base_cycles; /* an older anchor, for the scale */
	uint64_t base_ns;
	uint64_t last_ns; /* no stamp lies before the one before it */
};

struct crit_thread {
	uint64_t tag; /* the kernel half reads it here */
	const uintptr_t *outer_frame; /* frame of the outermost wrapper, NULL outside MPI */
	uintptr_t outer_return; /* the return address in that frame */
	struct crit_stripe_head *stripe; /* NULL: no event yet, or tag only */
	struct crit_slot *ring;
	struct crit_counter *last_counter;
	uint64_t write_pos;
	uint64_t room_end; /* slots below this number are free, as far as known */
	uint64_t gate; /* level and tau as last seen */
	uint64_t enter_ns;
	uint64_t site;
	uint32_t what;
	uint32_t stripe_number;
	uint32_t level;
	uint32_t tau_ns;
	uint8_t is_recorded; /* enum crit_recorded, of the open span */
	bool is_polling; /* the stripe's head holds an open poll span */
	bool is_poll_timed; /* the poll call under way has its begin in enter_ns */
	bool is_tag_only; /* there was no stripe */
	bool is_registered; /* crit_thread_release will run at exit */
	struct crit_clock clock;
};

_Static_assert(sizeof(struct crit_thread) < 512, "static TLS is scarce");

enum crit_process_state {
	CRIT_PROCESS_NEW = 0,
	CRIT_PROCESS_STARTING = 1,
	CRIT_PROCESS_READY = 2,
	CRIT_PROCESS_OFF = 3
};

struct crit_process {
	_Atomic int state; /* enum crit_process_state */
	enum crit_flavour flavour;
	struct crit_shm_head *head; /* NULL: tag only */
	size_t shm_bytes;
	uint32_t ring_slots;
	uint32_t poll_gap_ns;
	int64_t clock_offset_ns;
	bool has_cycles; /* the cycle counter may carry the clock */
	_Atomic uint64_t scale; /* the last scale a thread found */
	bool has_key;
	pthread_key_t key;
	struct crit_client client;
	struct crit_client_env env;
};

extern CRIT_HIDDEN __thread struct crit_thread crit_thread
	__attribute__((tls_model("initial-exec")));
extern CRIT_HIDDEN struct crit_process crit_process;

/* shim_memory.c: makes the memfd; ret_fd is the caller's; the mapping goes to crit_process. */
CRIT_HIDDEN int crit_memory_create(int *ret_fd);
CRIT_HIDDEN void crit_memory_unmap(void);
CRIT_HIDDEN struct crit_stripe_head *crit_memory_stripe(uint32_t number);

/* shim_thread.c: gives the calling thread a stripe, or makes it tag-only. */
CRIT_HIDDEN void crit_thread_claim(struct crit_thread *thread);
CRIT_HIDDEN void crit_thread_release(void *unused);

/* shim_span.c: ends the open poll span with its last failing call, if there is one. */
CRIT_HIDDEN void crit_span_flush_poll(struct crit_thread *thread);

/* shim_clock.c */
CRIT_HIDDEN void crit_clock_init(void);
CRIT_HIDDEN uint64_t crit_clock_anchor(struct crit_clock *clock);

static inline struct crit_counter *crit_stripe_counters(struct crit_stripe_head *stripe)
{
	return (struct crit_counter *)(void *)((char *)stripe + CRIT_STRIPE_HEAD_BYTES);
}

#endif
