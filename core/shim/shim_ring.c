// SPDX-License-Identifier: BSD-3-Clause
// Looks for room in a thread's ring where what was known of it is used up.
#include "core/shim/shim_ring.h"

/*
 * critd comes by a timer, and ranks of nothing but cheap calls fill their rings in less (4.7 ms at
 * 18 ns a slot).  So the known room ends at half a ring at first, and who has used that up calls.
 */
bool crit_ring_ask_room(struct crit_shim_thread *thread, uint64_t slots)
{
	const uint64_t read_pos = __atomic_load_n(&thread->buffer->read_pos, __ATOMIC_ACQUIRE);
	const uint64_t half = crit_process.ring_slots / 2;
	const uint64_t end = read_pos + crit_process.ring_slots - thread->open_leaves;

	if (thread->write_pos + slots + half <= end) {
		thread->room_end = end - half;
		return true;
	}
	thread->room_end = end;
	if (thread->hurried_pos != read_pos) {
		thread->hurried_pos = read_pos;
		crit_client_send_drain(&crit_process.client);
	}
	return thread->write_pos + slots <= end;
}
