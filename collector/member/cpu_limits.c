// SPDX-License-Identifier: BSD-3-Clause
// Looks at the affinity masks and quotas of a process, and records what is new.
#include "collector/member/cpu_limits.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/member/cgroups.h"
#include "collector/record/run.h"
#include "collector/system/procfs.h"
#include "core/base/cleanup.h"
#include "core/base/hash.h"

#define PAUSE_MIN_NS 100000000ull /* between looks; doubled from look to look */
#define PAUSE_MAX_NS 1000000000ull
#define ENTRY_WORDS_MAX (1u + CRIT_CPU_WORDS_MAX)

struct look { /* at the threads of a process */
	uint64_t *entries; /* of 1 + word_count words each: number, mask */
	uint32_t count;
	uint32_t word_count; /* the same for all: the kernel's own size of a mask */
	bool is_alike; /* all masks so far */
};

static uint64_t *entry_of(const struct look *look, uint32_t index)
{
	return look->entries + (size_t)index * (1 + look->word_count);
}

static int add_thread(void *context, uint32_t tid)
{
	struct look *look = context;
	uint64_t *entry = entry_of(look, look->count);
	const size_t room = (look->count ? look->word_count : CRIT_CPU_WORDS_MAX) * sizeof(*entry);
	const long bytes = syscall(SYS_sched_getaffinity, tid, room, entry + 1);

	if (bytes <= 0) /* it ended */
		return 0;
	if (look->count == 0)
		look->word_count = (uint32_t)bytes / sizeof(*entry);
	entry[0] = tid;
	look->is_alike = look->is_alike && memcmp(entry + 1, look->entries + 1, (size_t)bytes) == 0;
	return ++look->count == CRIT_CPU_THREADS_MAX;
}

static void put(struct crit_run *run, uint32_t pid, const struct look *look,
		const struct crit_rec_cpu_limit *limits, uint32_t limit_count, uint64_t now_ns)
{
	struct {
		struct crit_rec_usable_cpus head;
		struct crit_rec_cpu_limit limits[CRIT_CPU_LIMITS_MAX];
	} record = { .head = { .pid = pid,
			       .limit_count = limit_count,
			       .thread_count = look->count,
			       .word_count = look->word_count,
			       .time_ns = now_ns } };
	const size_t entry_bytes = (1 + look->word_count) * sizeof(*look->entries);

	memcpy(record.limits, limits, limit_count * sizeof(*limits));
	crit_run_put(run, CRIT_C_USABLE_CPUS, 0, now_ns,
		     (const struct crit_chunk_part[2]){
			     { &record, sizeof(record.head) + limit_count * sizeof(*limits) },
			     { look->entries, look->count * entry_bytes } });
}

static uint64_t digest(const struct look *look, const struct crit_rec_cpu_limit *limits,
		       uint32_t limit_count)
{
	const size_t words = (size_t)look->count * (1 + look->word_count);
	uint64_t value = crit_hash_mix(1, limit_count);

	for (uint32_t i = 0; i < limit_count; i++)
		value = crit_hash_mix(crit_hash_mix(value, limits[i].cgroup),
				      limits[i].cpu_millionths);
	for (size_t i = 0; i < words; i++)
		value = crit_hash_mix(value, look->entries[i]);
	return value ? value : 1;
}

void crit_cpu_limits_begin(struct crit_cpu_limits *state, enum crit_cpu_limits_start start,
			   uint64_t now_ns)
{
	static const uint64_t delays_ns[CRIT_CPU_LIMITS_START_COUNT] = {
		[CRIT_CPU_LIMITS_SOON] = PAUSE_MIN_NS,
		[CRIT_CPU_LIMITS_IN_INIT] = 2000000000u,
	};

	state->seen = 0;
	state->due_ns = now_ns + delays_ns[start];
	state->pause_ns = PAUSE_MIN_NS;
}

uint32_t crit_cpu_limits_look(struct crit_cpu_limits *state, struct crit_cgroups *cgroups,
			      int proc_fd, struct crit_run *run, uint32_t pid, uint64_t now_ns)
{
	crit_autofree uint64_t *entries =
		malloc(CRIT_CPU_THREADS_MAX * ENTRY_WORDS_MAX * sizeof(uint64_t));
	struct look look = { .entries = entries, .is_alike = true };
	struct crit_rec_cpu_limit limits[CRIT_CPU_LIMITS_MAX];
	uint32_t threads, limit_count;
	uint64_t seen;

	state->due_ns = now_ns + state->pause_ns;
	state->pause_ns *= 2;
	if (state->pause_ns > PAUSE_MAX_NS)
		state->pause_ns = PAUSE_MAX_NS;
	if (!entries || crit_procfs_each_tid(proc_fd, pid, add_thread, &look) < 0 ||
	    look.count == 0)
		return 0;
	threads = look.count;
	limit_count = crit_cgroups_limits(cgroups, proc_fd, pid, now_ns, limits);
	if (look.is_alike) {
		look.count = 1;
		entries[0] = 0;
	}
	seen = digest(&look, limits, limit_count);
	if (seen != state->seen)
		put(run, pid, &look, limits, limit_count, now_ns);
	state->seen = seen;
	return threads;
}
