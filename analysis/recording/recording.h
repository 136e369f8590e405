/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens a recording of any origin: finds its whole chunks, counts what is torn, missing or
 * corrupt, and reads payloads on demand.  Nothing in the file is trusted.
 */
#ifndef CRIT_RECORDING_H
#define CRIT_RECORDING_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/abi/abi_recording.h"

struct crit_err;

struct crit_chunk_ref { /* where a whole chunk lies */
	uint64_t offset; /* of its payload */
	uint64_t position; /* first record (slot) number, as the head says */
	uint32_t length;
	uint32_t source;
	/* the next chunk of the same feed, or CRIT_NONE; the index pass links them */
	uint32_t next;
	uint16_t kind;
	uint16_t version; /* of the format */
};

struct crit_near_bytes; /* of the file, around what was read last */

struct crit_recording {
	int fd;
	struct crit_near_bytes *near;
	uint64_t size_bytes; /* at opening; what is appended later is not seen */
	struct crit_chunk_ref *refs; /* file order; chunks without payload are left out */
	size_t ref_count;
	size_t ref_capacity;
	bool has_file; /* FILE chunk seen */
	struct crit_rec_file file; /* its content, texts terminated; else host is the name of it */
	uint64_t kernel_lost;
	uint64_t shim_lost;
	uint64_t no_buffer; /* threads, as critd counted them */
	uint64_t corrupt_chunks;
	uint64_t truncated_bytes;
	uint64_t missing_chunks;
	uint64_t unknown_chunks; /* of kinds this program does not know */
};

/*
 * Scans the whole file once and verifies every checksum.
 * Ownership: the caller closes *ret_recording.  Errors: -ENOENT and other open errors, -EPROTO
 * (not a recording, or of a foreign version), -ENODATA (no whole chunk), -ENOMEM, -EIO.
 * Cost: one sequential read; 40 bytes of memory per chunk.
 */
int crit_recording_open(const char *path, struct crit_recording **ret_recording,
			struct crit_err *err);

/* Is that why a file was not opened: it holds nothing of a recording any more? */
static inline bool crit_recording_is_unreadable(int rc)
{
	return rc == -ENODATA || rc == -EPROTO;
}

/*
 * A recording with nothing in it, that has the host name of path: stands for one that cannot be
 * read among others that can.  Ownership: the caller closes *ret_recording.  Errors: -ENOMEM.
 */
int crit_recording_stand_in(const char *path, struct crit_recording **ret_recording);

/*
 * Reads at most size bytes of a chunk's payload from byte `from` on.
 * Errors: number of bytes (0 at the payload's end), or -EIO.
 * Threads: one at a time per recording.  Cost: a few bytes behind those read last mostly none.
 */
ssize_t crit_recording_read(const struct crit_recording *recording,
			    const struct crit_chunk_ref *ref, size_t from, void *buffer,
			    size_t size);

/*
 * Reads the struct a payload begins with; false when it is too short.  Texts inside may be
 * unterminated.
 */
bool crit_recording_read_struct(const struct crit_recording *recording,
				const struct crit_chunk_ref *ref, void *ret_record, size_t size);

void crit_recording_close(struct crit_recording *recording);

#endif
