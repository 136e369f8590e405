/* SPDX-License-Identifier: BSD-3-Clause */
/* What each message of a client means. */
#ifndef CRIT_COLLECTOR_MESSAGES_H
#define CRIT_COLLECTOR_MESSAGES_H

#include "collector/loop/server.h"
#include "core/abi/abi_socket.h"

#define CRIT_MESSAGE_FDS 4

/* What the descriptors of a message are; looked at outside the main loop (inspection.h). */
struct crit_found {
	int status; /* 0: as the kind of message wants them; else -errno and why */
	struct crit_err err;
	struct crit_shm shm; /* of REGISTER */
	__u32 pid; /* of ATTACH */
};

/* A message as it arrived.  Whoever keeps a descriptor sets its entry to -1; the rest is closed. */
struct crit_message_in {
	_Alignas(8) __u8 bytes[CRIT_MESSAGE_MAX];
	size_t size; /* 0: it was cut */
	int fds[CRIT_MESSAGE_FDS];
	int fd_count;
	struct crit_found found; /* when there are descriptors */
};

/* Handles one message; whatever is wrong with it ends the client, never critd. */
void crit_messages_handle(struct crit_server *server, struct crit_connection *client,
			  struct crit_message_in *in);

/* A client leaves: its run goes on without it. */
void crit_messages_leave(struct crit_server *server, struct crit_connection *client);

#endif
