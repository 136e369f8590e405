/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Each CPU's own ring, for records of what is told with interrupts off: switches and wakeups.
 *
 * Nobody else writes there, so it needs no lock, and whose switches are many delays no other CPU.
 */
#ifndef CRIT_CPU_RING_BPF_H
#define CRIT_CPU_RING_BPF_H

#include "bpf/vmlinux_min.h"

#include <bpf/bpf_helpers.h>

#include "bpf/member.bpf.h"
#include "bpf/record.bpf.h"
#include "core/abi/abi_cpu_ring.h"
#include "core/abi/abi_kernel.h"

/* Set by critd before load: how much of each ring is used, a power of two. */
const volatile __u64 cpu_ring_bytes;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* critd sets it */
	__type(key, __u32);
	__type(value, struct crit_cpu_ring);
} cpu_rings SEC(".maps");

static __always_inline struct crit_cpu_ring *ring_here(void)
{
	const __u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpu_rings, &cpu);
}

/*
 * What is stamped from here to end_telling is told, so critd waits for it.  Answers the ring; NULL,
 * and one more is lost: the CPU was plugged in later, or interrupted in between in spite of all.
 */
static __always_inline struct crit_cpu_ring *begin_telling(__u32 run_number)
{
	struct crit_cpu_ring *ring = ring_here();

	if (!ring || ring->is_telling) {
		count_lost(run_number);
		return NULL;
	}
	*(volatile __u32 *)&ring->is_telling = 1;
	return ring;
}

/* A record of nothing. */
VERIFIED_ONCE int wake_critd(void)
{
	struct crit_kernel_head nothing = { .kind = CRIT_K_NONE };

	return (int)bpf_ringbuf_output(&records, &nothing, sizeof(nothing), BPF_RB_FORCE_WAKEUP);
}

/* critd looks now and then; where a ring is half full by then it is to look at once. */
static __always_inline void end_telling(struct crit_cpu_ring *ring)
{
	*(volatile __u32 *)&ring->is_telling = 0;
	if (ring->end - ring->begin <= cpu_ring_bytes / 2 || ring->is_woken)
		return;
	ring->is_woken = 1;
	wake_critd();
}

/* Room for a record, while something is told; NULL, and one more is lost: the ring is full. */
static __always_inline void *open_record(struct crit_cpu_ring *ring, __u32 run_number, __u32 bytes)
{
	if (ring && ring->end + bytes - ring->begin <= cpu_ring_bytes)
		return ring->bytes + (ring->end & (cpu_ring_bytes - 8));
	count_lost(run_number);
	return NULL;
}

/* Where processors may show stores to others in another order, critd waits until all are seen. */
static __always_inline void advance(struct crit_cpu_ring *ring, __u32 bytes)
{
	barrier();
	*(volatile __u64 *)&ring->end += bytes;
	barrier();
}

/* record: begins with its head. */
static __always_inline void close_record(struct crit_cpu_ring *ring, void *record, __u32 bytes)
{
	((struct crit_kernel_head *)record)->kind |= (__u16)CRIT_CPU_RING_SIZE(bytes);
	advance(ring, bytes);
}

#endif
