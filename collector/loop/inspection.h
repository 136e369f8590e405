/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes, examines and closes the descriptors in messages, in threads beside the main loop. */
#ifndef CRIT_COLLECTOR_INSPECTION_H
#define CRIT_COLLECTOR_INSPECTION_H

#include <stdint.h>

#include "collector/loop/message_in.h"
#include "collector/loop/server_state.h"

/*
 * Lets a worker take a finisher's next message.  The finisher is not watched until then.
 * Errors: -ENOMEM; -EMFILE and others of fcntl.
 */
int crit_inspection_take_finisher(struct crit_server *server, struct crit_run *run);

/*
 * Lets a worker receive the next message of a client, and look at the descriptors in it.  The
 * client is not watched until then, so its messages stay in order.
 */
void crit_inspection_start(struct crit_server *server, struct crit_connection *client);

/* Refuses clients whose descriptors were not examined within 5 s: no run waits for them. */
void crit_inspection_give_up(struct crit_server *server, uint64_t now_ns);

/* Frees a message that a worker is done with, once nobody handles messages any more. */
void crit_inspection_drop(struct crit_task *task);

/* Hands the messages that workers are done with to handle. */
void crit_inspection_collect(struct crit_server *server,
			     void (*handle)(struct crit_server *server,
					    struct crit_connection *client,
					    struct crit_message_in *in));

#endif
