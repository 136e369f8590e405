/* SPDX-License-Identifier: BSD-3-Clause */
/* An entry of a film of waits; film.h says what they are in all. */
#ifndef CRIT_FILM_ENTRY_H
#define CRIT_FILM_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#define CRIT_FILM_OBJECT 0x80000000u /* bit of a node that is no thread */
#define CRIT_FILM_LOCK 0xc0000000u /* bits of an object that one thread has at a time */
#define CRIT_FILM_NO_BUCKET 0xffffffffu

enum crit_film_type {
	CRIT_FILM_NONE = 0,
	CRIT_FILM_UNTIL, /* time, node, bucket it was in; an object without one begins there */
	CRIT_FILM_WAIT, /* s, node, kind, number: a wait begins; may tell a bucket */
	CRIT_FILM_END, /* e, node, kind, number: it ends; may tell a bucket */
	CRIT_FILM_QUEUE, /* time, thread: from here on it wants a CPU and has none */
	CRIT_FILM_RUN, /* time, thread: it does no more; may tell how long it had none */
	CRIT_FILM_SLEEP, /* time, thread: it is blocked from here on; in waits not in all films */
	CRIT_FILM_WAKE, /* time, thread: it is no more */
	CRIT_FILM_CAUSE, /* c, node that acted at c, number, who waits: it could not end before */
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

/*
 * Kind of a CAUSE, in films that have needs: with the thread that acts the wait needs all who came
 * to the object at which that arrives then.
 */
#define CRIT_FILM_MEETS 2u

#define CRIT_FILM_BYTES_MAX 0xfffffffeu
#define CRIT_FILM_GROUPS 2

/* Kinds of waits are the caller's, but for the one that counts as nobody's waiting. */
#define CRIT_FILM_HOLD 0 /* an object's holder, a thread's creator */

struct crit_film_entry {
	uint64_t time_ns; /* run clock */
	uint32_t node;
	uint32_t number; /* of the wait, not again before all is written of it; UNTIL: the bucket */
	/*
	 * WAIT and END of a thread: what an UNTIL, or a FROM, before it would tell, and 1; 0:
	 * nothing.  CAUSE: the node that waits.
	 */
	uint32_t more;
	uint8_t type; /* enum crit_film_type */
	uint8_t kind;
	uint16_t unused; /* so that all bytes of a file are defined */
};

/* It may come later than others of later times. */
static inline bool crit_film_is_late(enum crit_film_type type)
{
	return type >= CRIT_FILM_CAUSE && type <= CRIT_FILM_BIRTH;
}

/* It is of what a thread has and does: a CPU or none, sleep. */
static inline bool crit_film_is_state(uint8_t type)
{
	return type >= CRIT_FILM_QUEUE && type <= CRIT_FILM_WAKE;
}

/* A bucket as an entry of a wait tells it. */
static inline uint32_t crit_film_tell(uint32_t bucket)
{
	return bucket + 1;
}

static inline bool crit_film_tells(const struct crit_film_entry *entry)
{
	return entry->type <= CRIT_FILM_END && entry->more;
}

/* Range: of an entry that tells one. */
static inline uint32_t crit_film_told(const struct crit_film_entry *entry)
{
	return entry->more - 1;
}

/*
 * A RUN may tell that the thread had no CPU for the last so many ns before it alone, as is known
 * then, and one since its QUEUE until there.
 */
static inline void crit_film_tell_without(struct crit_film_entry *run, uint64_t ns)
{
	run->number = (uint32_t)(ns + 1);
	run->more = (uint32_t)((ns + 1) >> 32);
}

static inline bool crit_film_tells_without(const struct crit_film_entry *entry)
{
	return entry->type == CRIT_FILM_RUN && (entry->number || entry->more);
}

/* Since when it had none.  Range: of a RUN that tells. */
static inline uint64_t crit_film_without_since(const struct crit_film_entry *run)
{
	const uint64_t ns = ((uint64_t)run->more << 32 | run->number) - 1;

	return ns < run->time_ns ? run->time_ns - ns : 0;
}

/* A set of types. */
static inline uint32_t crit_film_type_bit(uint8_t type)
{
	return 1u << (type & 31);
}

#define CRIT_FILM_LATE_TYPES /* crit_film_is_late of them */                                       \
	((1u << (CRIT_FILM_BIRTH + 1)) - (1u << CRIT_FILM_CAUSE))
#define CRIT_FILM_CPU_TYPES (1u << CRIT_FILM_QUEUE | 1u << CRIT_FILM_RUN)

#endif
