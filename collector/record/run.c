// SPDX-License-Identifier: BSD-3-Clause
// Keeps one run's recording, its level and its cap.
#include "collector/record/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/record/stack_ring.h"
#include "collector/system/now.h"
#include "core/base/chunk.h"

#define DRAIN_LAG_NS 50000000u /* from a stamp to its batch, on a busy node */
#define TAU_FIRST_NS 1000u
#define TAU_MAX_NS 1000000000u

void crit_run_put(struct crit_run *run, uint16_t kind, uint32_t source, uint64_t time_ns,
		  const struct crit_chunk_part parts[2])
{
	const size_t length = parts[0].bytes + parts[1].bytes;
	const size_t bytes = sizeof(struct crit_chunk_head) + crit_chunk_padded(length);
	struct crit_buffer *buffer;

	/* the end of a run is told in any case */
	if (!run->sink || (!crit_cap_has_room(&run->cap, bytes) && kind != CRIT_C_FOOT &&
			   kind != CRIT_C_WINDOW && kind != CRIT_C_NOTE))
		return;
	buffer = crit_buffer_create(length);
	if (!buffer)
		return;
	memcpy(buffer->payload, parts[0].data, parts[0].bytes);
	if (parts[1].bytes)
		memcpy(buffer->payload + parts[0].bytes, parts[1].data, parts[1].bytes);
	buffer->head.kind = kind;
	buffer->head.source = source;
	buffer->head.length = (uint32_t)length;
	buffer->head.first_ns = time_ns;
	buffer->head.last_ns = time_ns;
	if (crit_writer_put(run->sink, buffer) == 0)
		run->cap.used_bytes += bytes;
}

void crit_run_put_maps(struct crit_run *run, const struct crit_rec_maps *record, const char *text,
		       size_t bytes)
{
	if (run->stacks)
		crit_stack_ring_put_maps(run->stacks, record, text, bytes);
	crit_run_put(run, CRIT_C_MAPS, 0, record->time_ns,
		     (const struct crit_chunk_part[2]){ { record, sizeof(*record) },
							{ text, bytes } });
}

static void put_note(struct crit_run *run, const struct crit_rec_note *note, const char *text)
{
	const struct crit_chunk_part parts[2] = { { note, sizeof(*note) }, { text, strlen(text) } };

	crit_run_put(run, CRIT_C_NOTE, 0, note->time_ns, parts);
}

void crit_run_note(struct crit_run *run, enum crit_note_code code, int value, const char *text)
{
	struct crit_rec_note note = { .code = code, .value = value, .time_ns = crit_now_ns() };

	put_note(run, &note, text);
}

/* How old a record may be that is not yet in the file. */
static uint64_t age_most_ns(const struct crit_run *run)
{
	return CRIT_BATCH_AGE_NS + (run->lag_ns > DRAIN_LAG_NS ? run->lag_ns : DRAIN_LAG_NS);
}

/* The cap falls where every source's records are surely in the file: what is gathered goes. */
static void note_cap(struct crit_run *run)
{
	struct crit_rec_note note = { .code = CRIT_NOTE_CAP,
				      .time_ns = crit_now_ns() - age_most_ns(run) };

	put_note(run, &note, "CRIT_MAX_BYTES is reached: the recording ends here");
}

int crit_run_open(struct crit_run *run, int fd, const struct crit_rec_file *file)
{
	int rc = crit_sink_create(run->writer, fd, &run->sink);

	if (rc)
		return rc;
	crit_batch_init(&run->kernel, CRIT_C_KERNEL, 0);
	run->level = file->level;
	run->tau_ns = run->level == CRIT_LEVEL_PROFILE ? TAU_FIRST_NS : 0;
	crit_cap_init(&run->cap, file->max_bytes, file->start_mono_ns);
	run->next_stream = 1;
	crit_run_put_record(run, CRIT_C_FILE, 0, file->start_mono_ns, file);
	return 0;
}

void crit_run_fini(struct crit_run *run)
{
	crit_batch_fini(&run->kernel);
	crit_stack_ring_destroy(run->stacks);
	if (run->sink)
		crit_writer_close(run->sink);
	memset(run, 0, sizeof(*run));
	run->finisher_fd = -1;
}

void crit_run_raise_tau(struct crit_run *run)
{
	if (run->tau_ns < TAU_MAX_NS) {
		run->tau_ns *= 2;
		run->is_level_new = true;
	}
}

/* The cap is near. */
static void fall_back(struct crit_run *run)
{
	if (run->level != CRIT_LEVEL_TRACE)
		return;
	run->level = CRIT_LEVEL_PROFILE;
	run->tau_ns = TAU_FIRST_NS;
	run->is_level_new = true;
	crit_run_note(run, CRIT_NOTE_LEVEL, CRIT_LEVEL_PROFILE,
		      "CRIT_MAX_BYTES is near: from here on level profile");
}

static void stop(struct crit_run *run)
{
	run->is_stopped = true;
	run->is_level_new = true;
	note_cap(run);
}

void crit_run_note_output(struct crit_run *run)
{
	const uint64_t errors = __atomic_load_n(&run->sink->write_errors, __ATOMIC_RELAXED);
	char text[96];

	if (errors == run->errors_noted ||
	    __atomic_load_n(&run->sink->last_error, __ATOMIC_RELAXED))
		return;
	(void)snprintf(text, sizeof(text), "%llu chunks could not be written before this one",
		       (unsigned long long)(errors - run->errors_noted));
	run->errors_noted = errors;
	crit_run_note(run, CRIT_NOTE_OUTPUT,
		      __atomic_load_n(&run->sink->worst_error, __ATOMIC_RELAXED), text);
}

void crit_run_flush(struct crit_run *run, struct crit_batch *batch)
{
	long bytes;

	if (run->is_stopped) {
		crit_batch_fini(batch);
		return;
	}
	bytes = crit_batch_flush(batch, run->sink);
	if (bytes <= 0)
		return;
	switch (crit_cap_take(&run->cap, (uint64_t)bytes,
			      batch->kind == CRIT_C_SHIM ? (uint64_t)bytes : 0, crit_now_ns())) {
	case CRIT_CAP_ROOM:
		break;
	case CRIT_CAP_NEAR:
		fall_back(run);
		break;
	case CRIT_CAP_FAST:
		crit_run_raise_tau(run);
		break;
	case CRIT_CAP_FULL:
		stop(run);
		break;
	}
}
