/* SPDX-License-Identifier: BSD-3-Clause */
/* The source, tag and size of a message, as its receive was posted and as its status tells. */
#ifndef CRIT_RECEIVE_STATUS_H
#define CRIT_RECEIVE_STATUS_H

#include "analysis/model/model.h"
#include "analysis/mpi/requests.h"
#include "core/abi/abi_slot.h"

/*
 * flavour: enum crit_flavour.
 * Completes a receive's status from how it was posted.  A definite source or tag holds against the
 * status; one that contradicts it tells nothing, like one that is stale or empty.  Counts in losses
 * what is unusable, estimated or unknown.
 */
struct crit_slot_detail crit_receive_status(uint32_t flavour, const struct crit_request *request,
					    const struct crit_slot_detail *status,
					    struct crit_message_losses *losses);

#endif
