// SPDX-License-Identifier: BSD-3-Clause
// Copies kernel records into the batch of their run.
#include "collector/source/kernel_stream.h"

#include <string.h>

#include "collector/record/run.h"

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
	memcpy(room, record, bytes);
	room->size = (uint16_t)bytes; /* in the ring the run stands there */
	room->time_ns = time_ns;
	crit_batch_take(&run->kernel, bytes, 1, time_ns, time_ns);
	run->kernel_records++;
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
