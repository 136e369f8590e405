// SPDX-License-Identifier: BSD-3-Clause
// Copies records from the kernel's ring into the chunks of their runs.
#include "collector/source/drain.h"

#include <string.h>

#include "collector/system/now.h"
#include "collector/member/members.h"
#include "collector/source/perf_feed.h"
#include "core/base/clock.h"

#define RELEASE_EVERY 1024u /* records between two updates of the ring's read position */

static struct crit_kernel_head *room_for(struct crit_run *run, size_t bytes, __u64 now_ns)
{
	struct crit_kernel_head *room = crit_batch_room(&run->kernel, bytes, now_ns);

	if (room)
		return room;
	crit_run_flush(run, &run->kernel);
	return crit_batch_room(&run->kernel, bytes, now_ns);
}

static void put(struct crit_run *run, const struct crit_kernel_head *record, size_t bytes,
		__u64 time_ns, __u64 now_ns)
{
	struct crit_kernel_head *room = room_for(run, bytes, now_ns);

	if (!room) {
		run->kernel.lost++;
		return;
	}
	memcpy(room, record, bytes);
	room->run_slot = 0;
	room->time_ns = time_ns;
	crit_batch_take(&run->kernel, bytes, 1, time_ns, time_ns);
	run->kernel_records++;
}

void crit_drain_put(struct crit_run *run, const struct crit_kernel_head *record)
{
	put(run, record, record->size, record->time_ns, record->time_ns);
}

/* The few records critd itself learns from. */
static void learn(struct crit_server *server, const struct crit_kernel_head *record)
{
	if (record->kind == CRIT_K_ENROL) {
		const struct crit_kernel_enrol *enrol = (const void *)record;

		crit_members_saw_enrol(server, enrol->tgid, enrol->tid);
	} else if (record->kind == CRIT_K_EXEC && (record->flags & CRIT_KF_EXPELLED)) {
		const struct crit_kernel_exec *exec = (const void *)record;

		crit_members_saw_expelled(server, exec->tgid);
	}
}

static void put_to(void *context, const struct crit_kernel_head *record)
{
	crit_drain_put(context, record);
}

static void drain_perf(const struct crit_server *server)
{
	const __u64 until_ns = crit_now_ns();

	for (__u32 i = 0; i < server->run_end; i++) {
		struct crit_run *run = &server->runs[i];

		if (run->perf && run->state == CRIT_RUN_RECORDING)
			crit_perf_feed(run->perf, until_ns, put_to, run);
	}
}

void crit_drain_kernel(struct crit_server *server)
{
	const __u64 now_ns = crit_now_ns();
	const struct crit_kernel_head *record;
	__u32 count = 0;
	size_t bytes;

	if (!crit_server_has_kernel(server)) {
		drain_perf(server);
		return;
	}
	while ((record = crit_ring_next(&server->kernel.ring, &bytes))) {
		struct crit_run *run = &server->runs[record->run_slot & (CRIT_RUN_SLOTS - 1)];

		if (run->state == CRIT_RUN_RECORDING && record->run_slot == (__u16)run->number)
			put(run, record, bytes, crit_clock_bend(record->time_ns), now_ns);
		if (record->kind >= CRIT_K_EXEC)
			learn(server, record);
		if (++count % RELEASE_EVERY == 0)
			crit_ring_release(&server->kernel.ring);
	}
	crit_ring_release(&server->kernel.ring);
}

void crit_drain_count_lost(const struct crit_server *server, struct crit_run *run)
{
	const struct crit_run_counters *counters;
	__u64 lost = 0;

	if (run->perf) {
		lost = run->perf->lost;
	} else if (crit_server_has_kernel(server)) {
		counters = crit_kernel_counters(&server->kernel, run->slot);
		lost = __atomic_load_n(&counters->lost, __ATOMIC_RELAXED) +
		       __atomic_load_n(&counters->lost_members, __ATOMIC_RELAXED);
	}
	run->kernel.lost += lost - run->lost_seen;
	run->lost_seen = lost;
}
