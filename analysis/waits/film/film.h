/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The film of waits: who waited when and for whom, in the order in which that becomes known.
 *
 * It is written forwards and read backwards (backplay.h), because only the end of a chain of waits
 * says what its beginning cost.  So an entry of a bucket says what ends there, and the cause of a
 * wait may come long after its end, when the partner's call tells of it.  Times of UNTIL, WAIT and
 * END do not decrease; that of a CAUSE is at most that of the entries before it.
 *
 * Nodes are threads, by their rows, and objects: an instance of a collective operation, a team, a
 * lock, a device, a reason for not knowing.  What holds an object is written as a wait of it: a
 * lock waits for its holder from acquire to release, an instance of a barrier for the thread that
 * comes last.  The time before the birth of a thread is a wait for its creator.  In films that have
 * needs the wait of an object has the object's name as its number: its cause is an arrival, too.
 *
 * The file has no name and is gone with its descriptor.  Memory is that of one block.
 */
#ifndef CRIT_FILM_H
#define CRIT_FILM_H

#include <stdint.h>

#include "analysis/waits/film/film_entry.h"
#include "core/base/err.h"

#define CRIT_FILM_ENTRY_BYTES 24
#define CRIT_FILM_BLOCK_BYTES 65536

struct crit_film_options {
	const char *directory; /* where it lies if temporary files cannot */
	uint64_t max_bytes;
};

struct crit_film; /* film_block.h */

/*
 * An empty film: in $TMPDIR, /var/tmp where that is not set, if it is a local disk with max_bytes
 * free, else in the directory.
 * Ownership: the film is the caller's to destroy.
 * Errors: -EOPNOTSUPP where both would be in memory; what the system says.
 */
int crit_film_create(const struct crit_film_options *options, struct crit_film **ret_film,
		     struct crit_err *err);

/*
 * Errors: -ENOSPC, -EFBIG: the disk is full, the bound is reached; any other of write().  The first
 * is told in err; from then on the film takes nothing and returns the same.
 */
static inline int crit_film_put(struct crit_film *film, const struct crit_film_entry *entry,
				struct crit_err *err);

/* Writes what is still in memory, and goes to the last entry.  Errors: as above. */
int crit_film_finish(struct crit_film *film, struct crit_err *err);

/* Of a film that is finished: to the last entry once more. */
void crit_film_rewind(struct crit_film *film);

/*
 * The entry before the one that was read last; after finish: the last one.  Yields 1, and 0 before
 * the first.  Errors: -EIO, -EPROTO.
 */
static inline int crit_film_back(struct crit_film *film, struct crit_film_entry *ret_entry);

/* The same for several at once, at most max, above 0.  Yields how many; 0 before the first. */
static inline int crit_film_back_many(struct crit_film *film, uint32_t max,
				      struct crit_film_entry *ret_entries);

/*
 * What is known without reading: the entry that crit_film_back() yields after so many more.
 * Yields false where it is in no block that was read.
 */
static inline bool crit_film_soon(const struct crit_film *film, uint32_t more,
				  struct crit_film_entry *ret_entry);

uint64_t crit_film_entry_count(const struct crit_film *film);

void crit_film_destroy(struct crit_film *film);

#include "analysis/waits/film/film_block.h"

#endif
