/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread of the model from birth to death: its numbers, role, rank, and kernel state. */
#ifndef CRIT_THREAD_H
#define CRIT_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/recording/node_clock.h"
#include "analysis/schema/results.h"
#include "core/base/array.h"

#define CRIT_THREADS_MAX (1u << 22)
#define CRIT_THREADS_FREE (1u << 15) /* of a node, however small its recording is */
#define CRIT_THREAD_BYTES                                                                          \
	160u /* of a recording for each beyond: one that runs leaves 190 or more */
#define CRIT_CPU_ANY 0xfffffffeu

struct crit_thread {
	/* what each of its events needs lies together */
	uint64_t last_ns; /* last certain stamp */
	uint64_t wants_ns; /* runnable since, and not seen to get a CPU; 0 not so */
	uint32_t tid;
	uint32_t cpu; /* while running; CRIT_CPU_ANY when not told */
	uint32_t events; /* certain stamps so far */
	uint32_t final_event; /* dies with this one; CRIT_NONE */
	uint32_t revised_first; /* list of events that its state is another after than they say */
	uint8_t belief; /* enum crit_kernel_state after the last event */
	bool is_worker; /* of an OpenMP runtime, by its tag, or where it decides a role its slots */
	bool is_exiting; /* EXIT seen, last switch-out not yet */
	bool is_woken; /* when it left its CPU, blocked */
	uint64_t switches;
	uint64_t preemptions;
	uint64_t woken_ns; /* while it was active, since it last got a CPU; 0: not */
	uint64_t awake_ns; /* index pass: on a CPU or runnable, up to last_ns */
	enum crit_role role;
	uint32_t window; /* the one it lives by: index into windows, or CRIT_NONE */

	uint32_t node;
	uint32_t tgid; /* 0: not known yet */
	uint32_t ns_tid;
	uint32_t process;
	uint32_t creator; /* thread that forked it, or CRIT_NONE */
	uint32_t older; /* the thread before with the same (tgid, ns_tid) */
	uint32_t next_in_window;
	char name[CRIT_COMM_BYTES];
	uint64_t birth_ns;
	uint64_t death_ns;
	bool has_stream;
	bool is_assumed; /* known only from a shim */
	bool is_enrolled; /* it lived already when it became a member */
	bool is_born_in_mpi; /* its creator was inside an MPI call */
	bool is_helper; /* or that of one that was */
	bool has_exit_name;
	bool is_tag_only; /* has a tag, but no thread buffer was left for it */
	bool has_mpi_calls; /* looked for only where it decides a role */
	uint32_t rank; /* it is of, or descends from; index into ranks, or CRIT_NONE */
	uint32_t revised_last;
	uint64_t unmatched;
};

/* An event after which a thread's state, until its next one, is another than the record says. */
struct crit_revision {
	uint32_t event;
	uint32_t next;
	uint8_t state; /* enum crit_kernel_state */
};

struct crit_return { /* a thread got a CPU unseen, as RAN or YIELDS told later */
	uint64_t time_ns;
	uint64_t running_ns; /* was on CPUs for so long since it became runnable */
	uint32_t thread;
	bool is_running; /* from then on */
};

struct crit_model;

/* Index pass: how long it was on a CPU or runnable until then, were its state the same since. */
static inline uint64_t crit_thread_awake(const struct crit_thread *thread, uint64_t until_ns)
{
	const bool is_awake = thread->belief == CRIT_STATE_RUNNING ||
			      thread->belief == CRIT_STATE_RUNNABLE;

	return thread->awake_ns +
	       (is_awake && until_ns > thread->last_ns ? until_ns - thread->last_ns : 0);
}

/* A certain stamp. */
static inline void crit_thread_stamp(struct crit_thread *thread, enum crit_kernel_state state,
				     uint64_t time_ns)
{
	thread->events++;
	thread->last_ns = time_ns;
	thread->belief = (uint8_t)state;
	thread->wants_ns = state == CRIT_STATE_RUNNABLE ? time_ns : 0;
}

/*
 * Index pass: one more thread, of which nothing is known but the node; *ret_index is CRIT_NONE
 * where there are CRIT_THREADS_MAX.  Errors: -ENOMEM.
 */
int crit_threads_append(struct crit_model *model, uint32_t node, uint32_t *ret_index);

/* Index pass: the thread's state since its last event, for the replay.  Errors: -ENOMEM. */
int crit_threads_revise(struct crit_model *model, struct crit_thread *thread,
			enum crit_kernel_state state);

/*
 * Index pass: what a runnable thread did up to past_ns before now, for the replay to know in time.
 * noted: its time is set here.  Errors: -ENOMEM.
 */
int crit_threads_note_return(struct crit_model *model, const struct crit_return *noted,
			     uint64_t now_ns, uint64_t past_ns);

/* Index pass: ends the threads of a node that were exiting when its records ended. */
void crit_threads_settle_exits(struct crit_model *model, uint32_t node);

/* Between the passes: puts every thread back before its birth. */
void crit_threads_rewind(struct crit_model *model);

#endif
