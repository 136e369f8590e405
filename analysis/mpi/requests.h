/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests from their start to their completion, by process and handle.
 *
 * A handle's value is used again once its request is done.  Both MPIs also give many sends that are
 * done at once the same handle, so requests with one handle make a stack.
 */
#ifndef CRIT_REQUESTS_H
#define CRIT_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/mpi/rendezvous.h"
#include "core/base/index.h"

#define CRIT_REQUESTS_MAX (1u << 20) /* at the same time */

enum crit_request_kind {
	CRIT_REQUEST_NONE = 0,
	CRIT_REQUEST_SEND,
	CRIT_REQUEST_RECEIVE,
	CRIT_REQUEST_COLLECTIVE,
	CRIT_REQUEST_OTHER /* one-sided or of a file: booked when it starts, told to nobody */
};

struct crit_request {
	uint64_t handle;
	uint64_t number; /* running, never used again; of the present activity */
	uint64_t posted_ns; /* enter of the call that made it active */
	uint64_t bytes; /* as posted; of a collective: sent */
	uint64_t received_bytes; /* by a collective */
	struct crit_message_end receive; /* of a send's message; end_ns 0: not known yet */
	uint32_t process;
	uint32_t communicator; /* as the process numbers it */
	uint32_t below; /* on the stack, or in the list of free ones */
	uint32_t peer_member; /* of a send; CRIT_NONE */
	uint32_t match_place; /* of a send's message that was not received yet; CRIT_NONE */
	int32_t peer; /* or root */
	int32_t tag; /* or sequence */
	uint16_t call; /* that started it */
	uint8_t kind; /* enum crit_request_kind */
	uint8_t mode; /* of a send: enum crit_send_mode */
	bool is_active;
	bool is_persistent;
};

struct crit_requests {
	struct crit_request *rows;
	size_t count, capacity; /* ever used at the same time */
	uint32_t free; /* list */
	struct crit_index tops; /* process and handle -> topmost row */
	size_t live;
};

void crit_requests_init(struct crit_requests *requests);
void crit_requests_fini(struct crit_requests *requests);

/* The topmost request of a handle, NULL: none.  Valid until the next push. */
struct crit_request *crit_requests_find(const struct crit_requests *requests, uint32_t process,
					uint64_t handle);

/*
 * A new request on top of a handle's stack, of which process and handle are set.
 * Errors: -ENOMEM, -ENOSPC when there are too many.
 */
int crit_requests_push(struct crit_requests *requests, uint32_t process, uint64_t handle,
		       struct crit_request **ret_request);

/* Takes the topmost request of a handle away; there is one. */
void crit_requests_pop(struct crit_requests *requests, uint32_t process, uint64_t handle);

/* How many are active. */
uint64_t crit_requests_active(const struct crit_requests *requests);

#endif
