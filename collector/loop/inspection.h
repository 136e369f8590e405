/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives messages; descriptors in them are taken, looked at and closed outside the main loop. */
#ifndef CRIT_COLLECTOR_INSPECTION_H
#define CRIT_COLLECTOR_INSPECTION_H

#include "collector/loop/messages.h"

/* Makes a connection fit for what follows.  Errors: -errno. */
int crit_inspection_prepare(int fd);

/*
 * Receives a message that carries no descriptor.
 * Returns 1, or 0 when there is none.  Errors: -EMSGSIZE: the next message carries descriptors and
 * is left in the socket; -EPIPE: the peer hung up; others as of recvmsg.
 */
int crit_inspection_receive(int fd, struct crit_message_in *ret_in);

/* Reads, and leaves, a finisher's next message; its client has that socket too.  Empty: the end. */
int crit_inspection_peek_finisher(int fd, struct crit_message_in *ret_in);

/*
 * Lets a worker take that message.  The finisher is not watched until then.  Errors: -ENOMEM;
 * -EMFILE and others of fcntl.
 */
int crit_inspection_take_finisher(struct crit_server *server, struct crit_run *run);

/*
 * Lets a worker receive the next message of a client, and look at the descriptors in it.  The
 * client is not watched until then, so its messages stay in order.
 */
void crit_inspection_start(struct crit_server *server, struct crit_connection *client);

/* Refuses clients whose descriptors were not examined within 5 s: no run waits for them. */
void crit_inspection_give_up(struct crit_server *server, __u64 now_ns);

/* Handles the messages that workers are done with. */
void crit_inspection_collect(struct crit_server *server);

/* Closes a client's connection: here when nothing in it can make that wait, else in a worker. */
void crit_inspection_hang_up(struct crit_server *server, int fd);

#endif
