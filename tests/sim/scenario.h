/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario: what really happened in a run, as plain lists.  The oracle integrates the lists of
 * states and spans, the recorder turns the log of events into recordings, and the analysis must get
 * from the second what the oracle gets from the first.
 */
#ifndef CRIT_TESTS_SCENARIO_H
#define CRIT_TESTS_SCENARIO_H

#include "analysis/schema/results.h"
#include "tests/maker/maker.h"

#define CRIT_SCENARIO_NODES 3
#define CRIT_SCENARIO_PROCESSES 32
#define CRIT_SCENARIO_THREADS 48 /* of these at most 28 app, for the oracle */
#define CRIT_SCENARIO_NONE UINT32_MAX

struct crit_scenario_piece { /* a kernel state, until the next piece or death */
	uint64_t begin_ns;
	enum crit_kernel_state state;
};

struct crit_scenario_span {
	uint64_t begin_ns;
	uint64_t end_ns;
	uint32_t call;
	bool is_poll;
};

struct crit_scenario_process {
	uint32_t node;
	uint32_t pid;
	uint32_t ns_pid;
	uint32_t parent; /* index, or NONE */
	bool has_shim;
	bool has_rank; /* itself; children of a rank have owner only */
	uint32_t owner; /* index of the process whose rank this belongs to, or NONE */
	uint32_t rank;
	bool has_open;
	bool has_close;
	uint64_t open_ns; /* has_open: its part of the window */
	uint64_t close_ns;
	uint64_t gone_ns; /* 0: alive at the end */
};

struct crit_scenario_thread {
	uint32_t process;
	uint32_t tid;
	uint32_t ns_tid;
	enum crit_role role;
	bool has_stream;
	uint64_t birth_ns;
	uint64_t death_ns;
	struct crit_scenario_piece *pieces;
	size_t piece_count;
	size_t piece_room;
	struct crit_scenario_span *spans; /* in order, not nested */
	size_t span_count;
	size_t span_room;
};

enum crit_scenario_kind {
	CRIT_EV_NONE = 0,
	CRIT_EV_SWITCH, /* thread out (state), other in; either may be NONE */
	CRIT_EV_WAKE, /* of thread by other, NONE: an interrupt */
	CRIT_EV_FORK, /* thread is new, other its creator; WAKE_NEW has the same stamp */
	CRIT_EV_EXEC,
	CRIT_EV_EXIT,
	CRIT_EV_ENROL, /* on a CPU */
	CRIT_EV_REGISTER, /* of thread's process */
	CRIT_EV_CLAIM, /* thread takes a thread buffer */
	CRIT_EV_RELEASE,
	CRIT_EV_ENTER,
	CRIT_EV_LEAVE,
	CRIT_EV_POLL, /* at its end; begin_ns, call */
	CRIT_EV_RANK,
	CRIT_EV_CLOSE,
	CRIT_EV_GONE,
	CRIT_EV_COUNT
};

struct crit_scenario_event {
	uint64_t time_ns;
	uint64_t begin_ns;
	enum crit_scenario_kind kind;
	uint32_t node;
	uint32_t thread;
	uint32_t other;
	uint32_t cpu;
	uint32_t state; /* as in struct crit_kernel_head */
	uint32_t call; /* SWITCH: the poll call thread is in, 0 none */
	bool is_preempted;
	bool is_stale; /* the tag could not be read */
	uint64_t ran_ns; /* SWITCH: since one to thread that the kernel does not tell of; else 0 */
};

struct crit_scenario {
	uint64_t seed;
	uint32_t node_count;
	bool has_kernel[CRIT_SCENARIO_NODES];
	uint32_t rank_count;
	bool is_cut; /* the recording ends while threads live: no EXIT, no WINDOW */
	uint64_t begin_ns;
	uint64_t end_ns; /* every life ends here at the latest */
	uint64_t window_ns[CRIT_SCENARIO_NODES]; /* WINDOW chunk: lives are cut here; 0 none */
	struct crit_scenario_process processes[CRIT_SCENARIO_PROCESSES];
	size_t process_count;
	struct crit_scenario_thread threads[CRIT_SCENARIO_THREADS];
	size_t thread_count;
	struct crit_scenario_event *events; /* per node in time order */
	size_t event_count;
	size_t event_room;
};

/* What a random scenario may contain; the rest is drawn from the seed. */
struct crit_scenario_shape {
	uint64_t seed;
	uint32_t nodes; /* 1..3 */
	uint32_t ranks; /* 0: a run without ranks */
	uint32_t threads_max; /* per process, 1..4 */
	uint32_t events_max; /* about, per node */
	uint64_t step_ns; /* mean time between events of a thread */
	bool is_shim_only;
	bool is_mixed; /* the last node has no kernel half */
	bool is_cut;
	bool hides_switches;
	bool has_exact_polls; /* polls of 19999, 20000 and 20001 ns */
};

/* Draws a shape from a seed, covering all of the above. */
struct crit_scenario_shape crit_scenario_draw(uint64_t seed, uint32_t events_max);

/* Simulates threads on CPUs.  Ownership: the caller destroys the scenario. */
struct crit_scenario *crit_scenario_simulate(const struct crit_scenario_shape *shape);
void crit_scenario_destroy(struct crit_scenario *s);

/* The building blocks, for scenarios made by hand.  Indexes of what was added are yielded. */
uint32_t crit_scenario_add_process(struct crit_scenario *s, struct crit_scenario_process process);
uint32_t crit_scenario_add_thread(struct crit_scenario *s, struct crit_scenario_thread thread);
void crit_scenario_add_piece(struct crit_scenario_thread *t, uint64_t begin_ns,
			     enum crit_kernel_state state);
void crit_scenario_add_span(struct crit_scenario_thread *t, struct crit_scenario_span span);
struct crit_scenario_event *crit_scenario_add_event(struct crit_scenario *s,
						    struct crit_scenario_event event);

/* The recording of one node.  Ownership: options are borrowed, the caller destroys the maker. */
struct crit_maker *crit_scenario_record(const struct crit_scenario *s, uint32_t node,
					const struct crit_maker_options *options);

#endif
