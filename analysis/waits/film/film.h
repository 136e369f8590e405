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

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

#define CRIT_FILM_OBJECT 0x80000000u /* bit of a node that is no thread */
#define CRIT_FILM_LOCK 0xc0000000u /* bits of an object that one thread has at a time */
#define CRIT_FILM_NO_BUCKET 0xffffffffu
#define CRIT_FILM_ENTRY_BYTES 16
#define CRIT_FILM_BLOCK_BYTES 65536

enum crit_film_type {
	CRIT_FILM_NONE = 0,
	CRIT_FILM_UNTIL, /* time, node, bucket it was in; an object without one begins there */
	CRIT_FILM_WAIT, /* s, node, kind, number: a wait begins */
	CRIT_FILM_END, /* e, node, kind, number: it ends */
	CRIT_FILM_QUEUE, /* time, thread: from here on it wants a CPU and has none */
	CRIT_FILM_RUN, /* time, thread: it does no more */
	CRIT_FILM_SLEEP, /* time, thread: it is blocked from here on; in waits not in all films */
	CRIT_FILM_WAKE, /* time, thread: it is no more */
	CRIT_FILM_CAUSE, /* c, node that acted at c, number: the wait could not end before */
	/*
	 * c, waker, kind, number: a thread that is asleep then; since it is, it waits for the
	 * waker, without an END.  Like causes, it comes when it is known.
	 */
	CRIT_FILM_WOKEN,
	/*
	 * For what-if alone, in films that have needs.  Like causes, they come when they are known.
	 */
	/* as CAUSE, but it did not end the wait: c may be before s, the node an object */
	CRIT_FILM_NEED,
	/*
	 * c, thread, number of an object: it needs that; kind: LAST, plus PLACE times a number that
	 * the thread has for where it meets the same others, 0 none
	 */
	CRIT_FILM_ARRIVAL,
	CRIT_FILM_BIRTH, /* c, creator, number: thread that begins to exist at c */
	CRIT_FILM_FROM, /* of a resolved film: time, thread, bucket it is in from there on */
	/*
	 * Of sends, for who reads backwards (rewind.h), who alone sees them: kind is a group of
	 * sends, number a message's size, at most CRIT_FILM_BYTES_MAX.
	 */
	CRIT_FILM_BYTES, /* the cause or need before it holds if the group waits at that size */
	CRIT_FILM_BYTES_FROM, /* the smallest at which it does; none without one */
	CRIT_FILM_TYPE_COUNT
};

#define CRIT_FILM_LAST 1u /* of an arrival */
#define CRIT_FILM_PLACE 2u
#define CRIT_FILM_TEAM 1u /* place: the barriers of a team */
#define CRIT_FILM_PLACES 128u

#define CRIT_FILM_BYTES_MAX 0xfffffffeu
#define CRIT_FILM_GROUPS 2

/* Kinds of waits are the caller's, but for the one that counts as nobody's waiting. */
#define CRIT_FILM_HOLD 0 /* an object's holder, a thread's creator */

struct crit_film_entry {
	uint64_t time_ns; /* run clock */
	uint32_t node;
	uint32_t number; /* of the wait, not again before all is written of it; UNTIL: the bucket */
	uint8_t type; /* enum crit_film_type */
	uint8_t kind;
};

/* It may come later than others of later times. */
static inline bool crit_film_is_late(enum crit_film_type type)
{
	return type >= CRIT_FILM_CAUSE && type <= CRIT_FILM_BIRTH;
}

/* A set of types. */
static inline uint32_t crit_film_type_bit(uint8_t type)
{
	return 1u << (type & 31);
}

#define CRIT_FILM_LATE_TYPES /* crit_film_is_late of them */                                       \
	((1u << (CRIT_FILM_BIRTH + 1)) - (1u << CRIT_FILM_CAUSE))

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
