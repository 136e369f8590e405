// SPDX-License-Identifier: BSD-3-Clause
// Makes processes members of runs.
#include "collector/member/members.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/system/now.h"
#include "collector/source/drain.h"
#include "collector/system/procfs.h"
#include "core/abi/abi_socket.h"
#include "core/base/cleanup.h"
#include "core/base/hash.h"

#define MAPS_BYTES (256u << 10)
#define NAMES_MAX 4096u
#define OUTSIDE_MAX 65536u
#define PASSES 3 /* over /proc/PID/task: threads may be born meanwhile, by threads not yet in */

struct enrolment {
	struct crit_server *server;
	struct crit_client_process *process;
	struct crit_member member; /* what each thread becomes */
	int added; /* in this pass */
	int pass; /* over the threads of the process */
};

static bool is_asleep(char state)
{
	return state == 'S' || state == 'D' || state == 'T' || state == 't' || state == 'I';
}

static void put_enrol(struct crit_run *run, const struct crit_procfs_task *task, __u64 time_ns)
{
	struct crit_kernel_enrol record = {
		.head = { .kind = CRIT_K_ENROL,
			  .size = sizeof(record),
			  .flags = is_asleep(task->state) ? 0 : CRIT_KF_RUNNING,
			  .state = is_asleep(task->state),
			  .time_ns = time_ns },
		.tid = task->tid,
		.tgid = task->tgid,
		.ns_tid = task->ns_tid,
		.parent_tgid = task->parent_tgid,
	};

	memcpy(record.comm, task->comm, sizeof(record.comm));
	crit_drain_put(run, &record.head);
}

#define TID_MASK ((1u << 30) - 1) /* no tid is larger */
#define IS_ALIVE (1u << 31)
#define IS_INSIDE (1u << 30)

static int compare_tids(const void *a, const void *b)
{
	const __u32 one = *(const __u32 *)a & TID_MASK, other = *(const __u32 *)b & TID_MASK;

	return one < other ? -1 : one > other;
}

static __u32 *find_outside(const struct crit_client_process *process, __u32 tid)
{
	return bsearch(&tid, process->outside_tids, process->outside_count, sizeof(tid),
		       compare_tids);
}

/*
 * Threads but the leader, where the kernel has no pidfd for them (before 6.9): BPF makes a member
 * of each that is none when it next switches or is woken.  What this leaves open: a sleeper has no
 * ENROL until then; and a thread that is a member already, born before its process registered,
 * stays one without a tag, and keeps its process in the kernel's map until it ends.
 */
static void add_outside(struct crit_client_process *process, __u32 tid)
{
	const __u32 count = process->outside_count;
	__u32 *tids = process->outside_tids;

	if (count >= OUTSIDE_MAX || (count > 0 && find_outside(process, tid)))
		return;
	if ((count & (count - 1)) == 0) { /* full: it has room for powers of two */
		tids = realloc(tids, (count ? 2 * (size_t)count : 1) * sizeof(*tids));
		if (!tids)
			return;
		process->outside_tids = tids;
	}
	tids[process->outside_count++] = tid;
	if (count > 0 && tids[count - 1] > tid) /* rare: /proc lists them in order */
		qsort(tids, process->outside_count, sizeof(*tids), compare_tids);
}

/* A member already, by inheritance: it gets the tag, and keeps what the kernel half knows. */
static void renew(struct enrolment *enrolment, __u32 tid, const struct crit_member *old)
{
	struct crit_kernel *kernel = &enrolment->server->kernel;
	struct crit_member member = enrolment->member;
	const __u32 kept = CRIT_MF_FORKED | CRIT_MF_NEW | CRIT_MF_ASLEEP | CRIT_MF_EXITED |
			   CRIT_MF_WAITS;

	if (old->run_number == member.run_number) {
		if ((old->flags & CRIT_MF_HAS_TAG) && old->tag_offset == member.tag_offset)
			return;
		member.flags = (member.flags & ~(__u32)CRIT_MF_NEW) | (old->flags & kept);
		member.cpu = old->cpu;
	} else if ((old->flags & (CRIT_MF_FORKED | CRIT_MF_EXITED)) ==
		   CRIT_MF_FORKED) { /* leaves its first run for this one */
		struct crit_run_counters *counters = crit_kernel_counters(kernel, old->run_number);

		if (counters->run_number == old->run_number)
			__atomic_sub_fetch(&counters->live_forked, 1, __ATOMIC_RELAXED);
	}
	(void)crit_kernel_member_set(kernel, tid, &member);
}

static int enrol_thread(void *context, __u32 tid)
{
	struct enrolment *enrolment = context;
	struct crit_client_process *process = enrolment->process;
	struct crit_server *server = enrolment->server;
	struct crit_kernel *kernel = &server->kernel;
	struct crit_member member = enrolment->member;
	struct crit_procfs_task task;
	struct crit_member old;

	if (kernel->has_task_storage && !kernel->has_pidfd_thread && tid != process->pid) {
		add_outside(process, tid);
		return 0;
	}
	if (crit_kernel_member_get(kernel, tid, &old) == 0) {
		renew(enrolment, tid, &old);
		return 0;
	}
	if (enrolment->pass > 0 && tid == process->pid) /* it was, and has been expelled since */
		return 0;
	if (crit_procfs_task(server->proc_fd, process->pid, tid, &task))
		return 0;
	/* it may sleep until the end: its ENROL cannot wait for its next switch */
	if (is_asleep(task.state)) {
		crit_drain_kernel(server); /* keeps the order of stamps */
		put_enrol(process->run, &task, crit_now_ns());
		member.flags = (member.flags & ~(__u32)CRIT_MF_NEW) | CRIT_MF_ASLEEP;
	}
	if (crit_kernel_member_set(kernel, tid, &member) == 0)
		enrolment->added++;
	return 0;
}

/*
 * By perf events, from whose birth on its switches are told of; the stamp is from before.  A thread
 * that neither sleeps nor ends runs, or would: that is as much as /proc tells.
 */
static int enrol_by_perf(void *context, __u32 tid)
{
	struct enrolment *enrolment = context;
	struct crit_server *server = enrolment->server;
	struct crit_run *run = enrolment->process->run;
	struct crit_procfs_task task;
	char text[96];
	__u64 time_ns;
	int rc;

	crit_drain_kernel(server); /* who was born is known then, and stamps stay in order */
	if (crit_perf_has(run->perf, tid) ||
	    crit_procfs_task(server->proc_fd, enrolment->process->pid, tid, &task))
		return 0;
	time_ns = crit_now_ns();
	rc = crit_perf_add(run->perf, tid);
	if (rc == 0) {
		run->perf->is_nested |= task.ns_tid != tid;
		put_enrol(run, &task, time_ns);
		enrolment->added++;
	} else if (rc != -ESRCH) {
		(void)snprintf(text, sizeof(text), "thread %u: no perf events: %s", tid,
			       strerror(-rc));
		crit_run_note(run, CRIT_NOTE_REFUSED, rc, text);
	}
	return 0;
}

static int enrol(struct crit_server *server, struct crit_client_process *process, __s64 tls_offset)
{
	struct enrolment enrolment = { .server = server, .process = process };
	int (*visit)(void *context, __u32 tid) = process->run->perf ? enrol_by_perf : enrol_thread;
	int rc = 0;

	if (!process->run->perf && !crit_server_has_kernel(server))
		return 0;
	enrolment.member.run_number = process->run->number;
	enrolment.member.flags = CRIT_MF_UNVERIFIED | CRIT_MF_NEW;
	if (tls_offset != CRIT_TLS_NONE) {
		enrolment.member.flags |= CRIT_MF_HAS_TAG;
		enrolment.member.tag_offset = tls_offset;
	}
	for (; enrolment.pass < PASSES; enrolment.pass++) {
		enrolment.added = 0;
		rc = crit_procfs_each_tid(server->proc_fd, process->pid, visit, &enrolment);
		if (rc < 0 || enrolment.added == 0)
			break;
	}
	if (rc >= 0 && process->outside_count > 0)
		rc = crit_kernel_register_tgid(&server->kernel, process->pid, &enrolment.member);
	return rc < 0 ? rc : 0;
}

static int put_into_table(struct crit_server *server, struct crit_client_process *process)
{
	for (__u32 i = 0; i < CRIT_PROCESSES_MAX; i++) {
		if (server->processes[i])
			continue;
		server->processes[i] = process;
		if (i >= server->process_end)
			server->process_end = i + 1;
		process->index = i;
		process->born_round = server->round;
		return 0;
	}
	return -ENOSPC;
}

static void take_from_table(struct crit_server *server, const struct crit_client_process *process)
{
	server->processes[process->index] = NULL;
}

static struct crit_client_process *find_process(const struct crit_server *server, __u32 pid)
{
	for (__u32 i = 0; i < server->process_end; i++) {
		if (server->processes[i] && server->processes[i]->pid == pid)
			return server->processes[i];
	}
	return NULL;
}

static void give_back(const struct crit_candidate *candidate)
{
	(void)close(candidate->pidfd);
	if (candidate->shm.fd >= 0)
		(void)close(candidate->shm.fd);
}

/* The same process after an exec: its old connection is closed, and the new image has memory. */
static int renew_process(struct crit_server *server, struct crit_client_process *process,
			 const struct crit_run *run, const struct crit_candidate *candidate)
{
	if (process->run != run || process->client || candidate->shm.fd < 0) {
		give_back(candidate);
		return -EALREADY;
	}
	(void)close(candidate->pidfd);
	if (process->outside_count > 0)
		crit_kernel_forget_tgid(&server->kernel, process->pid);
	process->outside_count = 0;
	crit_process_renew(process, &candidate->shm, crit_now_ns());
	(void)crit_shm_write_level(&process->shm, run->level, run->tau_ns, run->is_stopped);
	return enrol(server, process, candidate->tls_offset);
}

int crit_members_add(struct crit_server *server, struct crit_run *run,
		     const struct crit_candidate *candidate,
		     struct crit_client_process **ret_process)
{
	struct crit_client_process *process = find_process(server, candidate->pid);
	int rc;

	if (process) {
		rc = renew_process(server, process, run, candidate);
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
	rc = put_into_table(server, process);
	if (rc)
		goto fail;
	rc = crit_server_watch(server, process->pidfd, CRIT_WATCH_PROCESS, process->index);
	if (!rc)
		rc = enrol(server, process, candidate->tls_offset);
	if (rc) {
		crit_server_unwatch(server, process->pidfd);
		take_from_table(server, process);
		goto fail;
	}
	if (process->shm.fd >= 0)
		(void)crit_shm_write_level(&process->shm, run->level, run->tau_ns, run->is_stopped);
	run->live_processes++;
	run->has_registered = true;
	*ret_process = process;
	return 0;
fail:
	crit_process_destroy(process);
	return rc;
}

void crit_members_remove(struct crit_server *server, struct crit_client_process *process)
{
	struct crit_run *run = process->run;
	struct crit_rec_gone gone = { .pid = process->pid, .time_ns = crit_now_ns() };

	if (process->outside_count > 0)
		crit_kernel_forget_tgid(&server->kernel, process->pid);
	crit_process_end(process, gone.time_ns);
	crit_run_put_record(run, CRIT_C_GONE, 0, gone.time_ns, &gone);
	run->live_processes--;
	if (process->has_rank && !process->is_closed)
		run->due_ns = gone.time_ns;
	if (process->client)
		process->client->process = NULL;
	crit_server_unwatch(server, process->pidfd);
	take_from_table(server, process);
	crit_process_destroy(process);
}

void crit_members_saw_enrol(struct crit_server *server, __u32 tgid, __u32 tid)
{
	struct crit_client_process *process = find_process(server, tgid);

	__u32 *found;

	if (!process || process->outside_count == 0)
		return;
	found = find_outside(process, tid);
	if (found)
		*found |= IS_INSIDE;
}

void crit_members_saw_expelled(struct crit_server *server, __u32 tgid)
{
	struct crit_client_process *process = find_process(server, tgid);

	if (process)
		process->is_expelled = true;
}

static int note_alive(void *context, __u32 tid)
{
	__u32 *found = find_outside(context, tid);

	if (found)
		*found |= IS_ALIVE;
	return 0;
}

void crit_members_check_outside(struct crit_server *server)
{
	for (__u32 i = 0; i < server->process_end; i++) {
		struct crit_client_process *process = server->processes[i];
		__u32 kept = 0;

		if (!process || process->outside_count == 0)
			continue;
		(void)crit_procfs_each_tid(server->proc_fd, process->pid, note_alive, process);
		for (__u32 t = 0; t < process->outside_count; t++) {
			const __u32 entry = process->outside_tids[t];

			if ((entry & IS_ALIVE) && !(entry & IS_INSIDE))
				process->outside_tids[kept++] = entry & TID_MASK;
		}
		process->outside_count = kept;
		if (kept == 0)
			crit_kernel_forget_tgid(&server->kernel, process->pid);
	}
}

void crit_members_put_maps(const struct crit_server *server, struct crit_client_process *process)
{
	struct crit_rec_maps record = { .pid = process->pid, .time_ns = crit_now_ns() };
	crit_autofree char *text = malloc(MAPS_BYTES);
	__u64 hash;
	long bytes;

	if (!text || process->run->is_stopped || process->is_expelled)
		return;
	bytes = crit_procfs_read(server->proc_fd, process->pid, "maps", text, MAPS_BYTES);
	if (bytes <= 0)
		return;
	hash = crit_hash_bytes(CRIT_HASH_EMPTY, text, (size_t)bytes);
	if (hash == process->maps_hash)
		return;
	process->maps_hash = hash;
	crit_run_put(process->run, CRIT_C_MAPS, 0, record.time_ns,
		     (const struct crit_chunk_part[2]){ { &record, sizeof(record) },
							{ text, (size_t)bytes } });
}

struct name_list {
	const struct crit_server *server;
	__u32 pid;
	__u32 count;
	struct crit_rec_name *names;
};

static int add_name(void *context, __u32 tid)
{
	struct name_list *list = context;
	struct crit_rec_name *name = &list->names[list->count];
	struct crit_procfs_task task;

	if (list->count >= NAMES_MAX)
		return 1;
	if (crit_procfs_task(list->server->proc_fd, list->pid, tid, &task))
		return 0;
	name->tid = tid;
	name->tgid = list->pid;
	memcpy(name->comm, task.comm, sizeof(name->comm));
	list->count++;
	return 0;
}

void crit_members_put_names(const struct crit_server *server, struct crit_run *run)
{
	crit_autofree struct crit_rec_name *names = calloc(NAMES_MAX, sizeof(*names));
	struct name_list list = { .server = server, .names = names };

	if (!names)
		return;
	for (__u32 i = 0; i < server->process_end; i++) {
		const struct crit_client_process *process = server->processes[i];

		if (!process || process->run != run || (process->is_expelled && !process->client))
			continue;
		list.pid = process->pid;
		(void)crit_procfs_each_tid(server->proc_fd, list.pid, add_name, &list);
	}
	if (list.count == 0)
		return;
	crit_run_put(run, CRIT_C_NAMES, 0, crit_now_ns(),
		     (const struct crit_chunk_part[2]){ { names, list.count * sizeof(*names) },
							{ NULL, 0 } });
}
