/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A registered process: its shared memory, thread buffer by thread buffer, and its place in the
 * run.
 */
#ifndef CRIT_COLLECTOR_CLIENT_PROCESS_H
#define CRIT_COLLECTOR_CLIENT_PROCESS_H

#include <stdint.h>
#include <stdbool.h>

#include "collector/member/cpu_limits.h"
#include "collector/member/meter.h"
#include "collector/member/shm.h"

struct crit_run;
struct crit_thread_buffer;

struct crit_client_process {
	struct crit_run *run;
	struct crit_client_process **holder; /* its connection's pointer to it; NULL once closed */
	uint32_t index;
	uint64_t born_round; /* of the main loop: no event fetched in it is about this process */
	uint32_t pid;
	uint32_t ns_pid;
	int pidfd;
	struct crit_shm shm;
	struct crit_thread_buffer *buffers;
	uint32_t buffer_room;
	uint32_t spare_buffers; /* of the room, taken from what all share */
	uint16_t *busy; /* thread buffers looked at each time; room as for thread buffers */
	uint32_t busy_count;
	uint32_t next_buffer; /* of the others, to look at */
	uint64_t round_ns; /* when the present round over them began */
	uint64_t delivered_count; /* slots, and streams of counters alone */
	struct crit_allowance allowance; /* for looks */
	uint64_t no_buffer_seen; /* threads without a buffer, up to the last look */
	uint64_t maps_hash;
	struct crit_cpu_limits cpu_limits;
	bool is_mpi;
	bool has_rank;
	bool is_closed; /* sent CLOSE and has not reopened */
	bool is_expelled; /* its kernel half has ended: not looked at from outside any more */
	bool is_gone;
	bool has_called; /* asked to be drained before its time */
	bool is_left_alone; /* its memory is not looked at any more */
	bool is_short_noted; /* it has more thread buffers than there was room for */
};

/*
 * Reads what the threads of this process wrote since the last time, at most slots_max of each, as
 * far as the run's meter allows.  Returns how many slots the fullest thread buffer
 * had of which so many could be taken: with more than slots_max there are some left.  Cost: one
 * pread per thread buffer.
 */
uint32_t crit_process_drain(struct crit_client_process *process, uint64_t now_ns,
			    uint32_t slots_max);

/*
 * Has it a thread buffer that delivered lately, or called, and may it be looked at?  No system
 * call.
 */
bool crit_process_is_due(const struct crit_client_process *process);

/* Reads all there is, whatever it costs. */
void crit_process_drain_all(struct crit_client_process *process, uint64_t now_ns);

/* One of its rings is half full.  Returns whether it may be drained before its time. */
bool crit_process_call(struct crit_client_process *process, uint64_t now_ns);

/* Flushes its batches; with counters, their present values. */
void crit_process_flush(struct crit_client_process *process, bool has_counters);

/* Drains for the last time and ends all streams. */
void crit_process_end(struct crit_client_process *process, uint64_t now_ns);

/*
 * The process became another program by exec: ends what the old image recorded, and takes the new
 * one's memory.  Ownership: shm's descriptor becomes the process's.
 */
void crit_process_renew(struct crit_client_process *process, const struct crit_shm *shm,
			uint64_t now_ns);

/* Frees the memory; ownership of pidfd and memfd ends here. */
void crit_process_destroy(struct crit_client_process *process);

#endif
