// SPDX-License-Identifier: BSD-3-Clause
// Keeps the processes in queues, one for each distance between two readings.
#include "collector/member/memory_maps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/member/meter.h"
#include "collector/record/run.h"
#include "collector/system/now.h"
#include "collector/system/procfs.h"
#include "collector/system/workers.h"
#include "core/base/clock.h"
#include "core/base/hash.h"

#define MS 1000000ull
#define PROCESSES_MAX 8192u
#define BUCKETS 4096u
#define READINGS_MAX 8u /* at a time */
#define PART_OF_CAP 16 /* that texts may take of a recording */
#define SHORT_LIFE_NS (100 * MS) /* who ends before that without maps is not missed */

enum step { /* a queue each */
	STEP_EXECED = 0,
	STEP_FORKED = 1,
	STEP_AGAIN = 2, /* and the next ones, where nothing changed */
	STEP_COUNT = 7
};

/* At most ten readings per second of a process. */
static const uint64_t distances_ns[STEP_COUNT] = { 0,        20 * MS,  100 * MS, 200 * MS,
						   400 * MS, 800 * MS, 1600 * MS };

struct mapped_process {
	struct mapped_process *chain; /* of its bucket; of those free */
	struct mapped_process *before, *after; /* in its queue */
	struct crit_run *run;
	uint32_t pid;
	uint32_t reading_count; /* tells a reading of this image from an earlier one's */
	enum step step;
	bool is_queued;
	bool has_shim;
	bool has_maps; /* of this image */
	uint64_t due_ns;
	uint64_t begin_ns; /* of this image */
	uint64_t end_ns; /* not 0: it is over, but for a reading */
	uint64_t read_ns; /* last time */
	uint64_t digest;
};

struct maps_reading {
	struct crit_task task;
	struct mapped_process *process; /* NULL: free */
	int proc_fd;
	uint32_t pid;
	uint32_t number; /* the process's count when it began */
	long bytes; /* or -errno */
	uint64_t begin_ns;
	uint64_t end_ns; /* written last; 0: at work */
	uint64_t cpu_ns;
	uint64_t digest;
	char text[CRIT_MAPS_BYTES];
};

struct queue {
	struct mapped_process *first, *last;
};

struct crit_memory_maps {
	int proc_fd;
	struct crit_meter *meter;
	struct crit_workers *workers;
	struct queue queues[STEP_COUNT];
	struct mapped_process *buckets[BUCKETS];
	struct mapped_process *free;
	uint32_t used; /* of the processes, ever */
	uint32_t reading_count; /* at work, or not yet collected */
	struct maps_reading readings[READINGS_MAX];
	struct mapped_process processes[PROCESSES_MAX];
};

int crit_memory_maps_create(int proc_fd, struct crit_meter *meter,
			    struct crit_memory_maps **ret_maps)
{
	struct crit_memory_maps *maps = calloc(1, sizeof(*maps));
	int rc = maps ? crit_workers_create(&maps->workers) : -ENOMEM;

	if (rc) {
		free(maps);
		return rc;
	}
	maps->proc_fd = proc_fd;
	maps->meter = meter;
	*ret_maps = maps;
	return 0;
}

bool crit_memory_maps_destroy(struct crit_memory_maps *maps)
{
	if (!maps)
		return true;
	if (!crit_workers_destroy(maps->workers, NULL))
		return false;
	free(maps);
	return true;
}

uint64_t crit_memory_maps_digest(const char *text, size_t bytes)
{
	const char *const end = text + bytes;
	uint64_t hash = CRIT_HASH_EMPTY;
	const char *next;

	for (const char *line = text; line < end; line = next + 1) {
		const char *permissions;

		next = memchr(line, '\n', (size_t)(end - line));
		if (!next) /* cut */
			break;
		permissions = memchr(line, ' ', (size_t)(next - line));
		if (permissions && next - permissions > 4 && permissions[3] == 'x' &&
		    memchr(permissions, '/', (size_t)(next - permissions)))
			hash = crit_hash_bytes(hash, line, (size_t)(next - line));
	}
	return hash;
}

static struct mapped_process **bucket_of(struct crit_memory_maps *maps, uint32_t pid)
{
	return &maps->buckets[pid % BUCKETS];
}

static struct mapped_process *find(struct crit_memory_maps *maps, uint32_t pid)
{
	struct mapped_process *process = *bucket_of(maps, pid);

	while (process && process->pid != pid)
		process = process->chain;
	return process;
}

static void dequeue(struct crit_memory_maps *maps, struct mapped_process *process)
{
	struct queue *queue = &maps->queues[process->step];

	if (!process->is_queued)
		return;
	*(process->before ? &process->before->after : &queue->first) = process->after;
	*(process->after ? &process->after->before : &queue->last) = process->before;
	process->is_queued = false;
}

/* Each queue is in order: all in it wait for the same time. */
static void enqueue(struct crit_memory_maps *maps, struct mapped_process *process, enum step step,
		    uint64_t now_ns)
{
	struct queue *queue = &maps->queues[step];

	dequeue(maps, process);
	process->step = step;
	process->due_ns = now_ns + distances_ns[step];
	process->before = queue->last;
	process->after = NULL;
	*(queue->last ? &queue->last->after : &queue->first) = process;
	queue->last = process;
	process->is_queued = true;
}

/* Another image, or process: no reading that has begun is about it. */
static void begin(struct mapped_process *process, struct crit_run *run, uint64_t begin_ns)
{
	process->run = run;
	process->reading_count++;
	process->has_shim = false;
	process->has_maps = false;
	process->begin_ns = begin_ns;
	process->end_ns = 0;
}

/* The image is over: are its maps missed? */
static void count_missed(const struct mapped_process *process, uint64_t now_ns)
{
	if (process->run && !process->has_shim && !process->has_maps &&
	    now_ns > process->begin_ns + SHORT_LIFE_NS)
		process->run->maps_missed++;
}

static void forget(struct crit_memory_maps *maps, struct mapped_process *process)
{
	struct mapped_process **place = bucket_of(maps, process->pid);

	dequeue(maps, process);
	while (*place != process)
		place = &(*place)->chain;
	*place = process->chain;
	process->reading_count++;
	process->chain = maps->free;
	maps->free = process;
}

/* The process with this number, new or known; NULL where there are too many. */
static struct mapped_process *find_or_add(struct crit_memory_maps *maps, struct crit_run *run,
					  uint32_t pid)
{
	struct mapped_process *process = find(maps, pid);
	struct mapped_process **bucket = bucket_of(maps, pid);

	if (process)
		return process;
	if (maps->free) {
		process = maps->free;
		maps->free = process->chain;
	} else if (maps->used < PROCESSES_MAX) {
		process = &maps->processes[maps->used++];
	} else {
		run->maps_missed++;
		return NULL;
	}
	process->pid = pid;
	process->run = NULL;
	process->read_ns = 0;
	process->chain = *bucket;
	*bucket = process;
	return process;
}

/* Did it register after this record, which is told of later? */
static bool is_late(const struct mapped_process *process, const struct crit_run *run,
		    uint64_t time_ns)
{
	return process->run == run && process->begin_ns > time_ns;
}

static void on_born(struct crit_memory_maps *maps, struct crit_run *run, uint32_t pid,
		    enum step step, uint64_t time_ns)
{
	struct mapped_process *process = find_or_add(maps, run, pid);

	if (!process || is_late(process, run, time_ns))
		return;
	begin(process, run, time_ns);
	enqueue(maps, process, step, crit_now_ns());
}

static void on_exec(struct crit_memory_maps *maps, struct crit_run *run,
		    const struct crit_kernel_exec *exec, uint64_t time_ns)
{
	struct mapped_process *process = find_or_add(maps, run, exec->tgid);

	if (!process || is_late(process, run, time_ns))
		return;
	count_missed(process, time_ns);
	begin(process, run, time_ns);
	if (exec->head.flags & CRIT_KF_EXPELLED)
		forget(maps, process);
	else if (process->read_ns && time_ns < process->read_ns + distances_ns[STEP_AGAIN])
		enqueue(maps, process, STEP_AGAIN, crit_now_ns());
	else
		enqueue(maps, process, STEP_EXECED, crit_now_ns());
}

/* A reading that has begun may still have come in time. */
static void on_end(struct crit_memory_maps *maps, const struct crit_kernel_exit *exit,
		   uint64_t time_ns)
{
	struct mapped_process *process = exit->tid == exit->tgid ? find(maps, exit->tgid) : NULL;

	if (!process)
		return;
	if (!process->has_shim && !process->is_queued) {
		process->end_ns = time_ns;
		return;
	}
	count_missed(process, time_ns);
	forget(maps, process);
}

void crit_memory_maps_learn(struct crit_memory_maps *maps, struct crit_run *run,
			    const struct crit_kernel_head *record, uint64_t time_ns)
{
	const struct crit_kernel_fork *fork = (const void *)record;
	const struct crit_kernel_enrol *enrol = (const void *)record;

	switch (record->kind) {
	case CRIT_K_FORK:
		if (record->flags & CRIT_KF_NEW_PROCESS)
			on_born(maps, run, fork->tgid, STEP_FORKED, time_ns);
		break;
	case CRIT_K_EXEC:
		on_exec(maps, run, (const void *)record, time_ns);
		break;
	case CRIT_K_EXIT:
		on_end(maps, (const void *)record, time_ns);
		break;
	case CRIT_K_ENROL:
		if (!find(maps, enrol->tgid))
			on_born(maps, run, enrol->tgid, STEP_FORKED, time_ns);
		break;
	default:
		break;
	}
}

void crit_memory_maps_add(struct crit_memory_maps *maps, struct crit_run *run, uint32_t pid,
			  enum crit_arrival arrival, uint64_t now_ns)
{
	struct mapped_process *process = find_or_add(maps, run, pid);

	if (!process)
		return;
	begin(process, run, now_ns);
	process->has_shim = arrival == CRIT_ARRIVAL_SHIM;
	if (process->has_shim)
		dequeue(maps, process);
	else
		enqueue(maps, process, arrival == CRIT_ARRIVAL_RUNNING ? STEP_EXECED : STEP_FORKED,
			now_ns);
}

void crit_memory_maps_follow(struct crit_memory_maps *maps, uint32_t pid, uint64_t digest,
			     uint64_t now_ns)
{
	struct mapped_process *process = find(maps, pid);

	if (!process)
		return;
	process->reading_count++; /* one at work is older */
	process->digest = digest;
	process->has_maps = true;
	process->read_ns = now_ns;
	enqueue(maps, process, STEP_AGAIN, now_ns);
}

/* In a worker. */
static void read_maps(struct crit_task *task)
{
	struct maps_reading *reading = (void *)task;
	const uint64_t cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	reading->begin_ns = crit_now_ns();
	reading->bytes = crit_procfs_read(reading->proc_fd, reading->pid, "maps", reading->text,
					  sizeof(reading->text));
	if (reading->bytes > 0)
		reading->digest = crit_memory_maps_digest(reading->text, (size_t)reading->bytes);
	reading->cpu_ns = crit_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	__atomic_store_n(&reading->end_ns, crit_now_ns(), __ATOMIC_RELEASE);
}

static void put(const struct maps_reading *reading, const struct mapped_process *process)
{
	struct crit_run *run = process->run;
	const struct crit_rec_maps record = { .pid = reading->pid,
					      .without_shim = !process->has_shim,
					      .time_ns = reading->begin_ns };
	const size_t bytes = sizeof(record) + (size_t)reading->bytes;

	if (run->is_stopped)
		return;
	if (run->maps_bytes + bytes > run->cap.max_bytes / PART_OF_CAP) {
		run->maps_missed++;
		return;
	}
	run->maps_bytes += bytes;
	crit_run_put_maps(run, &record, reading->text, (size_t)reading->bytes);
}

/* Takes what was read of an image that was there all the while. */
static void take(struct crit_memory_maps *maps, const struct maps_reading *reading,
		 struct mapped_process *process, uint64_t now_ns)
{
	const bool is_in_time = !process->end_ns || reading->end_ns < process->end_ns;
	enum step step = process->step < STEP_COUNT - 1 ? process->step + 1 : STEP_COUNT - 1;

	if (reading->bytes > 0 && is_in_time &&
	    (!process->has_maps || process->digest != reading->digest)) {
		put(reading, process);
		process->has_maps = true;
		process->digest = reading->digest;
		step = STEP_AGAIN;
	}
	process->read_ns = reading->begin_ns;
	if (process->end_ns || reading->bytes == 0 || reading->bytes == -ENOENT ||
	    reading->bytes == -ESRCH) {
		count_missed(process, process->end_ns ? process->end_ns : now_ns);
		forget(maps, process);
		return;
	}
	enqueue(maps, process, step < STEP_AGAIN ? STEP_AGAIN : step, now_ns);
}

static void collect(struct crit_memory_maps *maps, uint64_t now_ns)
{
	for (uint32_t i = 0; i < READINGS_MAX && maps->reading_count > 0; i++) {
		struct maps_reading *reading = &maps->readings[i];
		struct mapped_process *process = reading->process;
		const uint64_t end_ns = __atomic_load_n(&reading->end_ns, __ATOMIC_ACQUIRE);

		if (!process || !end_ns || end_ns >= now_ns)
			continue;
		crit_meter_charge_maps(maps->meter, reading->cpu_ns);
		if (process->reading_count == reading->number)
			take(maps, reading, process, now_ns);
		reading->process = NULL;
		maps->reading_count--;
	}
}

static void start(struct crit_memory_maps *maps, struct mapped_process *process)
{
	struct maps_reading *reading = maps->readings;

	while (reading->process)
		reading++;
	dequeue(maps, process);
	reading->task = (struct crit_task){ .work = read_maps };
	reading->process = process;
	reading->proc_fd = maps->proc_fd;
	reading->pid = process->pid;
	reading->number = process->reading_count;
	reading->end_ns = 0;
	maps->reading_count++;
	crit_workers_put(maps->workers, &reading->task);
}

void crit_memory_maps_step(struct crit_memory_maps *maps, uint64_t now_ns)
{
	collect(maps, now_ns);
	for (enum step step = 0; step < STEP_COUNT; step++) {
		struct mapped_process *process;

		while ((process = maps->queues[step].first) && process->due_ns <= now_ns) {
			if (maps->reading_count == READINGS_MAX ||
			    !crit_meter_allows_maps(maps->meter, now_ns) ||
			    !crit_meter_allows(maps->meter, NULL, false))
				return;
			start(maps, process);
			crit_meter_look(maps->meter, NULL);
		}
	}
}

void crit_memory_maps_end_run(struct crit_memory_maps *maps, struct crit_run *run, uint64_t now_ns)
{
	char text[96];

	for (uint32_t i = 0; i < BUCKETS; i++) {
		struct mapped_process *next;

		for (struct mapped_process *process = maps->buckets[i]; process; process = next) {
			next = process->chain;
			if (process->run != run)
				continue;
			count_missed(process, now_ns);
			forget(maps, process);
		}
	}
	if (run->maps_missed == 0)
		return;
	(void)snprintf(text, sizeof(text), "memory maps that could not be read or kept: %llu",
		       (unsigned long long)run->maps_missed);
	crit_run_note(run, CRIT_NOTE_MAPS,
		      run->maps_missed < INT_MAX ? (int)run->maps_missed : INT_MAX, text);
}
