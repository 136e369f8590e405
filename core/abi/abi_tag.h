/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The tag word: what a thread is doing, in the 64 bits the kernel half copies at every switch-out.
 *
 * A shimmed thread owns one tag word in initial-exec TLS.  The shim stores it after the ring record
 * that announces the change, so the ring sequence in it orders switches and transitions exactly.
 *
 *   63        40 39      20 19    10 9     6 5      0
 *   | sequence  | region   | call   | class | buffer |
 *
 * sequence: ring slots written so far by this thread's buffer, modulo 2^24.  buffer: modulo 64, a
 * check only.  A tag of zero means "no shim has spoken for this thread".
 */
#ifndef CRIT_ABI_TAG_H
#define CRIT_ABI_TAG_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

enum crit_span_class {
	CRIT_CLASS_NONE = 0, /* no shim: counts as user */
	CRIT_CLASS_SETUP = 1, /* outside the rank's part of the window */
	CRIT_CLASS_USER = 2,
	CRIT_CLASS_MPI = 3,
	CRIT_CLASS_MPI_MAY_WAIT = 4,
	CRIT_CLASS_MPI_POLL = 5,
	CRIT_CLASS_MPI_WAIT = 6,
	CRIT_CLASS_OMP = 7,
	CRIT_CLASS_OMP_WAIT = 8,
	CRIT_CLASS_OMP_IDLE = 9,
	CRIT_CLASS_COUNT = 10
};

#define CRIT_TAG_BUFFER_SHIFT 0
#define CRIT_TAG_BUFFER_BITS 6
#define CRIT_TAG_CLASS_SHIFT 6
#define CRIT_TAG_CLASS_BITS 4
#define CRIT_TAG_CALL_SHIFT 10
#define CRIT_TAG_CALL_BITS 10
#define CRIT_TAG_REGION_SHIFT 20
#define CRIT_TAG_REGION_BITS 20
#define CRIT_TAG_SEQUENCE_SHIFT 40
#define CRIT_TAG_SEQUENCE_BITS 24

/* Call numbers: 0 none, 1..767 MPI (core/abi/mpi_calls.def), 768..1023 OpenMP constructs. */
#define CRIT_CALL_OMP_FIRST 768u

#define CRIT_TAG_FIELD(tag, NAME)                                                                  \
	(((tag) >> CRIT_TAG_##NAME##_SHIFT) & ((1ull << CRIT_TAG_##NAME##_BITS) - 1))

static inline __u64 crit_tag_pack(__u64 sequence, __u32 region, __u32 call, __u32 span_class,
				  __u32 buffer)
{
	return sequence << CRIT_TAG_SEQUENCE_SHIFT |
	       (__u64)(region & ((1u << CRIT_TAG_REGION_BITS) - 1)) << CRIT_TAG_REGION_SHIFT |
	       (__u64)(call & ((1u << CRIT_TAG_CALL_BITS) - 1)) << CRIT_TAG_CALL_SHIFT |
	       (__u64)(span_class & ((1u << CRIT_TAG_CLASS_BITS) - 1)) << CRIT_TAG_CLASS_SHIFT |
	       (__u64)(buffer & ((1u << CRIT_TAG_BUFFER_BITS) - 1)) << CRIT_TAG_BUFFER_SHIFT;
}

#endif
