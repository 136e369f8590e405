/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an analysis yields: plain numbers, integer until printed.  Filled by crit_analyse(), read by
 * the report writers and the OTF2 writer.
 *
 * Formulas: CMetric and n(t) after GAPP (ICPE'20, section 2.1), extended by span classes,
 * all-waiting time, waited-for and unit ranks as docs/metric.md derives them.
 */
#ifndef CRIT_RESULTS_H
#define CRIT_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/call_results.h"
#include "analysis/schema/attribution.h"
#include "analysis/schema/block_results.h"
#include "analysis/schema/message_results.h"
#include "analysis/schema/node_results.h"
#include "analysis/schema/process_end_results.h"
#include "analysis/schema/region_results.h"
#include "analysis/schema/sample_results.h"
#include "core/abi/abi_kernel.h"
#include "core/abi/abi_recording.h"
#include "core/abi/abi_tag.h"

enum crit_kernel_state {
	CRIT_STATE_NONE = 0, /* not born, or gone */
	CRIT_STATE_RUNNING,
	CRIT_STATE_RUNNABLE,
	CRIT_STATE_BLOCKED,
	CRIT_STATE_UNKNOWN,
	CRIT_STATE_ASSUMED, /* known only from a shim */
	CRIT_STATE_COUNT
};

enum crit_scope {
	CRIT_SCOPE_RUN = 0,
	CRIT_SCOPE_NODE,
	CRIT_SCOPE_COUNT
};

enum crit_active_rule {
	CRIT_ACTIVE_DEFAULT = 0, /* running or runnable, and not in a waiting span */
	CRIT_ACTIVE_KERNEL, /* GAPP's own: running or runnable */
	CRIT_ACTIVE_POLL, /* default, but polling counts as active */
	CRIT_ACTIVE_MAY_WAIT, /* default, but mpi_may_wait is active (the verdict's cross-check) */
	CRIT_ACTIVE_COUNT
};

/* Time of a thread by (kernel state, span class); the cells of design section 2, in ns. */
struct crit_cells {
	uint64_t ns[CRIT_STATE_COUNT][CRIT_CLASS_COUNT];
};

static inline void crit_cells_add(struct crit_cells *sum, const struct crit_cells *more)
{
	for (int state = 0; state < CRIT_STATE_COUNT; state++)
		for (int span_class = 0; span_class < CRIT_CLASS_COUNT; span_class++)
			sum->ns[state][span_class] += more->ns[state][span_class];
}

struct crit_thread_row {
	uint32_t node; /* index into nodes */
	uint32_t pid; /* tgid, initial pid namespace (shims only: the process's own number) */
	uint32_t tid;
	int32_t rank_row; /* index into ranks, -1 none */
	enum crit_role role;
	uint16_t process_flags; /* enum crit_process_flag */
	char name[CRIT_COMM_BYTES];
	uint64_t birth_ns; /* absolute run-clock ns, like death_ns: may precede the window */
	uint64_t death_ns;
	uint64_t life_ns; /* equals the sum of cells */
	struct crit_cells cells;
	struct crit_attribution run;
	uint64_t idle_blocked_ns; /* of run.waiting_ns: outside MPI and waits of OpenMP */
	crit_fix node_cmetric[CRIT_UNIT_COUNT]; /* scope node */
	crit_fix node_all_waiting[CRIT_UNIT_COUNT];
	uint64_t switches; /* switch-outs seen */
	uint64_t preemptions;
	uint64_t unmatched; /* switches that did not fit */
};

struct crit_await_row { /* replay/thread_ends.h: a thread waits for the end of another one */
	uint64_t since_ns, until_ns; /* absolute run-clock ns */
	uint32_t waiter, ended; /* rows of threads */
	bool is_certain; /* else it may have been for a lock */
};

struct crit_rank_row {
	uint32_t node;
	uint32_t pid;
	char program[CRIT_PROGRAM_BYTES]; /* file name of its executable, cut; "" unknown */
	char arguments[CRIT_EXE_BYTES]; /* its command line, blank-separated, cut; "" unknown */
	uint32_t world_number; /* index of the world, in order of first appearance */
	uint32_t rank;
	uint32_t task; /* of its scheduler's step, or CRIT_TASK_NONE */
	uint32_t world_size; /* ranks the world has, recorded or not */
	char world[CRIT_WORLD_BYTES];
	bool is_open; /* no CLOSE seen: died, or still inside */
	uint8_t exit_signal; /* that killed it, 0 none or not seen */
	uint8_t exit_status; /* else */
	uint16_t process_flags; /* enum crit_process_flag */
	uint64_t open_ns; /* its part of the window, run clock */
	uint64_t close_ns;
	uint64_t exit_ns; /* its end, run clock; 0 not seen */
	uint32_t app_threads;
	uint64_t active_ns; /* time in the window with at least one active thread */
	struct crit_cells cells; /* sum over its app threads */
	uint64_t idle_in_mpi_ns; /* its omp_idle threads while the main thread was in MPI, outside
				    parallel regions */
	struct crit_attribution run; /* sum over its app threads */
	crit_fix may_wait_cmetric; /* unit ranks, if mpi_may_wait were active; default rule only */
	struct crit_last_call last_call;
};

enum crit_preemptor_kind {
	CRIT_PREEMPTOR_MEMBER = 0, /* a thread of the run: by_thread */
	CRIT_PREEMPTOR_STRANGER, /* named */
	CRIT_PREEMPTOR_HIDDEN, /* another user's, or a recording that does not tell */
	CRIT_PREEMPTOR_IDLE, /* nobody: the CPU idled, or the thread moved to another one */
	CRIT_PREEMPTOR_OTHERS, /* all beyond the most that are told apart */
	CRIT_PREEMPTOR_UNKNOWN, /* the recording names several, and not when each had the CPU */
	CRIT_PREEMPTOR_COUNT
};

/* Who had the CPU that a thread with work to do waited for. */
struct crit_preemptor_row {
	uint32_t thread; /* index into threads */
	int32_t by_thread; /* index into threads; -1 none */
	enum crit_preemptor_kind kind;
	uint32_t tid; /* of a stranger; 0 several of that name */
	char name[CRIT_COMM_BYTES]; /* of a stranger, "" else */
	uint64_t count; /* preemptions */
	uint64_t lost_ns; /* the thread waited while this one ran there */
};

struct crit_consistency_check {
	enum crit_unit unit;
	enum crit_scope scope;
	uint32_t node; /* scope node only */
	crit_fix cmetric_sum;
	crit_fix all_waiting_sum;
	crit_fix nobody; /* n = 0 and w = 0 */
	uint64_t active_ns; /* T(n >= 1) */
	uint64_t window_ns;
	double error_ratio; /* worst relative error of the two equations */
};

struct crit_losses {
	uint64_t kernel_records; /* lost by the BPF ring */
	uint64_t shim_spans; /* lost by full thread buffers */
	uint64_t unmatched_switches;
	uint64_t wakes_early; /* before the switch to sleep: no loss */
	uint64_t tag_disagreements;
	uint64_t tag_stale;
	uint64_t late_records; /* outside the reorder window */
	uint64_t corrupt_chunks;
	uint64_t truncated_bytes;
	uint64_t missing_chunks; /* holes in the running numbers */
	uint64_t unknown_chunks, unknown_records; /* of kinds this program does not know */
	uint64_t unknown_ns; /* sum of threads' time in state unknown */
	uint64_t no_buffer_threads;
	uint64_t refused_clients;
	uint64_t crowded_records; /* that would begin a thread for which there is no room */
	uint64_t unbalanced_spans; /* leave without enter and the like */
	uint64_t folded_ns; /* level profile: error bound, not a loss */
	uint64_t counters_lost;
	uint64_t missed_maps; /* memory maps: code without names */
};

struct crit_results {
	enum crit_active_rule rule;
	bool has_ranks;
	uint64_t window_begin_ns; /* host monotonic of the reference node */
	uint64_t window_ns;
	uint64_t start_real_ns; /* Unix time of window_begin */
	uint64_t elapsed_ns; /* first to last stamp of the run */
	uint64_t run_id;
	char exe[CRIT_EXE_BYTES];
	char arguments[CRIT_EXE_BYTES];
	char library[CRIT_TEXT_BYTES]; /* MPI library, "" none */
	uint32_t flavour; /* enum crit_flavour */
	struct crit_job job; /* of a scheduler, "" none; its task means nothing */
	uint64_t omitted; /* by the user: 1 << enum crit_call_group, CRIT_OMITS_PROGRAMS */
	struct crit_hosts hosts; /* the nodes its worlds ran on, where there were several */
	struct crit_node_row *nodes;
	size_t node_count;
	struct crit_rank_row *ranks; /* sorted by world, rank */
	size_t rank_count;
	struct crit_thread_row *threads; /* sorted by rank, pid, tid, birth */
	size_t thread_count;
	struct crit_await_row *awaits; /* at most one of each thread that ended */
	size_t await_count;
	struct crit_call_row *calls; /* sorted by call */
	size_t call_count;
	struct crit_call_row *call_sites; /* sorted by all-waiting time + waiting, descending */
	size_t call_site_count;
	struct crit_rank_call_row *rank_calls; /* sorted by rank, call */
	size_t rank_call_count;
	struct crit_consistency_check *checks;
	size_t check_count;
	struct crit_preemptor_row *preemptors; /* sorted by thread, lost time descending */
	size_t preemptor_count;
	struct crit_process_end_row *ends; /* sorted by time */
	size_t end_count;
	uint64_t ends_unlisted; /* programs for which the list has no room */
	struct crit_region_results regions;
	struct crit_message_results messages;
	struct crit_sample_results samples;
	struct crit_block_results blocks;
	struct crit_losses losses;
};

struct crit_run_index;
struct crit_transport;
struct crit_trace_sink;
struct crit_listener;

struct crit_analysis_options {
	enum crit_active_rule rule;
	/* only while so many threads or fewer are active, CMetric is earned and samples count; 0:
	 * always.  Range: 0 with a transport */
	uint32_t active_max;
	/* nobody asks who lets others wait: crit_call_row.top_rank_row is -1 */
	bool has_no_blame;
	void (*progress)(void *user, uint64_t done_bytes, uint64_t total_bytes); /* may be NULL */
	void *user;
	const struct crit_trace_sink *trace; /* schema/trace.h: told of every span; may be NULL */
	const struct crit_trace_sink *second_trace; /* after it, of the same threads; may be NULL */
	/* schema/event.h: NULL: none, in all processes */
	const struct crit_listener *listener;
	/* Clocks have to be moved: what all these were told is void, and they are told again.
	 * Errors: end the analysis.  NULL: they are told of nothing before that is known */
	int (*retell)(void *told);
	void *told;
	/* of several processes, and all set it: trace and listener of process 0 are told of all
	 * nodes, as far as cluster/gathering.h has it, those of others of nothing */
	bool is_gathered;
	const struct crit_transport
		*transport; /* cluster/transport.h: who does it together; NULL: alone */
	/* analyse.h: what the next analysis of the same recordings need not do again, or NULL */
	struct crit_run_index *index;
};

void crit_results_destroy(struct crit_results *results);

#endif
