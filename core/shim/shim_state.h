/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of libcrit_core.so: one struct per thread in static TLS, one per process. */
#ifndef CRIT_SHIM_STATE_H
#define CRIT_SHIM_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/abi_shim.h"
#include "core/client/client.h"
#include "core/client/notice.h"

#define CRIT_TAU_NS 1000u /* level profile: shorter waits are folded */
#define CRIT_OPEN_TAG_ONLY 16u /* constructs a thread without a buffer keeps */
#define CRIT_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define CRIT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define CRIT_HIDDEN __attribute__((visibility("hidden")))

enum crit_recorded {
	CRIT_RECORDED_NOT = 0,
	CRIT_RECORDED_HELD = 1, /* its ENTER has room in the ring; to be folded if short */
	CRIT_RECORDED_PUBLISHED = 2
};

enum crit_poll_call {
	CRIT_POLL_CALL_NONE = 0, /* or not to be recorded */
	CRIT_POLL_CALL_BEGUN = 1,
	CRIT_POLL_CALL_JOINED = 2 /* part of the poll span in the thread buffer's head */
};

enum crit_worker {
	CRIT_WORKER_NO = 0,
	CRIT_WORKER_UNTOLD = 1, /* its WORKER slot found no room yet */
	CRIT_WORKER_TOLD = 2
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

struct crit_comm { /* what the details of a span need of a communicator */
	_Atomic uint64_t handle;
	_Atomic uint32_t known_as; /* its number when its COMM slot is written, else 0 */
	uint32_t collectives; /* so far */
};

struct crit_shim_thread {
	uint64_t tag; /* the kernel half reads it here */
	const uintptr_t *outer_frame; /* frame of the outermost wrapper, NULL outside MPI */
	uintptr_t outer_return; /* the return address in that frame */
	const void *announced_frame; /* of a wrapper that leaves its span to one it calls */
	struct crit_thread_buffer_head *buffer; /* NULL: no event yet, or tag only */
	struct crit_slot *ring;
	struct crit_slot *lap; /* where the lap of the last slot lies */
	uint64_t lap_begin; /* its first slot's number */
	uint64_t laps_end; /* slots below this number have their place */
	struct crit_counter *last_counter;
	uint64_t write_pos;
	uint64_t tag_pos; /* behind the last slot with a stamp: what the tag tells */
	uint64_t room_end; /* slots below this number are free, as far as known, and no LEAVE's */
	uint64_t hurried_pos; /* critd's read position when it was last told to drain, or ~0 */
	uint64_t tag_around; /* the tag outside MPI calls, but for its sequence */
	uint64_t gate; /* level and tau as last seen; nothing real while a construct is held */
	uint64_t enter_ns;
	uint64_t enter_cycles; /* where the poll call under way begins; 0: enter_ns has it */
	uint64_t site;
	uint32_t what;
	uint32_t buffer_number;
	uint32_t level;
	uint32_t tau_ns;
	uint32_t pending; /* slots behind the published ones: details of the open span */
	uint32_t details_lost; /* of the open span */
	struct crit_counter *counted; /* level profile: where the open call was counted, or NULL */
	struct crit_comm *comm; /* last used */
	void *scratch; /* NULL: not needed yet */
	uint32_t scratch_bytes;
	uint8_t is_recorded; /* enum crit_recorded, of the open span */
	bool is_polling; /* the thread buffer's head holds an open poll span */
	uint8_t poll_call; /* enum crit_poll_call, of the poll call under way */
	bool is_tag_only; /* there was no thread buffer */
	bool is_registered; /* crit_thread_release will run at exit */
	bool is_construct_held; /* the innermost: its ENTER lies in the ring, unpublished */
	uint8_t worker; /* enum crit_worker */
	uint32_t *open; /* constructs begun and not ended, in the thread buffer or open_own */
	uint32_t open_count;
	uint32_t open_leaves; /* slots kept for those of them that are recorded */
	uint32_t open_beyond; /* begun where the stack was full */
	uint32_t open_inside; /* begun inside the MPI call */
	uint32_t open_own[CRIT_OPEN_TAG_ONLY];
	struct crit_clock clock;
};

_Static_assert(sizeof(struct crit_shim_thread) < 512, "static TLS is scarce");

enum crit_process_state {
	CRIT_PROCESS_NEW = 0,
	CRIT_PROCESS_STARTING = 1,
	CRIT_PROCESS_READY = 2,
	CRIT_PROCESS_OFF = 3,
	CRIT_PROCESS_IN_INIT = 4 /* records, and registers when MPI_Init has returned */
};

struct crit_shim_process {
	_Atomic int state; /* enum crit_process_state */
	enum crit_flavour flavour;
	struct crit_shm_head *head; /* NULL: tag only */
	size_t shm_bytes;
	uint32_t lap_slots; /* of a ring of CRIT_RING_LAPS laps; a power of two */
	uint32_t poll_gap_ns;
	uint64_t omitted; /* groups of calls and programs, as CRIT_S_LEVEL has them */
	int64_t clock_offset_ns;
	uint64_t init_ns; /* entered MPI_Init then, before it registered; 0: registered before */
	int memfd; /* of head, until the process registers; -1 */
	bool has_cycles; /* the cycle counter may carry the clock */
	_Atomic uint64_t scale; /* the last scale a thread found */
	bool has_key;
	pthread_key_t key;
	struct crit_client client;
	struct crit_client_env env;
	struct crit_notice notice; /* standard error at the first call */
	struct crit_err failure; /* why the process is not recorded; empty: it is, or is left out */
};

extern CRIT_HIDDEN __thread struct crit_shim_thread crit_this_thread
	__attribute__((tls_model("initial-exec")));
extern CRIT_HIDDEN struct crit_shim_process crit_process;

/* May threads take buffers? */
static inline bool crit_process_records(void)
{
	const int state = atomic_load_explicit(&crit_process.state, memory_order_acquire);

	return state == CRIT_PROCESS_READY || state == CRIT_PROCESS_IN_INIT;
}

#endif
