/* SPDX-License-Identifier: BSD-3-Clause */
/* What an analysis yields about each node: what was recorded there, how well, and by whom. */
#ifndef CRIT_NODE_RESULTS_H
#define CRIT_NODE_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/attribution.h"
#include "core/abi/abi_recording.h"

enum crit_clock_kind { /* how a node's clock is known */
	CRIT_CLOCK_NONE = 0,
	CRIT_CLOCK_REFERENCE, /* it is the run's */
	CRIT_CLOCK_COMPARED, /* at both ends of the run */
	CRIT_CLOCK_COMPARED_ONCE,
	CRIT_CLOCK_SAME, /* the same boot as a node whose clock is known */
	CRIT_CLOCK_WALL, /* by the nodes' wall clocks */
	CRIT_CLOCK_KIND_COUNT
};

#define CRIT_CLOCK_UNBOUND UINT64_MAX

enum crit_kernel_half { /* who told of kernel states */
	CRIT_HALF_NONE = 0, /* nobody: shims only */
	CRIT_HALF_BPF,
	CRIT_HALF_PERF, /* perf events: no wakeups, no tags */
	CRIT_HALF_COUNT
};

/*
 * When a node's CPUs were the limit: active threads ran on all of them, or one of these was
 * runnable; or nobody was active, and one that waits was runnable, so it could not see what came.
 */
struct crit_cpu_shortage {
	uint64_t full_ns; /* with n >= 1 */
	uint64_t full_unit_ns[CRIT_UNIT_COUNT]; /* integral of n over that time */
	uint64_t waiting_ns; /* with n = 0 */
};

struct crit_hosts { /* names of nodes, each once (analysis/model/hosts.h) */
	char (*names)[CRIT_WORLD_BYTES];
	size_t count, capacity;
};

struct crit_node_row {
	char host[CRIT_WORLD_BYTES];
	char run_key[CRIT_RUN_KEY_BYTES]; /* "" unknown */
	char kernel_release[CRIT_WORLD_BYTES];
	uint32_t cpu_count;
	double usable_cpus; /* by affinity masks and quotas; 0 not known */
	enum crit_kernel_half kernel_half;
	int32_t kernel_status; /* 0, or -errno why it is not BPF */
	int32_t perf_status; /* as in struct crit_rec_file */
	int32_t perf_paranoid;
	uint32_t level; /* asked for */
	uint64_t fallback_ns; /* run clock when trace fell back to profile; 0 never */
	uint64_t cap_ns; /* run clock when the cap ended the recording; 0 never */
	uint64_t end_ns; /* last stamp */
	enum crit_clock_kind clock_kind;
	int64_t clock_offset_ns; /* run clock minus its own, when first compared */
	int64_t clock_drift_ppb; /* of the offset */
	/* of the offset, what keeps messages in order (clock_corrections.h) */
	int64_t clock_correction_ns;
	uint64_t clock_bound_ns; /* the true offset is within; CRIT_CLOCK_UNBOUND: nobody knows */
	int32_t sample_error; /* -errno that kept critd from sampling some threads, 0 none */
	int32_t output_error; /* -errno of critd's writer, 0 none */
	bool has_window; /* WINDOW chunk seen */
	bool has_foot; /* FOOT chunk seen: critd ended well */
	bool is_unread; /* nothing of its recording could be read */
	uint64_t corrupt_chunks; /* what its recording lacks */
	uint64_t truncated_bytes;
	uint64_t missing_chunks;
	uint64_t lost_kernel_records;
	uint64_t lost_spans;
	uint64_t kernel_record_count;
	uint64_t slot_count;
	uint64_t critd_cpu_ns;
	uint64_t busy_ns; /* CPU time of all member threads in the window, waits left out */
	struct crit_cpu_shortage shortage;
	uint64_t recording_bytes;
};

#endif
