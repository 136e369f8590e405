// SPDX-License-Identifier: BSD-3-Clause
// Copies kernel records into the batch of their run.
#include "collector/source/kernel_stream.h"

#include <string.h>

#include "collector/record/run.h"
#include "core/abi/abi_cpu_ring.h"

static struct crit_kernel_head *room_for(struct crit_run *run, size_t bytes, uint64_t now_ns)
{
	struct crit_kernel_head *room = crit_batch_room(&run->kernel, bytes, now_ns);

	if (room)
		return room;
	crit_run_flush(run, &run->kernel);
	return crit_batch_room(&run->kernel, bytes, now_ns);
}

void crit_kernel_stream_put(struct crit_run *run, const struct crit_kernel_head *record,
			    size_t bytes, uint64_t time_ns, uint64_t now_ns)
{
	struct crit_kernel_head *room = room_for(run, bytes, now_ns);

	if (!room) {
		run->kernel.lost++;
		return;
	}
	if (bytes == sizeof(struct crit_kernel_switch)) /* nearly all */
		memcpy(room, record, sizeof(struct crit_kernel_switch));
	else
		memcpy(room, record, bytes);
	room->size = (uint16_t)bytes; /* in the ring the run stands there */
	room->time_ns = time_ns;
	crit_batch_take(&run->kernel, bytes, 1, time_ns, time_ns);
	run->kernel_records++;
}

static void pass(struct crit_cpu_cursor *cursor)
{
	cursor->position += crit_cpu_cursor_front_bytes(cursor);
}

struct copied {
	size_t bytes;
	uint32_t count;
	uint64_t last_ns;
};

/* Copies to room what there is of the front record's run. */
static struct copied copy_to(uint8_t *room, size_t room_bytes, struct crit_cpu_cursor *cursor,
			     uint64_t until_ns)
{
	const uint16_t run_slot = cursor->front->run_slot;
	struct copied copied = { 0 };

	do {
		struct crit_kernel_head *head = (void *)(room + copied.bytes);
		const size_t bytes = crit_cpu_cursor_front_bytes(cursor);

		memcpy(head, cursor->front, CRIT_CPU_RING_RECORD); /* more than it has */
		head->kind &= CRIT_CPU_RING_KIND;
		head->size = (uint16_t)bytes; /* in the ring the run stands there */
		head->time_ns = cursor->time_ns;
		copied.last_ns = cursor->time_ns;
		copied.bytes += bytes;
		copied.count++;
		pass(cursor);
	} while (copied.bytes + CRIT_CPU_RING_RECORD <= room_bytes &&
		 crit_cpu_cursor_has(cursor, until_ns) && cursor->front->run_slot == run_slot);
	return copied;
}

void crit_kernel_stream_copy(struct crit_run *run, struct crit_cpu_cursor *cursor,
			     uint64_t until_ns, uint64_t now_ns)
{
	const uint64_t first_ns = cursor->time_ns;
	uint8_t *room = run ? (void *)room_for(run, CRIT_CPU_RING_RECORD, now_ns) : NULL;
	struct copied copied;

	if (!room) {
		if (run)
			run->kernel.lost++;
		pass(cursor);
		return;
	}
	copied = copy_to(room, crit_batch_left(&run->kernel), cursor, until_ns);
	crit_batch_take(&run->kernel, copied.bytes, copied.count, first_ns, copied.last_ns);
	run->kernel_records += copied.count;
}

void crit_kernel_stream_put_enrol(struct crit_run *run, const struct crit_procfs_task *task,
				  uint64_t time_ns)
{
	const bool is_asleep = crit_procfs_is_asleep(task);
	struct crit_kernel_enrol record = {
		.head = { .kind = CRIT_K_ENROL,
			  .size = sizeof(record),
			  .flags = is_asleep ? 0 : CRIT_KF_RUNNING,
			  .state = is_asleep,
			  .time_ns = time_ns },
		.tid = task->tid,
		.tgid = task->tgid,
		.ns_tid = task->ns_tid,
		.parent_tgid = task->parent_tgid,
	};

	memcpy(record.comm, task->comm, sizeof(record.comm));
	crit_kernel_stream_put(run, &record.head, sizeof(record), time_ns, time_ns);
}
