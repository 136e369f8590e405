/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Callbacks of a sink: threads, spans and messages of a replay.
 *
 * A sink is named in crit_analysis_options.  It is told of every thread in order of time; threads
 * among each other may be told out of order.  All times are on the run clock.  A thread is known by
 * its row in results->threads, a rank by its row in results->ranks.  Only what lies in a thread's
 * part of the window is told, so spans told and visits reported are the same number; what begins
 * and ends that part is told by itself (setup).
 *
 * In a cluster (cluster.h) each process emits the threads of its nodes; process 0 alone emits
 * messages, communicators and, at the end, results.  Where it gathers (gathering.h) its sink is
 * told of all threads.
 *
 * Every function may be NULL.  One that answers -errno ends the analysis with it.
 */
#ifndef CRIT_TRACE_H
#define CRIT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/schema/results.h"
#include "analysis/schema/trace_message.h"

/*
 * What a thread earned and did in a span, spans inside it apart.  Whole nanoseconds; the parts of
 * what is cut are carried on, so that the sums over a thread's spans are its row's; RUNNABLE may be
 * more and RUNNING as much less, where stays on a CPU were told of after all spans they were in.
 */
struct crit_trace_sums {
	uint64_t cmetric_ns; /* unit threads, scope run */
	uint64_t all_waiting_ns;
	uint64_t state_ns[CRIT_STATE_COUNT]; /* by kernel state */
	uint64_t polled; /* calls merged into this poll span, 0 none */
	uint64_t total_cmetric_ns; /* of the thread since it began to be told of */
	bool is_idle; /* of leave: an OpenMP worker, which is idle outside spans */
};

struct crit_trace_span {
	uint16_t call;
	uint8_t span_class;
	uint32_t region; /* in force inside, a number of the thread's process */
	uint64_t site; /* return address in the thread's process, 0 unknown */
	uint64_t arg; /* PARALLEL: instance, as CRIT_S_ENTER has it; a wait for a lock: the lock;
			 TASK: its number */
};

/* MPI_Init, MPI_Init_thread or MPI_Finalize, where it lies outside its thread's part. */
struct crit_trace_setup {
	uint64_t begin_ns; /* may lie outside the window; not after end_ns */
	uint64_t end_ns; /* of a Finalize nobody saw the end of: its process's, or the last stamp */
	uint64_t site; /* as of a span */
	uint16_t call;
};

/* Where a thread was when the sampling clock ticked. */
struct crit_trace_sample {
	uint64_t address; /* as crit_sample_row has it */
	struct crit_call_tree tree;
	uint32_t path; /* of its caller: a row of the tree, or an enum crit_path_root */
	uint64_t cpu_ns; /* that it stands for: its tick, and those that were not kept */
	uint32_t period_ns; /* of the tick on its CPU */
};

struct crit_trace_sink {
	void *user; /* first argument of every function */
	bool has_all; /* service threads and launchers as well as app threads */
	bool has_rank_states; /* kernel states of runs with ranks as well */
	bool has_no_sums; /* of sums it looks at is_idle alone: the rest is not added up */
	size_t threads_max; /* a run with more of them is not told of; 0: none is too large */

	/*
	 * Before all else.  run: heads, nodes, ranks and threads without figures, borrowed until
	 * end; until end_ns spans are told: the window's end, or where level trace ended.
	 */
	int (*begin)(void *user, const struct crit_results *run, uint64_t end_ns);

	int (*thread_begin)(void *user, uint32_t thread, uint64_t time_ns);
	/* sums: outside all spans.  NULL, here and in leave: cut at end_ns, nobody knows them. */
	int (*thread_end)(void *user, uint32_t thread, uint64_t time_ns,
			  const struct crit_trace_sums *sums);
	/* total_cmetric_ns: as in the sums. */
	int (*enter)(void *user, uint32_t thread, uint64_t time_ns,
		     const struct crit_trace_span *span, uint64_t total_cmetric_ns);
	int (*leave)(void *user, uint32_t thread, uint64_t time_ns,
		     const struct crit_trace_span *span, const struct crit_trace_sums *sums);

	/* Likewise, of spans it was in before: right after thread_begin, the outermost first. */
	int (*inside_enter)(void *user, uint32_t thread, uint64_t time_ns,
			    const struct crit_trace_span *span, uint64_t total_cmetric_ns);
	int (*inside_leave)(void *user, uint32_t thread, uint64_t time_ns,
			    const struct crit_trace_span *span, const struct crit_trace_sums *sums);

	/*
	 * Right before thread_begin of the thread that called MPI_Init*, and at most once after its
	 * thread_end, when it has entered MPI_Finalize.  Nothing was earned in them, and no table
	 * counts them.
	 */
	int (*setup)(void *user, uint32_t thread, const struct crit_trace_setup *setup);

	/*
	 * The kernel has the thread in another state from now on; told right after thread_begin as
	 * well.  ran_ns: of a state RUNNABLE that is over, so much it was on CPUs, as a record of
	 * many stays tells.  Of runs with ranks only where that is wanted: details of messages come
	 * later than the states beside.
	 */
	int (*state)(void *user, uint32_t thread, uint64_t time_ns, enum crit_kernel_state state,
		     uint64_t ran_ns);

	/* As a listener's (event.h), of a row of threads. */
	void (*soon)(void *user, uint32_t thread, bool is_near);

	/* Right before it is BLOCKED, if known: the system call; -1: none, or one of 32 bits. */
	int (*block)(void *user, uint32_t thread, uint64_t time_ns, int system_call);

	/* As many as results->samples.count until end_ns; not where several processes
	 * analyse and do not gather. */
	int (*sample)(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_sample *sample);

	/* A lock was released; call as the wait for it has it. */
	int (*release)(void *user, uint32_t thread, uint64_t time_ns, uint16_t call, uint64_t lock);

	/* A task was made or put aside; note: enum crit_omp_task_note. */
	int (*task)(void *user, uint32_t thread, uint64_t time_ns, uint16_t note, uint64_t task);

	int (*communicator)(void *user, const struct crit_trace_communicator *communicator);
	int (*message)(void *user, uint32_t thread, uint64_t time_ns,
		       const struct crit_trace_message *message);

	/* are_messages_whole: every message of the window was told. */
	int (*end)(void *user, const struct crit_results *results, bool are_messages_whole);
};

/* Told of each wait once it has ended, by who films them (waits/filming.h); as a sink otherwise. */
struct crit_wait_listener {
	void *user;
	int (*wait)(void *user, uint32_t thread, uint64_t begin_ns, uint64_t end_ns);
};

#endif
