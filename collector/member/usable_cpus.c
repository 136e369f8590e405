// SPDX-License-Identifier: BSD-3-Clause
// Looks at affinity masks and quotas of processes in turn, and records what is new.
#include "collector/member/usable_cpus.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/system/procfs.h"
#include "collector/loop/server.h"
#include "core/base/cleanup.h"
#include "core/base/hash.h"

#define PAUSE_MIN_NS 100000000ull /* between looks; doubled from look to look */
#define PAUSE_MAX_NS 1000000000ull
#define LOOK_WORTH 16 /* what a look costs beside its threads, counted in threads */
#define WORTH_PER_STEP 1024
#define ENTRY_WORDS_MAX (1u + CRIT_CPU_WORDS_MAX)

struct look { /* at the threads of a process */
	__u64 *entries; /* of 1 + word_count words each: number, mask */
	__u32 count;
	__u32 word_count; /* the same for all: the kernel's own size of a mask */
	bool is_alike; /* all masks so far */
};

static __u64 *entry_of(const struct look *look, __u32 index)
{
	return look->entries + (size_t)index * (1 + look->word_count);
}

static int add_thread(void *context, __u32 tid)
{
	struct look *look = context;
	__u64 *entry = entry_of(look, look->count);
	const size_t room = (look->count ? look->word_count : CRIT_CPU_WORDS_MAX) * sizeof(*entry);
	const long bytes = syscall(SYS_sched_getaffinity, tid, room, entry + 1);

	if (bytes <= 0) /* it ended */
		return 0;
	if (look->count == 0)
		look->word_count = (__u32)bytes / sizeof(*entry);
	entry[0] = tid;
	look->is_alike = look->is_alike && memcmp(entry + 1, look->entries + 1, (size_t)bytes) == 0;
	return ++look->count == CRIT_CPU_THREADS_MAX;
}

static void put(struct crit_client_process *process, const struct look *look,
		const struct crit_rec_cpu_limit *limits, __u32 limit_count, __u64 now_ns)
{
	struct {
		struct crit_rec_usable_cpus head;
		struct crit_rec_cpu_limit limits[CRIT_CPU_LIMITS_MAX];
	} record = { .head = { .pid = process->pid,
			       .limit_count = limit_count,
			       .thread_count = look->count,
			       .word_count = look->word_count,
			       .time_ns = now_ns } };
	const size_t entry_bytes = (1 + look->word_count) * sizeof(*look->entries);

	memcpy(record.limits, limits, limit_count * sizeof(*limits));
	crit_run_put(process->run, CRIT_C_USABLE_CPUS, 0, now_ns,
		     (const struct crit_chunk_part[2]){
			     { &record, sizeof(record.head) + limit_count * sizeof(*limits) },
			     { look->entries, look->count * entry_bytes } });
}

static __u64 digest(const struct look *look, const struct crit_rec_cpu_limit *limits,
		    __u32 limit_count)
{
	const size_t words = (size_t)look->count * (1 + look->word_count);
	__u64 value = crit_hash_mix(1, limit_count);

	for (__u32 i = 0; i < limit_count; i++)
		value = crit_hash_mix(crit_hash_mix(value, limits[i].cgroup),
				      limits[i].cpu_millionths);
	for (size_t i = 0; i < words; i++)
		value = crit_hash_mix(value, look->entries[i]);
	return value ? value : 1;
}

void crit_usable_cpus_begin(struct crit_client_process *process, enum crit_usable_start start,
			    __u64 now_ns)
{
	static const __u64 delays_ns[CRIT_USABLE_START_COUNT] = {
		[CRIT_USABLE_SOON] = PAUSE_MIN_NS,
		[CRIT_USABLE_IN_INIT] = 2000000000u,
	};

	process->usable.seen = 0;
	process->usable.due_ns = now_ns + delays_ns[start];
	process->usable.pause_ns = PAUSE_MIN_NS;
}

__u32 crit_usable_cpus_look(struct crit_server *server, struct crit_client_process *process,
			    __u64 now_ns)
{
	crit_autofree __u64 *entries =
		malloc(CRIT_CPU_THREADS_MAX * ENTRY_WORDS_MAX * sizeof(__u64));
	struct look look = { .entries = entries, .is_alike = true };
	struct crit_rec_cpu_limit limits[CRIT_CPU_LIMITS_MAX];
	__u32 threads, limit_count;
	__u64 seen;

	process->usable.due_ns = now_ns + process->usable.pause_ns;
	process->usable.pause_ns *= 2;
	if (process->usable.pause_ns > PAUSE_MAX_NS)
		process->usable.pause_ns = PAUSE_MAX_NS;
	if (!entries ||
	    crit_procfs_each_tid(server->proc_fd, process->pid, add_thread, &look) < 0 ||
	    look.count == 0)
		return 0;
	threads = look.count;
	limit_count = crit_cgroups_limits(&server->cgroups, server->proc_fd, process->pid, now_ns,
					  limits);
	if (look.is_alike) {
		look.count = 1;
		entries[0] = 0;
	}
	seen = digest(&look, limits, limit_count);
	if (seen != process->usable.seen)
		put(process, &look, limits, limit_count, now_ns);
	process->usable.seen = seen;
	return threads;
}

void crit_usable_cpus_step(struct crit_server *server, __u64 now_ns)
{
	__u32 worth = 0;

	for (__u32 i = 0; i < server->process_end && worth < WORTH_PER_STEP; i++) {
		struct crit_client_process *process;

		if (server->usable_next >= server->process_end)
			server->usable_next = 0;
		process = server->processes[server->usable_next++];
		if (!process || process->is_expelled || process->run->is_stopped ||
		    now_ns < process->usable.due_ns)
			continue;
		worth += LOOK_WORTH + crit_usable_cpus_look(server, process, now_ns);
	}
}
