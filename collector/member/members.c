// SPDX-License-Identifier: BSD-3-Clause
// Adds processes to runs, drains them in turn, and writes what /proc says of them.
#include "collector/member/members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/member/cgroups.h"
#include "collector/member/memory_maps.h"
#include "collector/member/meter.h"
#include "collector/record/run.h"
#include "collector/source/sources.h"
#include "collector/system/now.h"
#include "collector/system/procfs.h"
#include "collector/system/watch.h"
#include "core/base/cleanup.h"
#include "core/base/hash.h"

#define NAMES_MAX 4096u
#define INIT_NS 1000000000ull /* by which MPI_Init may return later in one rank than another */
#define LOOK_WORTH 16 /* what a look at CPUs costs beside its threads, counted in threads */
#define WORTH_PER_STEP 1024

struct crit_members {
	const struct crit_sources *sources;
	struct crit_meter *meter;
	int proc_fd;
	int epoll_fd;
	struct crit_cgroups cgroups;
	struct crit_client_process *processes[CRIT_PROCESSES_MAX];
	uint32_t end; /* no entry from here on was ever in use */
	uint32_t next; /* to be drained */
	uint32_t cpus_next; /* whose CPUs are looked at next */
	uint64_t round; /* of the main loop */
};

int crit_members_create(const struct crit_sources *sources, struct crit_meter *meter, int proc_fd,
			int epoll_fd, struct crit_members **ret_members)
{
	struct crit_members *members = calloc(1, sizeof(*members));

	if (!members)
		return -ENOMEM;
	members->sources = sources;
	members->meter = meter;
	members->proc_fd = proc_fd;
	members->epoll_fd = epoll_fd;
	crit_cgroups_open(&members->cgroups);
	*ret_members = members;
	return 0;
}

void crit_members_destroy(struct crit_members *members)
{
	if (!members)
		return;
	crit_cgroups_close(&members->cgroups);
	free(members);
}

void crit_members_begin_round(struct crit_members *members)
{
	members->round++;
}

static int put_into_table(struct crit_members *members, struct crit_client_process *process)
{
	for (uint32_t i = 0; i < CRIT_PROCESSES_MAX; i++) {
		if (members->processes[i])
			continue;
		members->processes[i] = process;
		if (i >= members->end)
			members->end = i + 1;
		process->index = i;
		process->born_round = members->round;
		return 0;
	}
	return -ENOSPC;
}

static void take_from_table(struct crit_members *members, const struct crit_client_process *process)
{
	members->processes[process->index] = NULL;
}

static struct crit_client_process *find_process(const struct crit_members *members, uint32_t pid)
{
	for (uint32_t i = 0; i < members->end; i++) {
		if (members->processes[i] && members->processes[i]->pid == pid)
			return members->processes[i];
	}
	return NULL;
}

/* The process at this place of the table, if it is one of the run's. */
static struct crit_client_process *process_of(const struct crit_members *members, uint32_t index,
					      const struct crit_run *run)
{
	struct crit_client_process *process = members->processes[index];

	return process && process->run == run ? process : NULL;
}

static void give_back(const struct crit_candidate *candidate)
{
	close(candidate->pidfd);
	if (candidate->shm.fd >= 0)
		close(candidate->shm.fd);
}

static void write_level(const struct crit_client_process *process, bool is_stopped)
{
	const struct crit_run *run = process->run;

	if (process->shm.fd >= 0)
		(void)crit_shm_write_level(&process->shm, run->level, run->tau_ns, is_stopped);
}

/* The same process after an exec: its old connection is closed, and the new image has memory. */
static int renew_process(struct crit_members *members, struct crit_client_process *process,
			 struct crit_run *run, const struct crit_candidate *candidate)
{
	if (process->run != run || process->holder || candidate->shm.fd < 0) {
		give_back(candidate);
		return -EALREADY;
	}
	close(candidate->pidfd);
	crit_sources_detach(members->sources, process->pid);
	crit_process_renew(process, &candidate->shm, crit_now_ns());
	write_level(process, run->is_stopped);
	return crit_sources_attach(members->sources, run, process->pid, candidate->tls_offset);
}

int crit_members_add(struct crit_members *members, struct crit_run *run,
		     const struct crit_candidate *candidate,
		     struct crit_client_process **ret_process)
{
	struct crit_client_process *process = find_process(members, candidate->pid);
	int rc;

	if (process) {
		rc = renew_process(members, process, run, candidate);
		if (!rc)
			*ret_process = process;
		return rc;
	}
	process = calloc(1, sizeof(*process));
	if (!process) {
		give_back(candidate);
		return -ENOMEM;
	}
	process->run = run;
	process->pid = candidate->pid;
	process->pidfd = candidate->pidfd;
	process->shm = candidate->shm;
	rc = put_into_table(members, process);
	if (rc)
		goto fail;
	rc = crit_watch_add(members->epoll_fd, process->pidfd, CRIT_WATCH_PROCESS, process->index);
	if (!rc)
		rc = crit_sources_attach(members->sources, run, process->pid,
					 candidate->tls_offset);
	if (rc) {
		crit_watch_remove(members->epoll_fd, process->pidfd);
		take_from_table(members, process);
		goto fail;
	}
	write_level(process, run->is_stopped);
	run->live_processes++;
	run->has_registered = true;
	*ret_process = process;
	return 0;
fail:
	crit_process_destroy(process);
	return rc;
}

static void remove_process(struct crit_members *members, struct crit_client_process *process)
{
	struct crit_run *run = process->run;
	struct crit_rec_gone gone = { .pid = process->pid, .time_ns = crit_now_ns() };

	crit_sources_detach(members->sources, process->pid);
	crit_process_end(process, gone.time_ns);
	crit_run_put_record(run, CRIT_C_GONE, 0, gone.time_ns, &gone);
	run->live_processes--;
	if (process->has_rank && !process->is_closed)
		run->due_ns = gone.time_ns;
	if (process->holder)
		*process->holder = NULL;
	crit_watch_remove(members->epoll_fd, process->pidfd);
	take_from_table(members, process);
	crit_process_destroy(process);
}

void crit_members_end(struct crit_members *members, uint32_t index)
{
	struct crit_client_process *process = members->processes[index];

	/* an earlier event of this round may have given its place to another */
	if (!process || process->born_round == members->round)
		return;
	crit_sources_drain(members->sources);
	remove_process(members, process);
}

void crit_members_end_run(struct crit_members *members, const struct crit_run *run)
{
	for (uint32_t i = 0; i < members->end; i++) {
		struct crit_client_process *process = process_of(members, i, run);

		if (!process)
			continue;
		write_level(process, true); /* it may live on, but nobody reads any more */
		remove_process(members, process);
	}
}

void crit_members_expel(struct crit_members *members, uint32_t tgid)
{
	struct crit_client_process *process = find_process(members, tgid);

	if (process)
		process->is_expelled = true;
}

bool crit_members_exist(const struct crit_members *members)
{
	for (uint32_t i = 0; i < members->end; i++)
		if (members->processes[i])
			return true;
	return false;
}

/*
 * Processes whose thread buffers delivered or that called are drained in any case.  The others take
 * turns, as long as there is time; the next time goes on with the first that was left out.
 */
uint32_t crit_members_drain(struct crit_members *members, uint64_t now_ns, uint32_t slots_max)
{
	const uint32_t first = members->next < members->end ? members->next : 0;
	bool is_put_off = false;
	uint32_t fullest = 0;

	for (uint32_t n = 0; n < members->end; n++) {
		const uint32_t index = (first + n) % members->end;
		struct crit_client_process *process = members->processes[index];
		uint32_t found;

		if (!process)
			continue;
		if (!crit_process_is_due(process) &&
		    !crit_meter_allows(members->meter, NULL, false)) {
			members->next = is_put_off ? members->next : index;
			is_put_off = true;
			continue;
		}
		found = crit_process_drain(process, now_ns, slots_max);
		if (found > fullest)
			fullest = found;
	}
	return fullest;
}

void crit_members_drain_run(const struct crit_members *members, const struct crit_run *run,
			    bool has_counters)
{
	const uint64_t now_ns = crit_now_ns();

	for (uint32_t i = 0; i < members->end; i++) {
		struct crit_client_process *process = process_of(members, i, run);

		if (!process)
			continue;
		crit_process_drain_all(process, now_ns);
		crit_process_flush(process, has_counters);
	}
}

void crit_members_write_level(const struct crit_members *members, const struct crit_run *run)
{
	for (uint32_t i = 0; i < members->end; i++) {
		const struct crit_client_process *process = process_of(members, i, run);

		if (process)
			write_level(process, run->is_stopped);
	}
}

/*
 * One that only asked MPI something, and is no rank while others have closed, may be in MPI_Init,
 * or never get there: it is waited for, but not long.  One that left the run by its exec is in it
 * as long as its shim speaks.  A rank that is later than that gets a window of its own.
 */
static bool holds_window(const struct crit_client_process *process, uint64_t due_for_ns)
{
	if (process->is_closed || (process->is_expelled && !process->holder))
		return false;
	return process->has_rank || (process->is_mpi && due_for_ns < INIT_NS);
}

bool crit_members_hold_window(const struct crit_members *members, const struct crit_run *run,
			      uint64_t due_for_ns)
{
	for (uint32_t i = 0; i < members->end; i++) {
		const struct crit_client_process *process = process_of(members, i, run);

		if (process && holds_window(process, due_for_ns))
			return true;
	}
	return false;
}

static uint32_t look_at_cpus_of(struct crit_members *members, struct crit_client_process *process,
				uint64_t now_ns)
{
	return crit_cpu_limits_look(&process->cpu_limits, &members->cgroups, members->proc_fd,
				    process->run, process->pid, now_ns);
}

void crit_members_look_at_cpus_of(struct crit_members *members, struct crit_client_process *process,
				  uint64_t now_ns)
{
	(void)look_at_cpus_of(members, process, now_ns); /* a count, for those that are due */
}

/* With more processes or threads than a step takes, each is looked at less often. */
void crit_members_look_at_cpus(struct crit_members *members, uint64_t now_ns)
{
	uint32_t worth = 0;

	for (uint32_t i = 0; i < members->end && worth < WORTH_PER_STEP; i++) {
		struct crit_client_process *process;

		if (members->cpus_next >= members->end)
			members->cpus_next = 0;
		process = members->processes[members->cpus_next++];
		if (!process || process->is_expelled || process->run->is_stopped ||
		    now_ns < process->cpu_limits.due_ns)
			continue;
		worth += LOOK_WORTH + look_at_cpus_of(members, process, now_ns);
	}
}

uint64_t crit_members_put_maps(const struct crit_members *members,
			       struct crit_client_process *process)
{
	struct crit_rec_maps record = { .pid = process->pid, .time_ns = crit_now_ns() };
	crit_autofree char *text = malloc(CRIT_MAPS_BYTES);
	uint64_t hash;
	long bytes;

	if (!text || process->run->is_stopped || process->is_expelled)
		return 0;
	bytes = crit_procfs_read(members->proc_fd, process->pid, "maps", text, CRIT_MAPS_BYTES);
	if (bytes <= 0)
		return 0;
	hash = crit_hash_bytes(CRIT_HASH_EMPTY, text, (size_t)bytes);
	if (hash != process->maps_hash)
		crit_run_put_maps(process->run, &record, text, (size_t)bytes);
	process->maps_hash = hash;
	return crit_memory_maps_digest(text, (size_t)bytes);
}

struct name_list {
	const struct crit_members *members;
	uint32_t pid;
	uint32_t count;
	struct crit_rec_name *names;
};

static int add_name(void *context, uint32_t tid)
{
	struct name_list *list = context;
	struct crit_rec_name *name = &list->names[list->count];
	struct crit_procfs_task task;

	if (list->count >= NAMES_MAX)
		return 1;
	if (crit_procfs_task(list->members->proc_fd, list->pid, tid, &task))
		return 0;
	name->tid = tid;
	name->tgid = list->pid;
	memcpy(name->comm, task.comm, sizeof(name->comm));
	list->count++;
	return 0;
}

void crit_members_put_names(const struct crit_members *members, struct crit_run *run)
{
	crit_autofree struct crit_rec_name *names = calloc(NAMES_MAX, sizeof(*names));
	struct name_list list = { .members = members, .names = names };

	if (!names)
		return;
	for (uint32_t i = 0; i < members->end; i++) {
		const struct crit_client_process *process = process_of(members, i, run);

		if (!process || (process->is_expelled && !process->holder))
			continue;
		list.pid = process->pid;
		(void)crit_procfs_each_tid(members->proc_fd, list.pid, add_name, &list);
	}
	if (list.count == 0)
		return;
	crit_run_put(run, CRIT_C_NAMES, 0, crit_now_ns(),
		     (const struct crit_chunk_part[2]){ { names, list.count * sizeof(*names) },
							{ NULL, 0 } });
}
