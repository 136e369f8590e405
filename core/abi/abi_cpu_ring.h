/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The ring of a CPU, in memory that BPF writes and critd reads: a value of the map `cpu_rings`.
 *
 * Records follow each other by the time of their stamps, without anything in between; each is whole
 * from where it begins, so the last of a round reaches beyond the part that is used.  Positions
 * grow for ever.  A record's head says there which run it is of, as in the BPF ring buffer, and its
 * kind has its size above it.
 */
#ifndef CRIT_ABI_CPU_RING_H
#define CRIT_ABI_CPU_RING_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define CRIT_CPU_RING_BYTES (1u << 20) /* at most */
#define CRIT_CPU_RING_RECORD 80u /* no record is larger; a multiple of 16 */

/* Of a record of bytes, in its kind; bytes: a multiple of 8, below 2048. */
#define CRIT_CPU_RING_SIZE(bytes) ((bytes) / 8u << 8)
#define CRIT_CPU_RING_KIND 0xffu

struct crit_cpu_ring {
	__u64 end; /* position behind the last record; BPF writes it */
	__u32 is_telling; /* what is being told may have an earlier stamp than what is read now */
	__u32 is_woken; /* critd is, for half of it is full; critd takes that back */
	__u64 reserved_0[6];
	__u64 begin; /* of what critd has not read yet; critd writes it */
	__u64 reserved_1[7];
	__u8 bytes[CRIT_CPU_RING_BYTES + 4096 - 128];
};

#ifndef __VMLINUX_H__
_Static_assert(sizeof(struct crit_cpu_ring) == CRIT_CPU_RING_BYTES + 4096, "CPU ring");
#endif

#endif
