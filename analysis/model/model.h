/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of a run that the index pass builds and the replay uses: nodes, processes, ranks,
 * threads, and which shim stream belongs to which thread.
 *
 * A task number that the kernel uses again is another thread.  All
 * times here are on the run clock: the reference node's monotonic nanoseconds (clock/clocks.h).
 */
#ifndef CRIT_MODEL_H
#define CRIT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/thread.h"
#include "analysis/recording/node_clock.h"
#include "analysis/recording/recording.h"
#include "analysis/schema/results.h"
#include "analysis/schema/stream.h"
#include "core/base/map.h"

struct crit_process {
	uint32_t node;
	uint32_t pid;
	uint32_t ns_pid;
	uint32_t parent_pid;
	uint32_t parent; /* index, or CRIT_NONE */
	uint32_t older; /* the process before with the same pid */
	uint32_t rank; /* index into ranks, or CRIT_NONE */
	uint32_t task; /* of a scheduler's step, or CRIT_TASK_NONE */
	uint32_t live_threads;
	uint32_t stream_count; /* of its threads */
	uint64_t begin_ns;
	uint64_t end_ns; /* CRIT_TIME_MAX: not seen to end */
	uint64_t registered_ns;
	char program[CRIT_PROGRAM_BYTES]; /* once registered */
	uint16_t flags; /* enum crit_process_flag */
	char *arguments; /* command line, blank-separated, cut; NULL unknown */
	bool is_registered;
	bool is_gone;
	bool has_kernel; /* the kernel half knows it */
	bool has_mpi;
	bool is_expelled; /* the kernel half ended with an exec of it */
	uint8_t exit_signal; /* that killed it, 0 none */
	uint8_t exit_status;
	uint64_t exit_ns; /* 0 not seen */
};

struct crit_rank {
	uint32_t node;
	uint32_t process;
	uint32_t rank;
	uint32_t size; /* of its world */
	uint64_t open_ns;
	uint64_t close_ns; /* CRIT_TIME_MAX until known */
	uint64_t init_ns; /* entered MPI_Init, where the process registered after that; else 0 */
	bool is_open; /* no CLOSE seen */
	char world[CRIT_WORLD_BYTES];
	uint32_t world_number;
};

struct crit_rank_window { /* of the window: one per rank, and one for all who have none */
	uint64_t open_ns;
	uint64_t close_ns;
	uint32_t first_thread;
};

struct crit_node {
	struct crit_recording *recording;
	struct crit_node_row row; /* filled as it is learnt */
	struct crit_node_clock clock; /* from its stamps to the run's */
	uint64_t cut_ns; /* every thread ends here; CRIT_TIME_MAX none */
	uint64_t first_ns; /* smallest and largest stamp */
	uint64_t end_ns;
	uint32_t first_thread; /* threads of the kernel half are contiguous */
	uint32_t first_kernel_ref;
	struct crit_map stream_numbers; /* chunk source -> index into streams */
	struct crit_map pids; /* pid -> newest process */
	struct crit_map threads; /* tgid << 32 | ns_tid -> newest thread */
};

struct crit_expelled;

struct crit_model {
	struct crit_node *nodes;
	size_t node_count;
	struct crit_thread *threads;
	size_t thread_count, thread_capacity;
	struct crit_process *processes;
	size_t process_count, process_capacity;
	struct crit_rank *ranks;
	size_t rank_count, rank_capacity;
	struct crit_stream *streams;
	size_t stream_count, stream_capacity;
	struct crit_revision *revisions;
	size_t revision_count, revision_capacity;
	struct crit_return *returns;
	size_t return_count, return_capacity;
	struct crit_expelled *expelled; /* process_ends.h */
	size_t expelled_count, expelled_capacity;
	uint64_t expelled_unlisted; /* found no room there */
	struct crit_rank_window *windows; /* rank_count + 1: the last is the run's own */
	uint64_t window_begin_ns;
	uint64_t window_end_ns;
	uint64_t first_exec_ns; /* of the first task of a node; CRIT_TIME_MAX none */
	bool is_attached; /* processes ran their programs before they were recorded */
	struct crit_losses losses;
	char arguments[CRIT_EXE_BYTES];
	char library[CRIT_TEXT_BYTES];
	struct crit_job job; /* its task means nothing */
	uint32_t flavour;
	uint64_t omitted; /* what the user left out, as CRIT_S_LEVEL has it */
	uint64_t sample_count; /* that were recorded, of blocked threads as well */
};

/* A stamp of a node on the run clock. */
static inline uint64_t crit_model_time(const struct crit_node *node, uint64_t stamp_ns)
{
	return crit_node_clock_time(&node->clock, stamp_ns);
}

/* Does level profile keep short spans from a node's recording, at that time? */
static inline bool crit_model_is_folding(const struct crit_node *node, uint64_t time_ns)
{
	return node->recording->file.level == CRIT_LEVEL_PROFILE ||
	       (node->row.fallback_ns && node->row.fallback_ns <= time_ns);
}

/* Where level trace ended: the first node that fell back, or the window's begin if one had none. */
uint64_t crit_model_traced_until_ns(const struct crit_model *model);

/*
 * Opens the recordings of all nodes.  Of several, one that cannot be read is named in its row.
 * Ownership: fini, also after an error.  Errors: those of crit_recording_open, -ENOMEM.
 */
int crit_model_open(struct crit_model *model, const char *const *paths, size_t path_count,
		    struct crit_err *err);
void crit_model_fini(struct crit_model *model);

/* What a replay changes of a model, as the first pass left it. */
struct crit_model_state;

/* Ownership: the caller destroys it.  Errors: NULL when out of memory. */
struct crit_model_state *crit_model_save(const struct crit_model *model);
void crit_model_restore(struct crit_model *model, const struct crit_model_state *state);
void crit_model_state_destroy(struct crit_model_state *state);

#endif
