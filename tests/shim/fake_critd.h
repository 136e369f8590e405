/* SPDX-License-Identifier: BSD-3-Clause */
/* A stand-in for critd inside a test: answers the protocol, keeps the memfd for the test. */
#ifndef CRIT_TESTS_SHIM_FAKE_CRITD_H
#define CRIT_TESTS_SHIM_FAKE_CRITD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/abi/abi_shim.h"
#include "core/abi/abi_socket.h"

#define FAKE_MESSAGES_MAX 64

struct fake_critd {
	char directory[64]; /* a private one; removed at the end */
	char path[96]; /* of the socket; CRIT_SOCKET names it */
	bool is_mute; /* set before start: takes connections and never answers */
	int welcome_status; /* set before start: what WELCOME says */
	int listen_fd;
	pthread_t thread;
	atomic_bool is_over;
	atomic_uint idle_count; /* how often it found nothing to take for 10 ms */
	atomic_int message_count;
	int kinds[FAKE_MESSAGES_MAX]; /* of the messages, in order */
	struct crit_message_register registered; /* the last REGISTER */
	struct crit_message_rank rank; /* the last RANK */
	struct crit_message_close close; /* the last CLOSE */
	atomic_int memfd; /* the last one that came, or -1 */
};

/* Listens at a private socket and sets CRIT_SOCKET, CRIT_RUN and XDG_RUNTIME_DIR. */
void fake_critd_start(struct fake_critd *fake);

/* Ends the thread, closes everything, removes the directory. */
void fake_critd_stop(struct fake_critd *fake);

/* Waits until it has taken all that was sent so far. */
void fake_critd_catch_up(const struct fake_critd *fake);

/* How many messages of this kind came so far. */
int fake_critd_count(const struct fake_critd *fake, enum crit_message_kind kind);

/* The shared memory, mapped as the shim maps it; NULL when no memfd came. */
struct crit_shm_head *fake_critd_map(const struct fake_critd *fake);

struct crit_thread_buffer_head *fake_critd_buffer(struct crit_shm_head *head, unsigned int number);
struct crit_slot *fake_critd_slot(struct crit_shm_head *head, unsigned int buffer,
				  unsigned long long position);

/* The counter of call, summed over sites; field by offset in struct crit_counter. */
unsigned long long fake_critd_counter(struct crit_shm_head *head, unsigned int buffer,
				      unsigned int call, size_t field);

#endif
