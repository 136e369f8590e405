// SPDX-License-Identifier: BSD-3-Clause
// Threads that take thread buffers, write spans of every kind, and return them, as a shim has them
// do.
#include "tests/fuzz/seeds.h"

#include <stddef.h>
#include <string.h>

#include "core/abi/abi_shim.h"
#include "core/base/call.h"
#include "tests/fuzz/critd/script.h"

#define SEEDS 12u
#define BUFFERS 3u
#define LITTLE_SLOTS 64u /* as in hostile.c */

struct thread {
	struct crit_thread_buffer_head head;
	uint64_t now_ns;
};

static void write_memory(struct script *script, unsigned int buffer, unsigned int flags, size_t at,
			 const void *bytes, size_t length)
{
	script_add(script,
		   (struct hostile_step){ .act = HOSTILE_MEMORY,
					  .how = (uint8_t)buffer,
					  .flags = (uint8_t)flags,
					  .at = (uint16_t)at,
					  .length = (uint16_t)length },
		   bytes);
}

static void tick(struct script *script)
{
	script_add(script, (struct hostile_step){ .act = HOSTILE_TICK }, NULL);
}

static void publish(struct script *script, unsigned int buffer, const struct thread *thread)
{
	write_memory(script, buffer + 1, 0, 0, &thread->head,
		     offsetof(struct crit_thread_buffer_head, read_pos));
}

static void claim(struct script *script, unsigned int buffer, struct thread *thread, uint32_t tid)
{
	thread->head.state = CRIT_THREAD_BUFFER_OWNED;
	thread->head.ns_tid = tid;
	thread->head.claim_ns = ++thread->now_ns;
	thread->head.release_ns = 0;
	thread->head.claim_pos = thread->head.write_pos;
	publish(script, buffer, thread);
}

static void release(struct script *script, unsigned int buffer, struct thread *thread)
{
	thread->head.state = CRIT_THREAD_BUFFER_RELEASED;
	thread->head.release_ns = ++thread->now_ns;
	publish(script, buffer, thread);
}

static void put(struct script *script, unsigned int buffer, struct thread *thread, const void *slot)
{
	write_memory(script, buffer + 1, HOSTILE_RING,
		     thread->head.write_pos++ & (LITTLE_SLOTS - 1), slot, CRIT_SLOT_BYTES);
}

static void put_span(struct script *script, struct crit_random *random, unsigned int buffer,
		     struct thread *thread)
{
	uint16_t call = (uint16_t)crit_random_below(random, 300);
	struct crit_slot slot = {
		.time_ns = thread->now_ns += 10, .kind = CRIT_S_ENTER, .slots = 1, .call = call
	};
	struct crit_slot_poll2 second = { .kind = CRIT_S_CONTINUED, .count = 3 };
	struct crit_slot_detail detail = { .kind = CRIT_S_DETAIL,
					   .slots = 1,
					   .detail = (uint16_t)crit_random_below(random,
										 CRIT_D_COUNT),
					   .comm = CRIT_COMM_WORLD,
					   .bytes = 8,
					   .request = 1 };

	if (crit_random_is(random, 20)) {
		slot.kind = CRIT_S_POLL;
		slot.slots = 2;
		slot.arg = slot.time_ns + 9;
		put(script, buffer, thread, &slot);
		put(script, buffer, thread, &second);
		return;
	}
	put(script, buffer, thread, &slot);
	if (crit_random_is(random, 50))
		put(script, buffer, thread, &detail);
	slot.kind = CRIT_S_LEAVE;
	slot.time_ns = thread->now_ns += 10;
	put(script, buffer, thread, &slot);
}

static void count_calls(struct script *script, unsigned int buffer)
{
	const struct crit_counter counters[2] = {
		{ .call = 3, .count = 7, .bytes = 9 },
		{ .call = 5, .count = 1, .folded_count = 1, .folded_ns = 30 },
	};

	write_memory(script, buffer + 1, HOSTILE_COUNTERS, 128, counters, sizeof(counters));
}

/* As much as a ring holds at once: with a wide one, more than the recording may have. */
static void fill(struct script *script, unsigned int buffer, struct thread *thread)
{
	for (unsigned int i = 0; i < 3; i++) {
		thread->head.write_pos += 32768;
		publish(script, buffer, thread);
		tick(script);
		tick(script);
	}
}

struct input crit_fuzz_seed(size_t number)
{
	static const uint32_t used = BUFFERS;
	struct crit_random random = { .state = number + 1 };
	struct thread threads[BUFFERS] = { { .now_ns = 100 },
					   { .now_ns = 100 },
					   { .now_ns = 100 } };
	struct script script = { { NULL, 0 }, 0 };

	if (number >= SEEDS)
		return script.input;
	write_memory(&script, 0, 0, offsetof(struct crit_shm_head, buffers_used), &used,
		     sizeof(used));
	for (unsigned int i = 0; i < BUFFERS; i++)
		claim(&script, i, &threads[i], 10 + i);
	for (unsigned int turn = 0; turn < 10; turn++) {
		unsigned int buffer = (unsigned int)crit_random_below(&random, BUFFERS);
		struct thread *thread = &threads[buffer];

		for (unsigned int i = 0; i < 3; i++)
			put_span(&script, &random, buffer, thread);
		publish(&script, buffer, thread);
		if (crit_random_is(&random, 30))
			count_calls(&script, buffer);
		tick(&script);
		if (crit_random_is(&random, 20)) {
			release(&script, buffer, thread);
			tick(&script);
			claim(&script, buffer, thread, 20 + turn);
		}
	}
	if (number % 3 == 0)
		fill(&script, 0, &threads[0]);
	release(&script, 1, &threads[1]);
	if (number % 2)
		tick(&script);
	return script.input;
}
