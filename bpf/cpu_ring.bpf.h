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

/* What is stamped between these two is told. */
static __always_inline void begin_telling(struct crit_cpu_ring *ring)
{
	*(volatile __u32 *)&ring->is_telling = 1;
}

static __always_inline void end_telling(struct crit_cpu_ring *ring)
{
	*(volatile __u32 *)&ring->is_telling = 0;
}

/*
 * Room for a record, or NULL, and one more is lost: the ring is full.  What is stamped after this,
 * and before close_record, critd waits for.  It is open already where an interrupt came in between
 * in spite of all, and finds that it is told of nowhere.
 */
static __always_inline void *open_record(struct crit_cpu_ring *ring, __u32 run_number, __u32 bytes)
{
	if (ring && !ring->is_open && ring->end + bytes - ring->begin <= cpu_ring_bytes) {
		ring->is_open = 1;
		barrier();
		return ring->bytes + (ring->end & (cpu_ring_bytes - 8));
	}
	__sync_fetch_and_add(&counters_of(run_number)->lost, 1);
	return NULL;
}

/* Where processors may show stores to others in another order, an atomic addition orders them. */
static __always_inline void advance(struct crit_cpu_ring *ring, __u32 bytes)
{
#if defined(__TARGET_ARCH_x86)
	barrier();
	*(volatile __u64 *)&ring->end += bytes;
	barrier();
#else
	__sync_fetch_and_add(&ring->end, bytes);
#endif
}

/* record: begins with its head. */
static __always_inline void close_record(struct crit_cpu_ring *ring, void *record, __u32 bytes)
{
	((struct crit_kernel_head *)record)->kind |= (__u16)CRIT_CPU_RING_SIZE(bytes);
	advance(ring, bytes);
	ring->is_open = 0;
}

#endif
