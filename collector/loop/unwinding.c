// SPDX-License-Identifier: BSD-3-Clause
// Speaks with finishers about stacks.  Nothing here waits but the end of a run, and that not long.
#include "collector/loop/unwinding.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "collector/record/path_intake.h"
#include "collector/record/stack_ring.h"
#include "collector/system/now.h"

#define LAST_PATHS_NS 500000000ull
#define RINGS_MAX 32u /* of one critd: memory */
#define PART_OF_CAP 16 /* that call paths may take of a recording */

static uint32_t count_rings(const struct crit_server *server)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < server->run_end; i++)
		count += server->runs[i].stacks != NULL;
	return count;
}

static bool send_ring(int finisher_fd, int ring_fd)
{
	struct crit_message_head head = { CRIT_M_STACKS, CRIT_SOCKET_VERSION, sizeof(head) };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { &head, sizeof(head) };
	const struct msghdr message = { .msg_iov = &part,
					.msg_iovlen = 1,
					.msg_control = control.bytes,
					.msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(ring_fd));
	memcpy(CMSG_DATA(rights), &ring_fd, sizeof(ring_fd));
	return sendmsg(finisher_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(head);
}

/* Of clocks of CPUs, or of threads. */
static bool has_samples(const struct crit_source_status *status)
{
	return status->kernel ? status->perf == 1 : status->perf == 0;
}

void crit_unwinding_begin(const struct crit_server *server, struct crit_run *run, int finisher_fd,
			  uint32_t budget)
{
	const struct crit_source_status *status = crit_sources_status(server->sources);

	if (!budget || !run->sample_hz || !has_samples(status) ||
	    count_rings(server) >= RINGS_MAX ||
	    crit_stack_ring_create(CRIT_STACKS_RING_BYTES, &run->stacks))
		return;
	if (!send_ring(finisher_fd, crit_stack_ring_fd(run->stacks))) {
		crit_stack_ring_destroy(run->stacks);
		run->stacks = NULL;
		return;
	}
	run->stack_budget = budget < CRIT_SAMPLE_BUDGET_MAX ? budget : CRIT_SAMPLE_BUDGET_MAX;
}

static void put_paths(struct crit_run *run, const struct crit_message_paths *message, size_t bytes,
		      uint64_t now_ns)
{
	const uint64_t part = run->cap.max_bytes / PART_OF_CAP;
	size_t body_bytes;

	if (run->is_stopped)
		return;
	if (crit_path_intake_take(&run->paths, message, bytes,
				  part < CRIT_PATHS_PER_RUN ? part : CRIT_PATHS_PER_RUN, now_ns,
				  &body_bytes))
		return;
	crit_run_put(run, (uint16_t)message->chunk_kind, 0, now_ns,
		     (const struct crit_chunk_part[2]){ { message + 1, body_bytes }, { NULL, 0 } });
}

void crit_unwinding_take(struct crit_server *server, struct crit_run *run, const void *message,
			 size_t bytes)
{
	const struct crit_message_head *head = message;

	if (!run->stacks || run->are_paths_over || bytes < sizeof(*head))
		return;
	if (run->state != CRIT_RUN_RECORDING && run->state != CRIT_RUN_UNWINDING)
		return;
	if (head->kind == CRIT_M_PATHS) {
		put_paths(run, message, bytes, crit_now_ns());
	} else if (head->kind == CRIT_M_PATHS_END) {
		run->are_paths_over = true;
		crit_sources_stop_stacks(server->sources, run);
	}
}

void crit_unwinding_end(const struct crit_server *server, struct crit_run *run, uint64_t now_ns)
{
	if (!run->stacks)
		return;
	run->stacks_refused = crit_sources_refused_stacks(server->sources, run);
	run->paths_due_ns = now_ns + LAST_PATHS_NS;
	crit_stack_ring_end(run->stacks);
}

static void note(struct crit_run *run, enum crit_note_code code, uint64_t count, const char *what)
{
	char text[128];

	if (count == 0)
		return;
	(void)snprintf(text, sizeof(text), "%s: %llu", what, (unsigned long long)count);
	crit_run_note(run, code, count < INT_MAX ? (int)count : INT_MAX, text);
}

bool crit_unwinding_is_over(const struct crit_server *server, struct crit_run *run, uint64_t now_ns)
{
	if (!run->stacks)
		return true;
	if (!run->are_paths_over && !run->is_finisher_gone && !server->is_stopping &&
	    now_ns < run->paths_due_ns)
		return false;
	note(run, CRIT_NOTE_PATHS, run->paths.dropped_bytes, "bytes of call paths dropped");
	note(run, CRIT_NOTE_STACKS, run->stacks_refused,
	     "stacks not taken, as CRIT_SAMPLE_BUDGET was used up or the kernel's ring full");
	crit_stack_ring_destroy(run->stacks);
	run->stacks = NULL;
	return true;
}
