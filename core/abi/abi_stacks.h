/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of stacks on their way from critd to who unwinds them, the run's finisher: a ring in a
 * memfd that only critd can write.  Nothing of it reaches a file.
 *
 * Nobody waits for the reader: the oldest entries are overwritten, and the reader notices.  An
 * entry lies at position & (ring_bytes - 1) behind the head, and goes on at the ring's begin where
 * it meets its end.  An entry at position p that was copied out is whole if and only if
 * head->begun - p <= ring_bytes afterwards.
 *
 * Who lost its place goes on at a mark, where the first entry of a part of the ring begins.  That
 * of a part that an entry went beyond is of the round before, and lost like its entry.
 */
#ifndef CRIT_ABI_STACKS_H
#define CRIT_ABI_STACKS_H

#include <linux/types.h>

#define CRIT_STACKS_MAGIC 0x324b434154535243ull /* "CRSTACK2" */
#define CRIT_STACKS_HEAD_BYTES 4096u
#define CRIT_STACKS_RING_BYTES (16u << 20) /* of a second, at some hundred stacks of 31 KiB */

#define CRIT_STACKS_MARKS 64u /* as many parts, of one size */

struct crit_stacks_head { /* the first CRIT_STACKS_HEAD_BYTES of the memfd */
	__u64 magic; /* CRIT_STACKS_MAGIC */
	__u64 ring_bytes; /* behind the head; a power of two */
	/* up to where the ring may be overwritten by now: set before bytes are; counted since the
	 * begin, as all positions */
	__u64 begun;
	__u64 written; /* up to where entries are whole: set after they are */
	__u64 skipped; /* entries longer than a quarter of the ring */
	__u64 is_over; /* 1: no more entries come; critd wakes who waits for that (futex) */
	__u64 marks[CRIT_STACKS_MARKS]; /* of the ring's parts, in order; positions */
};

enum crit_stacks_kind {
	CRIT_STACKS_NONE = 0,
	CRIT_STACKS_COPY = 1, /* struct crit_stacks_copy, then the stack, padded to 8 */
	/* struct crit_stacks_entry, then the body of a CRIT_C_MAPS chunk, padded with zeros */
	CRIT_STACKS_MAPS = 2,
	CRIT_STACKS_COUNT = 3
};

struct crit_stacks_entry {
	__u32 kind; /* enum crit_stacks_kind */
	__u32 bytes; /* with this head, a multiple of 8 */
};

struct crit_stacks_copy {
	struct crit_stacks_entry entry;
	__u32 request; /* of the SAMPLE */
	__u32 pid;
	__u32 tid;
	__u32 stack_bytes; /* from sp upward */
	__u64 time_ns;
	__u64 ip; /* these four: of user mode */
	__u64 sp;
	__u64 bp;
	__u64 lr; /* of arm64 */
};

_Static_assert(sizeof(struct crit_stacks_head) == 48 + 8 * CRIT_STACKS_MARKS, "head of stacks");
_Static_assert(sizeof(struct crit_stacks_entry) == 8, "entry");
_Static_assert(sizeof(struct crit_stacks_copy) == 64, "copy of a stack");

#endif
