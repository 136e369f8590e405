// SPDX-License-Identifier: BSD-3-Clause
// Gives the laps of a thread's ring their places, and looks for room where what was known of it is
// used up.
//
// A page costs its first writer 3 us, a hundred times what a slot costs, so a thread stays on few
// pages: a lap takes the first place whose slots are read.
#include "core/shim/shim_ring.h"

#include <sys/mman.h>

#define HURRY_SHARE 16 /* critd is called when this part of the ring is ahead of it */
#define READY_SHARE 16 /* the pages of this part are made when the ring is taken: 0.4 ms */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static uint64_t lap_of(uint64_t position)
{
	return position / crit_process.lap_slots;
}

struct crit_slot *crit_ring_change_lap(struct crit_shim_thread *thread, uint64_t position)
{
	const uint64_t lap = lap_of(position);

	thread->lap_begin = lap * crit_process.lap_slots;
	thread->lap = thread->ring + (size_t)crit_ring_place(thread->buffer->lap_places, lap) *
					     crit_process.lap_slots;
	return &thread->lap[position - thread->lap_begin];
}

/*
 * The lap at laps_end takes the first place that no lap from the oldest on has.  If they have all
 * of them it follows the oldest one, where lap_places needs no change.
 */
static void place_lap(struct crit_shim_thread *thread, uint64_t oldest)
{
	uint8_t *const places = thread->buffer->lap_places;
	const uint64_t lap = lap_of(thread->laps_end);
	uint32_t taken = 0;

	for (uint64_t other = oldest; other < lap; other++)
		taken |= 1u << crit_ring_place(places, other);
	if (~taken)
		places[lap % CRIT_RING_LAPS] =
			(uint8_t)((lap ^ (uint64_t)__builtin_ctz(~taken)) % CRIT_RING_LAPS);
	thread->laps_end += crit_process.lap_slots;
}

_Static_assert(CRIT_RING_LAPS == 32, "a bit of a word for each");

void crit_ring_take(struct crit_shim_thread *thread)
{
	const uint64_t written = thread->buffer->write_pos;
	const uint32_t begun = written % crit_process.lap_slots;

	thread->ring = (struct crit_slot *)(void *)((char *)thread->buffer +
						    CRIT_THREAD_BUFFER_RING_OFFSET);
	thread->lap_begin = UINT64_MAX - crit_process.lap_slots; /* none */
	thread->laps_end = begun ? written - begun + crit_process.lap_slots : written;
	thread->room_end = 0;
	thread->hurried_pos = UINT64_MAX;
	/* else they are made one by one */
	(void)madvise(thread->ring,
		      (size_t)crit_process.lap_slots * CRIT_RING_LAPS / READY_SHARE *
			      CRIT_SLOT_BYTES,
		      MADV_POPULATE_WRITE);
}

/*
 * critd comes by a timer, and ranks of nothing but cheap calls fill their rings in less (4.7 ms at
 * 18 ns a slot).  So the known room ends early at first, and who has used that up calls.
 */
bool crit_ring_ask_room(struct crit_shim_thread *thread, uint64_t slots)
{
	const uint64_t read_pos = __atomic_load_n(&thread->buffer->read_pos, __ATOMIC_ACQUIRE);
	const uint64_t ring_slots = (uint64_t)crit_process.lap_slots * CRIT_RING_LAPS;
	const uint64_t wanted = thread->write_pos + slots + thread->open_leaves;
	uint64_t end = read_pos + ring_slots / HURRY_SHARE;

	if (wanted > end) {
		end = read_pos + ring_slots;
		if (thread->hurried_pos != read_pos) {
			thread->hurried_pos = read_pos;
			crit_client_send_drain(&crit_process.client);
		}
	}
	if (wanted > end)
		return false;
	while (thread->laps_end < wanted)
		place_lap(thread, lap_of(read_pos));
	if (end > thread->laps_end)
		end = thread->laps_end;
	thread->room_end = end - thread->open_leaves;
	return true;
}
