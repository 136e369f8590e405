/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client's side of core/abi/abi_socket.h: finds critd or starts it, makes the run's directory
 * and its finisher when asked to, registers, and waits for the report.  Used by libcrit_core.so
 * and crit run.
 *
 * Nothing here prints, waits without a deadline, leaves a child behind, or changes errno or the
 * signal mask of the caller.  Every function answers 0 or -errno; err may be NULL.
 */
#ifndef CRIT_CLIENT_H
#define CRIT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/abi/abi_socket.h"
#include "core/client/client_connect.h"
#include "core/client/client_env.h"
#include "core/base/err.h"

#define CRIT_CLIENT_START_MS 5000 /* everything from the search to WELCOME, OUTPUT and REGISTERED */

struct crit_client_options {
	enum crit_client_role role;
	enum crit_flavour flavour;
	const struct crit_client_env *env; /* borrowed during open */
	const char *exe; /* names run and directory; NULL: the caller's own program */
	bool has_no_kernel; /* start critd without its kernel half */
};

struct crit_client {
	int fd; /* connection, or -1 */
	dev_t device; /* with inode: what fd is, while it is ours */
	ino_t inode;
	enum crit_client_way way; /* how critd was found */
	bool is_first; /* made directory and finisher */
	bool is_register_sent; /* its answer is to come */
	int32_t kernel_status; /* 0: kernel half at work; else -errno why not */
	int32_t perf_status; /* as in struct crit_rec_file */
	uint64_t run_id;
	int64_t deadline_ns; /* CLOCK_MONOTONIC; end of the time to start; 0: that begins anew */
	char run_key[CRIT_RUN_KEY_BYTES];
	char socket_path[CRIT_SOCKET_PATH_BYTES];
	char directory[CRIT_PATH_BYTES]; /* absolute; known after open (is_first) or register */
	char exe[CRIT_EXE_BYTES];
	char host[CRIT_WORLD_BYTES];
};

struct crit_client_member {
	int64_t tls_offset; /* CRIT_TLS_NONE: no tag word */
	int64_t clock_offset_ns;
	int memfd; /* -1: none; borrowed */
	uint16_t flags; /* enum crit_process_flag */
	char *const *arguments; /* of the program this process is about to become; NULL: its own */
};

/*
 * Connects, starting critd if nobody listens, and says HELLO; makes directory, recording file and
 * finisher if critd asks for them.  Ownership: ret_client is the caller's memory, ended by
 * crit_client_fini, which is safe after a failure too.  Errors: -ETIMEDOUT, -ENOENT (no critd
 * program), -EACCES and others from the directory.  Cost: up to CRIT_CLIENT_START_MS.
 */
int crit_client_open(struct crit_client *ret_client, const struct crit_client_options *options,
		     struct crit_err *err);

/*
 * The same in two steps: connects, starting critd if nobody listens; and what follows, on that
 * connection or, where critd has ended since, on another.
 */
int crit_client_begin(struct crit_client *ret_client, const struct crit_client_options *options,
		      struct crit_err *err);
int crit_client_finish(struct crit_client *client, const struct crit_client_options *options,
		       struct crit_err *err);

/*
 * Between the two, where critd may not be up yet (way), and the process is about to call MPI_Init,
 * which the role told begin: sends all that a process has to say, so that critd takes it when it
 * is, and finish, with role SHIM, and crit_client_register only fetch the answers.  Waits for
 * nothing.  Errors: those of making the directory, by who started critd; others show at the end.
 */
int crit_client_announce(struct crit_client *client, const struct crit_client_options *options,
			 const struct crit_client_member *member, struct crit_err *err);

/*
 * Makes the calling process a member of the run.  ret_answer (may be NULL) holds level and tau.
 * Range: in what is left of the time to start, at least 100 ms.
 */
int crit_client_register(struct crit_client *client, const struct crit_client_member *member,
			 struct crit_message_registered *ret_answer, struct crit_err *err);

/* Sends REGISTER's sibling ATTACH: the process behind pidfd (borrowed) becomes a member. */
int crit_client_attach(struct crit_client *client, int pidfd, struct crit_err *err);

/* Fills in the head and sends; never waits longer than 1 s. */
int crit_client_send_rank(struct crit_client *client, struct crit_message_rank *message);
int crit_client_send_close(struct crit_client *client, uint64_t close_ns, bool has_reopened);
int crit_client_send_clock(struct crit_client *client, struct crit_message_clock *message);
int crit_client_send_nodes(struct crit_client *client, struct crit_message_nodes *message);

/* May be said by any thread at any time; never waits. */
void crit_client_send_drain(struct crit_client *client);

/*
 * Waits for WRITTEN.  ret_status: what critd says about the report, 0 or -errno.
 * Errors: -ETIMEDOUT; -EPIPE when critd is gone.
 */
int crit_client_wait_written(struct crit_client *client, int timeout_ms, int *ret_status);

/* Closes the connection.  Accepts a client whose open failed, or zeroed memory with fd -1. */
void crit_client_fini(struct crit_client *client);

#endif
