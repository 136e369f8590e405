/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts a real critd as a child, speaks its protocol by hand, and takes its recording apart. */
#ifndef CRIT_TESTS_CRITD_HARNESS_H
#define CRIT_TESTS_CRITD_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/abi/abi_recording.h"
#include "core/abi/abi_shim.h"
#include "core/abi/abi_socket.h"

struct crit_harness {
	pid_t critd;
	char directory[64]; /* private; removed by stop */
	char socket[80];
	__u32 sample_hz; /* 199, and */
	__u32 sample_budget; /* 0, when it starts: what OUTPUT will say */
};

struct crit_harness_client {
	int fd;
	int finisher_fd; /* the finisher's end; -1 unless first */
	bool is_first;
	int kernel_status;
	char file[192]; /* the recording; "" unless first */
};

/* Starts critd with extra arguments (NULL-terminated, may be NULL).  Dies on failure. */
void crit_harness_start(struct crit_harness *harness, const char *const *arguments);

/*
 * Pins the caller to one CPU and keeps that from idling until the caller ends.  Virtual machines
 * lose scheduler events of an idle CPU before any tracer sees them (docs/architecture.md).
 */
void crit_harness_keep_busy(void);

/* Sends SIGTERM, or only waits; returns the exit status as of waitpid. */
int crit_harness_stop(struct crit_harness *harness, bool is_killed);
/* Removes the private directory. */
void crit_harness_clean(const struct crit_harness *harness);

/* Connects and says HELLO, no more.  Returns the socket or -errno. */
int crit_harness_hello(const struct crit_harness *harness, const char *key, __u32 role);

/* Waits for WELCOME; when first, hands over output and finisher.  Returns WELCOME's status. */
int crit_harness_join(const struct crit_harness *harness, const char *key, __u32 role,
		      __u64 max_bytes, struct crit_harness_client *ret_client);

/* Only that: hands over output and finisher. */
int crit_harness_output(const struct crit_harness *harness, const char *key, __u64 max_bytes,
			struct crit_harness_client *client);

/* REGISTER of the calling process.  memfd -1: none.  Returns REGISTERED's status. */
int crit_harness_register(struct crit_harness_client *client, __s64 tls_offset, int memfd);

/* ATTACH of another process.  Returns REGISTERED's status. */
int crit_harness_attach(struct crit_harness_client *client, pid_t pid);

/* Receives one message within 5 s.  Returns its size, 0 at end of file, or -errno. */
long crit_harness_receive(int fd, void *ret_message, size_t bytes);
/* Sends with descriptors.  Returns 0 or -errno. */
int crit_harness_send(int fd, const void *message, size_t bytes, const int *fds, int fd_count);

/* A whole recording in memory. */
struct crit_harness_recording {
	char *data;
	size_t bytes;
	bool is_whole; /* every byte belongs to a chunk with a right checksum */
};
bool crit_harness_read(const char *file, struct crit_harness_recording *ret_recording);
void crit_harness_free(struct crit_harness_recording *recording);

/* Walks over chunks: returns the next one after head (NULL: the first), or NULL. */
const struct crit_chunk_head *crit_harness_next(const struct crit_harness_recording *recording,
						const struct crit_chunk_head *head);

/* Walks over all kernel records likewise. */
const struct crit_kernel_head *
crit_harness_next_kernel(const struct crit_harness_recording *recording,
			 const struct crit_chunk_head **chunk,
			 const struct crit_kernel_head *record);

size_t crit_harness_count_kernel(const struct crit_harness_recording *recording, __u8 kind,
				 __u32 tid);
const struct crit_chunk_head *crit_harness_find(const struct crit_harness_recording *recording,
						__u16 kind);

#endif
