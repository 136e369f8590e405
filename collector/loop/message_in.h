/* SPDX-License-Identifier: BSD-3-Clause */
/* A message of a client or finisher as it arrived, and receiving one that carries no descriptor. */
#ifndef CRIT_COLLECTOR_MESSAGE_IN_H
#define CRIT_COLLECTOR_MESSAGE_IN_H

#include <stdint.h>
#include <stddef.h>

#include "collector/member/shm.h"
#include "collector/system/workers.h"
#include "core/abi/abi_socket.h"

#define CRIT_MESSAGE_FDS 4

/* What the descriptors of a message are; looked at outside the main loop (inspection.h). */
struct crit_found {
	int status; /* 0: as the kind of message wants them; else -errno and why */
	struct crit_err err;
	struct crit_shm shm; /* of REGISTER */
	uint32_t pid; /* of ATTACH */
};

/* A message as it arrived.  Whoever keeps a descriptor sets its entry to -1; the rest is closed. */
struct crit_message_in {
	_Alignas(8) uint8_t bytes[CRIT_MESSAGE_MAX];
	size_t size; /* 0: it was cut */
	int fds[CRIT_MESSAGE_FDS];
	int fd_count;
	struct crit_found found; /* when there are descriptors */
};

/* Makes a connection fit for what follows.  Errors: -errno. */
int crit_message_in_prepare(int fd);

/*
 * Receives a message that carries no descriptor.
 * Returns 1, or 0 when there is none.  Errors: -EMSGSIZE: the next message carries descriptors and
 * is left in the socket; -EPIPE: the peer hung up; others as of recvmsg.
 */
int crit_message_in_receive(int fd, struct crit_message_in *ret_in);

/* Reads, and leaves, a finisher's next message; its client has that socket too.  Empty: the end. */
int crit_message_in_peek(int fd, struct crit_message_in *ret_in);

/* Closes, in a worker, the descriptors that nobody kept. */
void crit_message_in_close(struct crit_workers *closers, const struct crit_message_in *in);

/* Closes a client's connection: here when nothing in it can make that wait, else in a worker. */
void crit_message_in_hang_up(struct crit_workers *closers, int fd);

#endif
