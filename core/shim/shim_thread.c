// SPDX-License-Identifier: BSD-3-Clause
// A thread's buffer: claimed at its first event, released at its exit.
#include "core/shim/shim_thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/guard.h"
#include "core/shim/shim_clock.h"
#include "core/shim/shim_counter.h"
#include "core/shim/shim_memory.h"
#include "core/shim/shim_poll.h"
#include "core/shim/shim_ring.h"

#define SCRATCH_FIRST_BYTES (128u << 10)

__thread struct crit_shim_thread crit_this_thread __attribute__((tls_model("initial-exec")));

static bool try_take(struct crit_thread_buffer_head *buffer)
{
	uint32_t expected = CRIT_THREAD_BUFFER_FREE;

	return __atomic_compare_exchange_n(&buffer->state, &expected, CRIT_THREAD_BUFFER_OWNED,
					   false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/*
 * Fresh thread buffers first, by one atomic add; then those critd has drained and freed again.  A
 * thread buffer is made accessible before it is counted as used, so every counted one may be looked
 * at.
 */
static struct crit_thread_buffer_head *take_buffer(uint32_t *ret_number)
{
	struct crit_shm_head *head = crit_process.head;
	const uint32_t count = head->buffer_count;
	uint32_t used = __atomic_load_n(&head->buffers_used, __ATOMIC_ACQUIRE);

	while (used < count && crit_memory_open_buffer(used)) {
		if (!__atomic_compare_exchange_n(&head->buffers_used, &used, used + 1, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			continue;
		*ret_number = used;
		if (try_take(crit_memory_buffer(used)))
			return crit_memory_buffer(used);
		used++; /* cannot be: nobody else has seen it */
	}
	for (uint32_t number = 0; number < used; number++) {
		*ret_number = number;
		if (try_take(crit_memory_buffer(number)))
			return crit_memory_buffer(number);
	}
	return NULL;
}

static void take_over(struct crit_shim_thread *thread, struct crit_thread_buffer_head *buffer)
{
	buffer->ns_tid = (uint32_t)syscall(SYS_gettid);
	buffer->claim_pos = buffer->write_pos;
	buffer->open_call = 0;
	buffer->release_ns = 0;
	buffer->counters_lost = 0; /* by owner, unlike lost_spans */
	buffer->folded_ns = 0;
	thread->last_counter = crit_thread_buffer_counters(buffer);
	thread->write_pos = buffer->write_pos;
	thread->tag_pos = buffer->write_pos;
	thread->gate = 0;
	thread->level = CRIT_LEVEL_NONE;
	thread->open = buffer->owner_only;
	__atomic_store_n(&buffer->claim_ns, crit_clock_now_ns(&thread->clock), __ATOMIC_RELEASE);
	thread->buffer = buffer;
	crit_ring_take(thread);
}

void crit_thread_claim(struct crit_shim_thread *thread)
{
	const int saved_errno = errno;
	struct crit_thread_buffer_head *buffer = NULL;

	/*
	 * without its own end a thread buffer would be lost for ever; so no key, no thread buffer
	 */
	if (crit_process.head && crit_process.has_key &&
	    pthread_setspecific(crit_process.key, thread) == 0)
		buffer = take_buffer(&thread->buffer_number);
	if (buffer) {
		take_over(thread, buffer);
	} else {
		thread->is_tag_only = true;
		thread->open = thread->open_own;
		if (crit_process.head)
			(void)__atomic_fetch_add(&crit_process.head->no_buffer, 1,
						 __ATOMIC_RELAXED);
	}
	crit_open_settle(thread);
	errno = saved_errno;
}

void crit_scratch_release(struct crit_shim_thread *thread)
{
	if (thread->scratch)
		(void)munmap(thread->scratch, thread->scratch_bytes); /* it was mapped */
	thread->scratch = NULL;
	thread->scratch_bytes = 0;
}

void *crit_shim_scratch(size_t bytes)
{
	struct crit_shim_thread *thread = &crit_this_thread;
	size_t room = SCRATCH_FIRST_BYTES;
	void *memory;

	if (CRIT_LIKELY(bytes <= thread->scratch_bytes))
		return thread->scratch;
	if (bytes > CRIT_SHIM_SCRATCH_MAX)
		return NULL;
	CRIT_GUARD;
	while (room < bytes)
		room *= 2;
	memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	crit_scratch_release(thread);
	thread->scratch = memory;
	thread->scratch_bytes = (uint32_t)room;
	return memory;
}

void crit_thread_release(void *unused)
{
	struct crit_shim_thread *thread = &crit_this_thread;
	struct crit_thread_buffer_head *buffer = thread->buffer;

	(void)unused;
	if (buffer) {
		crit_poll_flush(thread);
		buffer->release_ns = crit_clock_now_ns(&thread->clock);
		__atomic_store_n(&buffer->state, CRIT_THREAD_BUFFER_RELEASED, __ATOMIC_RELEASE);
	}
	crit_scratch_release(thread);
	memset(thread, 0, sizeof(*thread)); /* a later event of this thread starts over */
}
