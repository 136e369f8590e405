/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slots of a thread buffer's ring (core/abi/abi_shim.h): what a thread tells, 32 bytes each, in
 * order.  A record of several slots goes on in slots of kind CONTINUED.
 *
 * Everything here is untrusted to critd and to analysis.
 */
#ifndef CRIT_ABI_SLOT_H
#define CRIT_ABI_SLOT_H

#include <linux/types.h>

#define CRIT_SLOT_BYTES 32u

enum crit_slot_kind {
	CRIT_S_NONE = 0,
	CRIT_S_ENTER = 1, /* span begins: call, region, site */
	CRIT_S_LEAVE = 2, /* innermost span ends: call */
	CRIT_S_POLL = 3, /* whole poll span, two slots: this and CONTINUED */
	CRIT_S_CONTINUED = 4, /* second slot of the record before it */
	CRIT_S_DETAIL =
		5, /* struct crit_slot_detail: no stamp; part of the LEAVE or POLL after it */
	CRIT_S_COMM =
		6, /* struct crit_slot_comm: no stamp; a communicator, window or file is known */
	CRIT_S_REGION = 7, /* struct crit_slot_region: no stamp; a region is known */
	CRIT_S_WORKER = 8, /* from here on the thread is an OpenMP worker: omp_idle outside spans */
	CRIT_S_RELEASE = 9, /* a lock is released: call as its wait's, arg = the lock */
	CRIT_S_LEVEL = 10, /* from here on this thread records at level "call"; arg = tau in ns;
			      site = what the user left out, see below */
	CRIT_S_TASK = 11, /* call = enum crit_omp_task_note, arg = the task */
	CRIT_S_COUNT = 12
};

struct crit_slot { /* 32 bytes */
	__u64 time_ns; /* host CLOCK_MONOTONIC; POLL: begin of the first failing call */
	__u8 kind;
	__u8 slots; /* slots this record takes, 1 or 2 */
	__u16 call;
	__u32 region; /* ENTER: in force inside; POLL: low 32 bits of the calls merged */
	__u64 site; /* return address of the wrapper, code address of a construct; 0 unknown */
	__u64 arg; /* LEAVE: details lost; POLL: end, host CLOCK_MONOTONIC; LEVEL: tau;
		      ENTER: of a parallel region its instance, see below, of a wait for a lock
		      the lock, of a task its number */
};

/*
 * Explicit tasks are told at level trace.  A task's number says who made it: the thread buffer,
 * above bit 32, and the slot that says so, its low 32 bits plus 1.  0: nobody was told that it was
 * made.
 */
enum crit_omp_task_note {
	CRIT_OMP_TASK_MADE = 1,
	CRIT_OMP_TASK_PAUSED = 2, /* the span that ends next is not the task's last */
};

#define CRIT_OMP_TASK_BUFFER_SHIFT 32
#define CRIT_OMP_TASK_BITS 44

/*
 * An execution of a parallel region is an instance, numbered in its process from 1.  Every member
 * of its team enters the span CRIT_CONSTRUCT_PARALLEL with the instance; the primary thread from
 * before the fork to behind the join.  When the primary leaves, the region is over for all: what
 * workers tell later of that instance is the runtime's, and they are idle meanwhile.
 */
#define CRIT_INSTANCE_PRIMARY (1ull << 63)
#define CRIT_INSTANCE_TEAM_SHIFT 48 /* size of the team, requested or actual; 0 unknown */
#define CRIT_INSTANCE_TEAM_MAX 0x7fffu
#define CRIT_INSTANCE_NUMBER(arg) ((arg) & ((1ull << CRIT_INSTANCE_TEAM_SHIFT) - 1))
#define CRIT_INSTANCE_TEAM(arg) ((arg) >> CRIT_INSTANCE_TEAM_SHIFT & CRIT_INSTANCE_TEAM_MAX)

/* Left out: bit 1 << enum crit_call_group of each group that is off, and this: whole programs. */
#define CRIT_OMITS_PROGRAMS (1ull << 63) /* CRIT_INCLUDE or CRIT_EXCLUDE is set */

static inline int crit_slot_is_known(__u8 kind)
{
	return kind != CRIT_S_NONE && kind < CRIT_S_COUNT;
}

/* Does a slot of this kind begin with a stamp? */
static inline int crit_slot_has_stamp(__u8 kind)
{
	return crit_slot_is_known(kind) && kind != CRIT_S_CONTINUED && kind != CRIT_S_DETAIL &&
	       kind != CRIT_S_COMM && kind != CRIT_S_REGION;
}

struct crit_slot_poll2 { /* the slot after CRIT_S_POLL */
	__u64 gap_sum_ns; /* time between the calls, part of the span */
	__u8 kind; /* CRIT_S_CONTINUED */
	__u8 slots; /* 0 */
	__u16 reserved16;
	__u32 region;
	__u64 count; /* calls merged */
	__u64 details_lost;
};

/*
 * What a span did, one slot each, before the LEAVE or POLL that ends it and published with it.  All
 * at level trace; at level profile COLL and ICOLL of recorded spans only.
 */
enum crit_detail {
	CRIT_D_NONE = 0,
	CRIT_D_SEND = 1, /* blocking send */
	CRIT_D_RECV = 2, /* completed receive: source, tag and bytes as the status has them */
	CRIT_D_ISEND = 3, /* request: started; to PEER_NULL: it moves nothing */
	CRIT_D_IRECV = 4, /* request: posted; peer and tag as posted, bytes as posted */
	CRIT_D_SEND_INIT = 5, /* request: persistent or partitioned, inactive */
	CRIT_D_RECV_INIT = 6,
	CRIT_D_START = 7, /* request: an inactive one becomes active */
	CRIT_D_DONE = 8, /* request: complete; of a receive: source, tag, bytes of the status */
	CRIT_D_CANCELLED = 9, /* request: complete, cancelled */
	CRIT_D_FREED = 10, /* request: given up by its owner */
	CRIT_D_COLL = 11, /* collective: bytes sent, root as peer, sequence as tag, request:
			     bytes received */
	CRIT_D_ICOLL = 12, /* non-blocking: the same, but request; RECEIVED follows */
	CRIT_D_COLL_INIT = 13, /* persistent: the same, sequence -1; RECEIVED follows */
	CRIT_D_RECEIVED = 14, /* bytes received, of the detail before it */
	CRIT_D_PUT = 15, /* one-sided, comm: the window; peer: target; bytes of the origin */
	CRIT_D_GET = 16,
	CRIT_D_ATOMIC = 17, /* Accumulate, Fetch_and_op, Compare_and_swap, … */
	CRIT_D_READ = 18, /* file: bytes */
	CRIT_D_WRITE = 19,
	CRIT_D_FAILED = 20, /* the call returned an error: tag, a code of the library's own */
	CRIT_D_COMM_NAME = 21, /* of comm, 24 bytes of text: bytes, peer, tag, request */
	CRIT_D_COMM_NAME_MORE = 22, /* what follows there */
	CRIT_D_COUNT = 23
};

#define CRIT_PEER_ANY (-1) /* posted to any source; no root; any tag */
#define CRIT_PEER_NULL (-2) /* MPI_PROC_NULL */
#define CRIT_PEER_ROOT (-3) /* MPI_ROOT of an intercommunicator */
#define CRIT_BYTES_UNKNOWN (~0ull)

struct crit_slot_detail {
	__u64 bytes;
	__u8 kind; /* CRIT_S_DETAIL */
	__u8 slots; /* 1 */
	__u16 detail; /* enum crit_detail */
	__u32 comm; /* number of the communicator in this process, 0 unknown */
	__s32 peer; /* rank in the communicator (of an intercommunicator: in the remote group) */
	__s32 tag;
	__u64 request; /* the handle's value; it may be used again once its request is done */
};

/*
 * Communicators (windows, files) are numbered per process; 1 is MPI_COMM_WORLD, 2 is
 * MPI_COMM_SELF.  Two processes mean the same one when hash and nth agree.  Of one that all members
 * of another make together, the hash is of that one's name and of its own members' ordered world
 * ranks, and nth counts what was made of that one; MPI puts that into one order, whatever threads
 * do.  Of others the hash is of the members alone, and nth counts those with the same members in
 * the order of their creation.  No message is needed for it.
 */
#define CRIT_COMM_WORLD 1u
#define CRIT_COMM_SELF 2u
#define CRIT_COMM_IS_FREED 0x01u /* the number is over; only comm is set */
#define CRIT_COMM_IS_INTER 0x02u /* rank and size: the local group's; hash: of both groups */
#define CRIT_COMM_IS_SECOND 0x04u /* an intercommunicator's side: the larger hash */
#define CRIT_COMM_IS_WINDOW 0x08u
#define CRIT_COMM_IS_FOREIGN 0x10u /* has members of another world: hash means nothing */
#define CRIT_COMM_IS_FILE 0x20u

struct crit_slot_comm {
	__u64 hash;
	__u8 kind; /* CRIT_S_COMM */
	__u8 slots; /* 1 */
	__u16 flags;
	__u32 comm;
	__u32 nth;
	__s32 parent; /* number of the communicator it was made from, 0 none or unknown */
	__u32 rank; /* of this process */
	__u32 size;
};

/*
 * Regions are numbered per process, from 1; 0 is the program outside all of them.  A region is a
 * construct or phase together with the region it was begun in, so one number tells the whole
 * nesting, and the tag word has room for it.  A definition may come later than the first use and
 * may come twice.
 */
#define CRIT_REGIONS_MAX 65536u /* per process; constructs beyond keep the region around them */
#define CRIT_REGION_NAME_MAX 120u
#define CRIT_REGION_TEXT_BYTES 30u /* of the name, in each CONTINUED slot that follows */

struct crit_slot_region {
	__u64 site; /* code address of a construct; 0 of a phase */
	__u8 kind; /* CRIT_S_REGION */
	__u8 slots; /* 1 + CONTINUED slots of the name */
	__u16 call; /* CRIT_CONSTRUCT_PARALLEL, _TASK, _PHASE */
	__u32 region;
	__u32 parent;
	__u32 name_bytes; /* of a phase; 0 none */
	__u64 caller; /* return address of the call that begins it; 0: site is that one */
};

struct crit_slot_text { /* CRIT_S_CONTINUED of a region */
	char head[8]; /* the first bytes, then those of tail */
	__u8 kind; /* CRIT_S_CONTINUED */
	__u8 slots; /* 0 */
	char tail[CRIT_REGION_TEXT_BYTES - 8];
};

_Static_assert(sizeof(struct crit_slot) == CRIT_SLOT_BYTES, "slot");
_Static_assert(sizeof(struct crit_slot_poll2) == CRIT_SLOT_BYTES, "poll2");
_Static_assert(sizeof(struct crit_slot_detail) == CRIT_SLOT_BYTES, "detail");
_Static_assert(sizeof(struct crit_slot_comm) == CRIT_SLOT_BYTES, "communicator");
_Static_assert(sizeof(struct crit_slot_region) == CRIT_SLOT_BYTES, "region");
_Static_assert(sizeof(struct crit_slot_text) == CRIT_SLOT_BYTES, "text");
_Static_assert(__builtin_offsetof(struct crit_slot_detail, kind) == 8, "kind where slots have it");

#endif
