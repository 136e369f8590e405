/* SPDX-License-Identifier: BSD-3-Clause */
/* A run on this node: its recording, its level and cap, and who belongs to it. */
#ifndef CRIT_COLLECTOR_RUN_H
#define CRIT_COLLECTOR_RUN_H

#include <stdint.h>
#include <stdbool.h>

#include "collector/record/batch.h"
#include "collector/record/cap.h"
#include "collector/record/path_intake.h"
#include "core/abi/abi_member.h"
#include "core/abi/abi_recording.h"

struct crit_connection;
struct crit_meter;
struct crit_stack_ring;

enum crit_run_state {
	CRIT_RUN_FREE = 0,
	CRIT_RUN_STARTING = 1, /* waits for OUTPUT of its first client */
	CRIT_RUN_RECORDING = 2,
	CRIT_RUN_UNWINDING = 3, /* waits for the last call paths */
	CRIT_RUN_ENDING = 4, /* FOOT is on its way to the file */
	CRIT_RUN_ENDED = 5, /* waits for the finisher to go */
	CRIT_RUN_STATE_COUNT = 6
};

struct crit_run {
	enum crit_run_state state;
	uint32_t slot;
	uint32_t number; /* the kernel half's name of this run; its lowest bits are the slot */
	uint64_t run_id;
	char key[CRIT_RUN_KEY_BYTES];
	char exe[CRIT_EXE_BYTES];
	char host[CRIT_WORLD_BYTES];
	char directory[CRIT_PATH_BYTES];
	char job[64]; /* the list's */
	const struct crit_connection *first; /* asked for OUTPUT */

	struct crit_writer *writer;
	struct crit_sink *sink;
	struct crit_meter *meter;
	int finisher_fd;
	bool is_finisher_muted; /* not watched: calls have used up their time */
	bool is_finisher_inspected; /* not watched: a worker takes its message */
	struct crit_batch kernel;
	uint64_t kernel_records;
	uint64_t shim_slots;
	uint64_t shim_lost;
	uint64_t no_buffer; /* threads */
	uint64_t maps_bytes; /* texts of processes without a shim */
	uint64_t maps_missed; /* of these processes */
	uint64_t errors_noted; /* of the sink's write errors */
	uint64_t lost_seen; /* of the kernel's counter, already in a chunk */
	uint32_t next_stream;
	uint64_t lag_ns; /* the longest round over a process's thread buffers */

	uint32_t level;
	uint32_t tau_ns;
	uint32_t sample_hz; /* of each CPU's sampling clock; 0: no samples */
	uint32_t stack_budget; /* CRIT_SAMPLE_BUDGET; 0: no stacks */
	struct crit_stack_ring *stacks; /* on their way to the finisher; NULL: none */
	struct crit_path_intake paths; /* what that answers */
	bool are_paths_over; /* it said so */
	uint64_t paths_due_ns; /* the last of them are waited for until then */
	uint64_t stacks_refused; /* in all, at the end */
	struct crit_cap cap;
	bool is_level_new; /* ranks have yet to be told */
	bool is_stopped; /* the cap is reached */

	uint32_t live_processes; /* registered and not gone */
	uint32_t pending_clients; /* said HELLO and may still register */
	uint32_t refused_count;
	bool has_registered; /* somebody ever did */
	bool is_listed; /* in the list of runs, or soon */
	bool is_list_due; /* an epilog had the list when it was to be added */
	bool has_ranks;
	bool is_window_written;
	bool is_closed_sent;
	bool is_written_known; /* the finisher answered, or is gone */
	bool is_front_told; /* the answer was told, and is still to be taken from the socket */
	bool is_finisher_gone;
	uint64_t window_put_count; /* sink->put_count just after WINDOW */
	int window_status;
	uint64_t due_ns; /* not 0: when a rank last closed or died, since the last WINDOW */
	uint64_t closed_ns;
	uint64_t searched_ns; /* when its last threads were looked for; 0: it has processes */
	uint32_t fruitless_searches; /* in a row, since then */
};

/*
 * Begins the recording in the file fd.  Ownership: takes fd on success.
 * Errors: -ENOMEM, -EAGAIN where no thread can be had.
 */
int crit_run_open(struct crit_run *run, int fd, const struct crit_rec_file *file);

/* Frees the recording; the slot becomes FREE.  The finisher is closed before. */
void crit_run_fini(struct crit_run *run);

/* One record as a chunk of its own: a head part and an optional second part, say of text. */
struct crit_chunk_part {
	const void *data;
	size_t bytes;
};
void crit_run_put(struct crit_run *run, uint16_t kind, uint32_t source, uint64_t time_ns,
		  const struct crit_chunk_part parts[2]);

/* A chunk of kind with one fixed-size record. */
#define crit_run_put_record(run, kind, source, time_ns, record)                                    \
	crit_run_put(run, kind, source, time_ns,                                                   \
		     (const struct crit_chunk_part[2]){ { (record), sizeof(*(record)) },           \
							{ NULL, 0 } })

/* A MAPS chunk, which goes to who unwinds stacks as well. */
void crit_run_put_maps(struct crit_run *run, const struct crit_rec_maps *record, const char *text,
		       size_t bytes);

void crit_run_note(struct crit_run *run, enum crit_note_code code, int value, const char *text);

/* Notes, once the file takes chunks again, that it did not for a while. */
void crit_run_note_output(struct crit_run *run);

/* Flushes a batch into the run's file, and keeps level and cap. */
void crit_run_flush(struct crit_run *run, struct crit_batch *batch);

/* Doubles tau, for ranks that outrun their rings.  Range: level profile. */
void crit_run_raise_tau(struct crit_run *run);

#endif
