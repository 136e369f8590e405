/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler state of every thread of a node, stepped by its kernel records.
 *
 * Both passes step the same states by the same records.  The index pass learns which events did not
 * fit: a switch-in of a thread that was on a CPU, a switch-out of one that was not, two members
 * on one CPU.  The thread's state was then unknown since its last certain stamp, which is past by
 * the time it shows; so the index pass notes the number of the thread's event after which nothing
 * was certain, and the replay, which counts the same events, says unknown at once.
 */
#ifndef CRIT_SCHED_STATE_H
#define CRIT_SCHED_STATE_H

#include "analysis/recording/kernel_feed.h"
#include "analysis/model/model.h"

enum crit_transition_flag {
	CRIT_T_BORN = 1 << 0,
	CRIT_T_DIED = 1 << 1,
	CRIT_T_SWITCHED_OUT = 1 << 2, /* the record carries its tag */
	CRIT_T_EXEC = 1 << 3,
	CRIT_T_SAMPLED = 1 << 4 /* and nothing changed */
};

struct crit_transition {
	uint32_t thread;
	uint8_t state; /* enum crit_kernel_state from now on */
	uint8_t flags;
};

#define CRIT_TRANSITIONS_MAX 6

enum crit_cpu_place { /* how a thread came to be known on a CPU */
	CRIT_CPU_CAME,
	CRIT_CPU_LEFT,
	CRIT_CPU_WOKEN,
	CRIT_CPU_PLACES
};

/*
 * Who is on a CPU, and whom its next record is about mostly: found here, nobody looks a task number
 * up among those of all threads.
 */
struct crit_sched_cpu {
	uint32_t tids[CRIT_CPU_PLACES]; /* 0: nobody */
	uint32_t threads[CRIT_CPU_PLACES];
	uint32_t running; /* thread plus one, 0: none */
	uint32_t reserved; /* two of them in a cache line */
};

static inline void crit_sched_cpu_set(struct crit_sched_cpu *cpu, enum crit_cpu_place place,
				      uint32_t tid, uint32_t thread)
{
	cpu->tids[place] = tid;
	cpu->threads[place] = thread;
}

struct crit_sched_state {
	struct crit_model *model;
	uint32_t node;
	bool is_index_pass;
	bool has_wakeups; /* else a thread that slept is on a CPU all at once */
	struct crit_map tids; /* tid -> newest thread */
	struct crit_sched_cpu *cpus; /* up to the largest number that a record had */
	size_t cpu_capacity;
	bool is_renamed; /* a thread has another task number than before: those of CPUs are void */
	uint32_t next_thread; /* replay: births come in the index pass's order */
	struct crit_transition out[CRIT_TRANSITIONS_MAX];
	unsigned int out_count;
	uint64_t unmatched;
	uint64_t wakes_early; /* before the switch to sleep that they undid */
	uint64_t refused; /* records that would begin a thread beyond the most there may be */
};

void crit_sched_state_init(struct crit_sched_state *sched_state, struct crit_model *model,
			   uint32_t node, bool is_index_pass);
void crit_sched_state_fini(struct crit_sched_state *sched_state);

/*
 * Takes one record; sched_state->out then holds what changed for whom, in order.
 * Errors: -ENOMEM.  Cost: O(1).
 */
int crit_sched_state_step(struct crit_sched_state *sched_state,
			  const union crit_kernel_record *record);

static inline bool crit_sched_state_is_alive(const struct crit_sched_state *sched_state,
					     uint32_t index)
{
	return index != CRIT_NONE && sched_state->model->threads[index].belief != CRIT_STATE_NONE;
}

/* The newest thread of a task number, or CRIT_NONE. */
static inline uint32_t crit_sched_state_find(const struct crit_sched_state *sched_state,
					     uint32_t tid)
{
	return crit_map_get(&sched_state->tids, tid);
}

/*
 * The same, at less cost where this CPU's last records were of it.  Who lives is the newest of its
 * number.
 */
static inline uint32_t crit_sched_state_find_on(const struct crit_sched_state *sched_state,
						uint16_t cpu, uint32_t tid)
{
	const bool is_known = tid && cpu < sched_state->cpu_capacity && !sched_state->is_renamed;

	for (int i = 0; is_known && i < CRIT_CPU_PLACES; i++) {
		uint32_t thread = sched_state->cpus[cpu].threads[i];

		if (sched_state->cpus[cpu].tids[i] == tid &&
		    sched_state->model->threads[thread].belief != CRIT_STATE_NONE)
			return thread;
	}
	return crit_sched_state_find(sched_state, tid);
}

#endif
