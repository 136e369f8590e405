// SPDX-License-Identifier: BSD-3-Clause
// Drains a process's thread buffers into streams of the recording; checks every value it reads.
#include "collector/member/client_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/record/batch.h"
#include "collector/record/run.h"
#include "core/base/cleanup.h"

#define SLOTS_FOR_A_LOOK 16u
#define PAID_LOOKS_MOST 400u /* 2 s */
#define SLOTS_AT_ONCE (CRIT_BATCH_BYTES / CRIT_SLOT_BYTES)

/* One thread buffer and its present owner. */
struct crit_thread_buffer {
	uint32_t stream; /* number in the recording; 0: no owner seen */
	uint32_t ns_tid;
	uint64_t claim_ns; /* tells owners apart */
	uint64_t read_pos;
	uint64_t lost_seen; /* the thread buffer's totals, up to the last look */
	uint64_t lost_begin; /* and when this owner took it */
	uint64_t held_bytes; /* what the last look found in the ring */
	bool is_corrupt;
	bool has_delivered; /* its present owner */
	bool is_busy; /* in the list of those looked at each time */
	uint16_t paid_looks; /* that what it delivered pays for */
	struct crit_batch batch;
};

static void set_corrupt(struct crit_client_process *process, uint32_t index, const char *what)
{
	char text[128];

	process->buffers[index].is_corrupt = true;
	(void)snprintf(text, sizeof(text), "process %u, thread buffer %u: %s; left alone",
		       process->pid, index, what);
	crit_run_note(process->run, CRIT_NOTE_CORRUPT, -EINVAL, text);
}

/* Its streams end with the process; until then it costs nothing. */
static void leave_alone(struct crit_client_process *process)
{
	char text[128];

	process->is_left_alone = true;
	(void)snprintf(text, sizeof(text),
		       "process %u: takes away memory it shares; left alone from here on",
		       process->pid);
	crit_run_note(process->run, CRIT_NOTE_CORRUPT, -ENODATA, text);
}

static size_t gathered(const struct crit_batch *batch)
{
	return batch->buffer ? sizeof(*batch->buffer) + batch->buffer->room_bytes : 0;
}

static void flush(struct crit_run *run, struct crit_batch *batch)
{
	crit_meter_gather(run->meter, -(ssize_t)gathered(batch));
	crit_run_flush(run, batch);
}

/* Room in the thread buffer's batch, which is flushed when it is full. */
static struct crit_slot *find_room(struct crit_run *run, struct crit_batch *batch, size_t bytes,
				   uint64_t now_ns)
{
	size_t before = gathered(batch);
	struct crit_slot *room = crit_batch_room(batch, bytes, now_ns);

	if (!room) {
		flush(run, batch);
		before = 0;
		room = crit_batch_room(batch, bytes, now_ns);
	}
	crit_meter_gather(run->meter, (ssize_t)(gathered(batch) - before));
	return room;
}

static void begin_stream(struct crit_client_process *process, uint32_t index,
			 const struct crit_thread_buffer_head *head)
{
	struct crit_thread_buffer *buffer = &process->buffers[index];
	struct crit_rec_stream record = {
		.pid = process->pid,
		.ns_tid = head->ns_tid,
		.buffer = index,
		.claim_ns = head->claim_ns,
		.claim_pos = head->claim_pos,
	};

	buffer->stream = process->run->next_stream++;
	buffer->has_delivered = false;
	buffer->ns_tid = head->ns_tid;
	buffer->claim_ns = head->claim_ns;
	crit_batch_init(&buffer->batch, CRIT_C_SHIM, buffer->stream);
	buffer->batch.position = head->claim_pos;
	crit_run_put_record(process->run, CRIT_C_STREAM, buffer->stream, head->claim_ns, &record);
	crit_meter_chunk(process->run->meter);
	if (head->claim_pos != buffer->read_pos)
		set_corrupt(process, index, "its owner began at a wrong position");
}

/* Smallest and largest stamp; the second slot of a record has none. */
static void find_times(const struct crit_slot *slots, uint32_t count, uint64_t *ret_first,
		       uint64_t *ret_last)
{
	uint64_t first = ~0ull, last = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!crit_slot_has_stamp(slots[i].kind))
			continue;
		if (slots[i].time_ns < first)
			first = slots[i].time_ns;
		if (slots[i].time_ns > last)
			last = slots[i].time_ns;
	}
	*ret_first = last ? first : 0;
	*ret_last = last;
}

/*
 * Slots pay for looks at their thread buffer: a thread that fills its ring quickly is not kept
 * waiting.
 */
static void pay(struct crit_client_process *process, uint32_t index, uint32_t slots)
{
	struct crit_thread_buffer *buffer = &process->buffers[index];
	const uint32_t looks = buffer->paid_looks + slots / SLOTS_FOR_A_LOOK;

	buffer->paid_looks = (uint16_t)(looks < PAID_LOOKS_MOST ? looks : PAID_LOOKS_MOST);
	if (buffer->is_busy || buffer->paid_looks == 0)
		return;
	buffer->is_busy = true;
	process->busy[process->busy_count++] = (uint16_t)index;
}

/* Returns false when the thread buffer cannot be read on. */
static bool copy_slots(struct crit_client_process *process, uint32_t index, uint32_t count,
		       uint64_t now_ns)
{
	struct crit_thread_buffer *buffer = &process->buffers[index];
	size_t bytes = (size_t)count * CRIT_SLOT_BYTES;
	struct crit_slot *room = find_room(process->run, &buffer->batch, bytes, now_ns);
	struct crit_meter *meter = process->run->meter;
	uint64_t first, last;

	if (!room)
		return false;
	if (crit_shm_read_slots(&process->shm, index, buffer->read_pos, count, room)) {
		set_corrupt(process, index, "it cannot be read");
		return false;
	}
	buffer->read_pos += count;
	/* at once: a rank that makes them as fast as we copy needs the room */
	if (crit_shm_write_read_pos(&process->shm, index, buffer->read_pos) == -ENODATA)
		leave_alone(process);
	find_times(room, count, &first, &last);
	crit_batch_take(&buffer->batch, bytes, count, first, last);
	process->run->shim_slots += count;
	process->delivered_count += count;
	buffer->has_delivered = true;
	pay(process, index, count);
	crit_meter_credit(meter, count);
	if (crit_meter_has_gathered_much(meter))
		flush(process->run, &buffer->batch); /* the queue has a bound of its own */
	return !process->is_left_alone;
}

static void count_lost(struct crit_client_process *process, uint32_t index,
		       const struct crit_thread_buffer_head *head)
{
	struct crit_thread_buffer *buffer = &process->buffers[index];

	if (head->lost_spans <= buffer->lost_seen)
		return;
	buffer->batch.lost += head->lost_spans - buffer->lost_seen;
	process->run->shim_lost += head->lost_spans - buffer->lost_seen;
	buffer->lost_seen = head->lost_spans;
}

static void hold(struct crit_run *run, struct crit_thread_buffer *buffer, uint64_t bytes)
{
	run->cap.held_bytes += bytes - buffer->held_bytes;
	buffer->held_bytes = bytes;
}

/* Takes at most slots_max.  Returns how many there were, 0 when it could not take so many. */
static uint32_t drain_slots(struct crit_client_process *process, uint32_t index,
			    const struct crit_thread_buffer_head *head, uint64_t now_ns,
			    uint32_t slots_max)
{
	struct crit_thread_buffer *buffer = &process->buffers[index];
	struct crit_run *run = process->run;
	const uint64_t available = head->write_pos - buffer->read_pos;
	uint32_t wanted = available < slots_max ? (uint32_t)available : slots_max;

	if (available > process->shm.ring_slots) {
		set_corrupt(process, index, "its position makes no sense");
		return 0;
	}
	hold(run, buffer, available * CRIT_SLOT_BYTES);
	if (run->level == CRIT_LEVEL_PROFILE &&
	    available >= process->shm.ring_slots - process->shm.ring_slots / 4)
		crit_run_raise_tau(run);
	/* with a full queue the rank keeps its records, and counts what it cannot keep */
	while (wanted > 0 && !crit_sink_is_full(run->sink)) {
		uint32_t count = wanted < SLOTS_AT_ONCE ? wanted : SLOTS_AT_ONCE;
		size_t used = buffer->batch.buffer ? buffer->batch.buffer->head.length : 0;
		uint32_t left = (uint32_t)((CRIT_BATCH_BYTES - used) / CRIT_SLOT_BYTES);

		if (left > 0 && count > left)
			count = left;
		if (!copy_slots(process, index, count, now_ns))
			break;
		wanted -= count;
	}
	return wanted > 0 ? 0 : (uint32_t)available;
}

/* Returns whether there were any. */
static bool put_counters(struct crit_client_process *process, uint32_t index)
{
	crit_autofree struct crit_counter *counters = NULL;
	int used;

	if (process->shm.counter_count == 0)
		return false;
	counters = malloc(process->shm.counter_count * sizeof(*counters));
	if (!counters)
		return false;
	used = crit_shm_read_counters(&process->shm, index, counters);
	if (used <= 0)
		return false;
	crit_run_put(process->run, CRIT_C_COUNTERS, process->buffers[index].stream, 0,
		     (const struct crit_chunk_part[2]){
			     { counters, (size_t)used * sizeof(*counters) }, { NULL, 0 } });
	return true;
}

static void end_stream(struct crit_client_process *process, uint32_t index,
		       const struct crit_thread_buffer_head *head)
{
	struct crit_thread_buffer *buffer = &process->buffers[index];
	const bool is_released = head->state == CRIT_THREAD_BUFFER_RELEASED;
	struct crit_meter *meter = process->run->meter;
	bool has_counters;
	struct crit_rec_stream_end record = {
		.pid = process->pid,
		.ns_tid = buffer->ns_tid,
		.release_ns = is_released ? head->release_ns : 0,
		.end_pos = buffer->read_pos,
		.lost_spans = head->lost_spans - buffer->lost_begin,
		.counters_lost = head->counters_lost,
		.folded_ns = head->folded_ns,
		.open_call = head->open_call,
		.open_class = head->open_class,
		.open_first_ns = head->open_first_ns,
		.open_last_ns = head->open_last_ns,
		.open_count = head->open_count,
		.open_gap_sum_ns = head->open_gap_sum_ns,
		.open_site = head->open_site,
	};

	hold(process->run, buffer, 0);
	flush(process->run, &buffer->batch);
	has_counters = put_counters(process, index);
	crit_run_put_record(process->run, CRIT_C_STREAM_END, buffer->stream, record.release_ns,
			    &record);
	crit_meter_chunk(meter);
	if (has_counters || buffer->has_delivered)
		crit_meter_credit_stream(meter);
	process->delivered_count += has_counters;
	buffer->stream = 0;
	buffer->lost_begin = head->lost_spans;
	if (is_released && !buffer->is_corrupt) {
		/* not before its owner let go: it may be counting */
		if (has_counters)
			(void)crit_shm_clear_counters(&process->shm, index);
		if (crit_shm_write_free(&process->shm, index) == -ENODATA)
			leave_alone(process);
	}
}

static bool read_head(const struct crit_client_process *process, uint32_t index,
		      struct crit_thread_buffer_head *ret_head)
{
	const struct crit_thread_buffer *buffer = &process->buffers[index];

	if (crit_shm_read_buffer(&process->shm, index, ret_head))
		return false;
	/* a claim is not one store: look again when it is new */
	return ret_head->claim_ns == buffer->claim_ns || ret_head->claim_ns == 0 ||
	       crit_shm_read_buffer(&process->shm, index, ret_head) == 0;
}

/* Returns what drain_slots does. */
static uint32_t drain_buffer(struct crit_client_process *process, uint32_t index, uint64_t now_ns,
			     uint32_t slots_max, bool is_final)
{
	struct crit_thread_buffer *buffer = &process->buffers[index];
	struct crit_thread_buffer_head head;
	uint32_t found = 0;

	if (!read_head(process, index, &head) || head.state == CRIT_THREAD_BUFFER_FREE)
		return 0;
	if (!buffer->stream) {
		if (head.claim_ns == 0 || head.claim_ns == buffer->claim_ns || buffer->is_corrupt)
			return 0;
		begin_stream(process, index, &head);
	}
	count_lost(process, index, &head);
	if (!buffer->is_corrupt)
		found = drain_slots(process, index, &head, now_ns, slots_max);
	if (is_final && !buffer->is_corrupt && head.write_pos != buffer->read_pos) {
		/* the writer is too far behind to take them: half as many spans, and a hole */
		process->run->shim_lost += (head.write_pos - buffer->read_pos + 1) / 2;
		buffer->read_pos = head.write_pos;
	}
	if (is_final ||
	    (head.state == CRIT_THREAD_BUFFER_RELEASED && head.write_pos == buffer->read_pos))
		end_stream(process, index, &head);
	return found;
}

/*
 * How many of so many thread buffers there is memory for.  A process has some of its own; what it
 * has beyond, all share, and it must have delivered something for each, as honest threads do.
 */
static uint32_t find_memory(struct crit_client_process *process, uint32_t used, bool is_final)
{
	const uint32_t own = process->buffer_room > CRIT_METER_BUFFERS_OWN ? process->buffer_room
									   : CRIT_METER_BUFFERS_OWN;
	const uint32_t spare = crit_meter_spare_buffers(process->run->meter);
	char text[128];

	if (!is_final && used > CRIT_METER_BUFFERS_OWN + process->delivered_count)
		used = CRIT_METER_BUFFERS_OWN + (uint32_t)process->delivered_count;
	if (used <= own || used - own <= spare)
		return used;
	if (!process->is_short_noted) {
		process->is_short_noted = true;
		process->run->no_buffer += used - own - spare;
		(void)snprintf(text, sizeof(text),
			       "process %u: no memory for thread buffers from %u on; left alone",
			       process->pid, own + spare);
		crit_run_note(process->run, CRIT_NOTE_CORRUPT, -ENOBUFS, text);
	}
	return own + spare;
}

static void count_spare(struct crit_client_process *process)
{
	const uint32_t spare = process->buffer_room > CRIT_METER_BUFFERS_OWN
				       ? process->buffer_room - CRIT_METER_BUFFERS_OWN
				       : 0;

	crit_meter_take_buffers(process->run->meter, (int32_t)(spare - process->spare_buffers));
	process->spare_buffers = spare;
}

/* Makes room for the thread buffers claimed by now.  Returns how many to look at. */
static uint32_t open_buffers(struct crit_client_process *process, bool is_final)
{
	struct crit_thread_buffer *buffers;
	uint64_t no_buffer;
	uint16_t *busy;
	uint32_t used;

	if (process->is_left_alone || process->shm.fd < 0 ||
	    crit_shm_buffers_used(&process->shm, &used, &no_buffer))
		return 0;
	if (no_buffer > process->no_buffer_seen) {
		process->run->no_buffer += no_buffer - process->no_buffer_seen;
		process->no_buffer_seen = no_buffer;
	}
	if (used > process->buffer_room)
		used = find_memory(process, used, is_final);
	if (used <= process->buffer_room)
		return used;
	busy = realloc(process->busy, used * sizeof(*busy));
	if (busy)
		process->busy = busy;
	buffers = busy ? realloc(process->buffers, used * sizeof(*buffers)) : NULL;
	if (!buffers)
		return process->buffer_room;
	memset(buffers + process->buffer_room, 0, (used - process->buffer_room) * sizeof(*buffers));
	process->buffers = buffers;
	process->buffer_room = used;
	count_spare(process);
	return used;
}

static bool may_look(const struct crit_client_process *process)
{
	return crit_meter_allows(process->run->meter, &process->allowance, process->has_called);
}

static uint32_t look(struct crit_client_process *process, uint32_t index, uint64_t now_ns,
		     uint32_t slots_max)
{
	const uint32_t found = drain_buffer(process, index, now_ns, slots_max, false);
	struct crit_batch *batch = &process->buffers[index].batch;

	if (crit_batch_is_old(batch, now_ns))
		flush(process->run, batch);
	return found;
}

/* Looks at all thread buffers that have paid for it.  Returns what the fullest had. */
static uint32_t look_at_busy(struct crit_client_process *process, uint64_t now_ns,
			     uint32_t slots_max)
{
	const uint32_t count = process->busy_count;
	uint32_t fullest = 0, kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint16_t index = process->busy[i];
		struct crit_thread_buffer *buffer = &process->buffers[index];
		const uint32_t found = look(process, index, now_ns, slots_max);

		if (found > fullest)
			fullest = found;
		if (buffer->paid_looks > 0 && --buffer->paid_looks > 0)
			process->busy[kept++] = index;
		else
			buffer->is_busy = false;
	}
	process->busy_count = kept;
	/* what they cost is not the others' matter; a few more or less are */
	if (count >= CRIT_METER_LOOKS_AT_ONCE)
		crit_meter_settle(process->run->meter, NULL);
	return fullest;
}

static void begin_round(struct crit_client_process *process, uint64_t now_ns)
{
	struct crit_run *run = process->run;

	if (process->round_ns && now_ns - process->round_ns > run->lag_ns)
		run->lag_ns = now_ns - process->round_ns;
	process->round_ns = now_ns;
	process->next_buffer = 0;
}

/*
 * Looks at the other thread buffers in turn, as long as there is time.  Returns what the fullest
 * had.
 */
static uint32_t look_at_idle(struct crit_client_process *process, uint32_t used, uint64_t now_ns,
			     uint32_t slots_max)
{
	struct crit_meter *meter = process->run->meter;
	uint32_t fullest = 0, done = 0;

	for (; done < used && may_look(process); done++) {
		uint32_t index = process->next_buffer, found;

		if (index >= used) {
			begin_round(process, now_ns);
			index = 0;
		}
		process->next_buffer = index + 1;
		if (process->buffers[index].is_busy)
			continue;
		found = look(process, index, now_ns, slots_max);
		if (found > fullest)
			fullest = found;
		crit_meter_look(meter, &process->allowance);
	}
	if (done == used)
		process->has_called = false;
	return fullest;
}

static void drop_buffers(struct crit_client_process *process)
{
	for (uint32_t i = 0; i < process->buffer_room; i++) {
		struct crit_batch *batch = &process->buffers[i].batch;

		crit_meter_gather(process->run->meter, -(ssize_t)gathered(batch));
		hold(process->run, &process->buffers[i], 0);
		crit_batch_fini(batch);
	}
	free(process->buffers);
	free(process->busy);
	process->buffers = NULL;
	process->busy = NULL;
	process->busy_count = 0;
	process->buffer_room = 0;
	count_spare(process);
}

uint32_t crit_process_drain(struct crit_client_process *process, uint64_t now_ns,
			    uint32_t slots_max)
{
	const struct crit_run *run = process->run;
	uint32_t used, busiest, fullest;

	/* what comes after the cap is not recorded */
	if (!run->sink || run->is_stopped)
		return 0;
	crit_meter_fill(&process->allowance, now_ns);
	used = open_buffers(process, false);
	crit_meter_look(run->meter, &process->allowance);
	busiest = look_at_busy(process, now_ns, slots_max);
	fullest = look_at_idle(process, used, now_ns, slots_max);
	if (process->is_left_alone && process->buffers) {
		crit_process_flush(process, false);
		drop_buffers(process);
	}
	return busiest > fullest ? busiest : fullest;
}

bool crit_process_is_due(const struct crit_client_process *process)
{
	return process->busy_count > 0 || (process->has_called && may_look(process));
}

void crit_process_drain_all(struct crit_client_process *process, uint64_t now_ns)
{
	const uint32_t used = process->run->sink ? open_buffers(process, true) : 0;

	for (uint32_t i = 0; i < used; i++)
		(void)drain_buffer(process, i, now_ns, CRIT_RING_SLOTS, false);
}

bool crit_process_call(struct crit_client_process *process, uint64_t now_ns)
{
	crit_meter_fill(&process->allowance, now_ns);
	process->allowance.left_ns -= CRIT_METER_DRAIN_NS;
	process->has_called = true;
	return may_look(process);
}

void crit_process_flush(struct crit_client_process *process, bool has_counters)
{
	for (uint32_t i = 0; i < process->buffer_room; i++) {
		struct crit_thread_buffer *buffer = &process->buffers[i];

		if (!buffer->stream)
			continue;
		if (buffer->batch.lost) /* even without a record after them */
			(void)find_room(process->run, &buffer->batch, 0, 0);
		flush(process->run, &buffer->batch);
		if (has_counters)
			(void)put_counters(process, i);
	}
}

void crit_process_end(struct crit_client_process *process, uint64_t now_ns)
{
	uint32_t used = process->run->sink ? open_buffers(process, true) : 0;

	for (uint32_t i = 0; i < used; i++)
		(void)drain_buffer(process, i, now_ns, CRIT_RING_SLOTS, true);
}

static void drop_memory(struct crit_client_process *process)
{
	drop_buffers(process);
	if (process->shm.fd >= 0)
		close(process->shm.fd);
	process->shm.fd = -1;
}

void crit_process_renew(struct crit_client_process *process, const struct crit_shm *shm,
			uint64_t now_ns)
{
	crit_process_end(process, now_ns);
	drop_memory(process);
	process->shm = *shm;
	process->no_buffer_seen = 0;
	process->delivered_count = 0;
	process->is_left_alone = false;
	process->is_short_noted = false;
	process->maps_hash = 0;
	process->is_mpi = false;
	process->has_rank = false;
	process->is_closed = false;
}

void crit_process_destroy(struct crit_client_process *process)
{
	if (!process)
		return;
	drop_memory(process);
	if (process->pidfd >= 0)
		close(process->pidfd);
	free(process);
}
