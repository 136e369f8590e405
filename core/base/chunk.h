/* SPDX-License-Identifier: BSD-3-Clause */
/* Seals and checks the chunks of a recording; the one definition of their checksum. */
#ifndef CRIT_CHUNK_H
#define CRIT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/abi/abi_recording.h"

/* Bytes a payload of length bytes takes in the file: padded to 8. */
static inline size_t crit_chunk_padded(size_t length)
{
	return (length + 7) & ~(size_t)7;
}

/*
 * Sets magic, length, checksum, and the version unless it is one that can be read; every other
 * field is the caller's.
 * Ownership: both borrowed.  Range: length at most CRIT_CHUNK_PAYLOAD_MAX.
 */
void crit_chunk_seal(struct crit_chunk_head *head, const void *payload, size_t length);

/* True for versions this program can read. */
static inline bool crit_chunk_version_is_known(const struct crit_chunk_head *head)
{
	return head->version >= CRIT_RECORDING_VERSION_LEAST &&
	       head->version <= CRIT_RECORDING_VERSION;
}

/* True when magic, version and length make sense; the payload may then be read. */
bool crit_chunk_head_is_sane(const struct crit_chunk_head *head);

/* True when the checksum holds.  Range: head is sane, payload has head->length bytes. */
bool crit_chunk_is_whole(const struct crit_chunk_head *head, const void *payload);

#endif
