// SPDX-License-Identifier: BSD-3-Clause
// Makes threads members in BPF's maps, and copies the ring's records into the streams of runs.
#include "collector/source/sched_bpf.h"

#include <errno.h>
#include <stdlib.h>

#include "collector/record/run.h"
#include "collector/record/stack_ring.h"
#include "collector/source/kernel_half.h"
#include "collector/source/kernel_stream.h"
#include "collector/source/sampler.h"
#include "collector/system/now.h"
#include "core/abi/abi_socket.h"
#include "core/base/clock.h"

#define OUTSIDE_MAX 65536u
#define PASSES 3 /* over /proc/PID/task: threads may be born meanwhile, by threads not yet in */

#define TID_MASK ((1u << 30) - 1) /* no tid is larger */
#define IS_ALIVE (1u << 31)
#define IS_INSIDE (1u << 30)

/*
 * Threads but the leader, where the kernel has no pidfd for them (before 6.9): BPF makes a member
 * of each that is none when it next switches or is woken.  What this leaves open: a sleeper has no
 * ENROL until then; and a thread that is a member already, born before its process registered,
 * stays one without a tag, and keeps its process in the kernel's map until it ends.
 */
struct outside { /* of one process */
	struct outside *next;
	uint32_t tgid;
	uint32_t count; /* not 0 but for the moment of its birth */
	uint32_t *tids; /* in order; room for the next power of two */
};

struct sched_bpf {
	struct crit_source_context context;
	struct crit_kernel kernel;
	struct crit_sampler *sampler; /* NULL: no clock can be had */
	uint16_t sample_hz[CRIT_RUN_SLOTS]; /* what each run wants; 0: no samples */
	struct outside *outside;
};

struct enrolment { /* of the threads of a process */
	struct sched_bpf *source;
	struct crit_run *run;
	uint32_t pid;
	struct crit_member member; /* what each thread becomes */
	int added; /* in this pass */
	int pass; /* over the threads of the process */
};

static int open_source(const struct crit_source_context *context,
		       const struct crit_source_options *options,
		       struct crit_source_status *ret_status, void **ret_source,
		       struct crit_err *err)
{
	struct sched_bpf *source = calloc(1, sizeof(*source));

	ret_status->kernel = -ENOMEM;
	if (!source)
		return crit_err_set(err, -ENOMEM, "no memory for the kernel half");
	source->context = *context;
	ret_status->kernel = crit_kernel_open(&source->kernel, options, err);
	if (ret_status->kernel) {
		free(source);
		return ret_status->kernel;
	}
	if (!ret_status->kernel)
		ret_status->perf =
			crit_sampler_create(&source->kernel, options, &source->sampler, err);
	*ret_source = source;
	return 0;
}

static int check(void *state)
{
	return crit_kernel_try_maps(&((struct sched_bpf *)state)->kernel);
}

/* Where the process with this number is, or would be, in the list. */
static struct outside **place_of(struct sched_bpf *source, uint32_t tgid)
{
	struct outside **place = &source->outside;

	while (*place && (*place)->tgid != tgid)
		place = &(*place)->next;
	return place;
}

static void remove_outside(struct outside **place)
{
	struct outside *outside = *place;

	*place = outside->next;
	free(outside->tids);
	free(outside);
}

static void close_source(void *state)
{
	struct sched_bpf *source = state;

	while (source->outside)
		remove_outside(&source->outside);
	crit_sampler_destroy(source->sampler);
	crit_kernel_close(&source->kernel);
	free(source);
}

/* The clocks are of CPUs, not of runs: they go as often as the run wants that wants most. */
static void set_clocks(struct sched_bpf *source, const struct crit_run *run, uint32_t sample_hz)
{
	uint32_t most_hz = 0;

	if (!source->sampler)
		return;
	source->sample_hz[run->slot] = (uint16_t)sample_hz;
	for (uint32_t i = 0; i < CRIT_RUN_SLOTS; i++)
		most_hz = source->sample_hz[i] > most_hz ? source->sample_hz[i] : most_hz;
	crit_sampler_set(source->sampler, most_hz, crit_now_ns());
}

static void begin(void *state, const struct crit_run *run, struct crit_source_status *status)
{
	struct sched_bpf *source = state;

	(void)status;
	crit_kernel_begin_run(&source->kernel, run->number, run->sample_hz != 0, run->stack_budget);
	set_clocks(source, run, run->sample_hz);
}

static void stop(void *state, const struct crit_run *run)
{
	struct sched_bpf *source = state;

	set_clocks(source, run, 0);
	crit_kernel_end_run(&source->kernel, run->number);
}

static void stop_stacks(void *state, const struct crit_run *run)
{
	const struct sched_bpf *source = state;

	crit_kernel_counters(&source->kernel, run->slot)->stack_budget = 0;
}

static int compare_tids(const void *a, const void *b)
{
	const uint32_t one = *(const uint32_t *)a & TID_MASK,
		       other = *(const uint32_t *)b & TID_MASK;

	return one < other ? -1 : one > other;
}

static uint32_t *find_tid(const struct outside *outside, uint32_t tid)
{
	return bsearch(&tid, outside->tids, outside->count, sizeof(tid), compare_tids);
}

static void add_tid(struct outside *outside, uint32_t tid)
{
	const uint32_t count = outside->count;
	uint32_t *tids;

	if (count >= OUTSIDE_MAX || (count > 0 && find_tid(outside, tid)))
		return;
	if ((count & (count - 1)) == 0) { /* full: it has room for powers of two */
		tids = realloc(outside->tids, (count ? 2 * (size_t)count : 1) * sizeof(*tids));
		if (!tids)
			return;
		outside->tids = tids;
	}
	tids = outside->tids;
	tids[outside->count++] = tid;
	if (count > 0 && tids[count - 1] > tid) /* rare: /proc lists them in order */
		qsort(tids, outside->count, sizeof(*tids), compare_tids);
}

static void add_outside(struct sched_bpf *source, uint32_t tgid, uint32_t tid)
{
	struct outside **place = place_of(source, tgid);

	if (!*place) {
		*place = calloc(1, sizeof(**place));
		if (!*place)
			return;
		(*place)->tgid = tgid;
	}
	add_tid(*place, tid);
	if ((*place)->count == 0)
		remove_outside(place);
}

/* The few records critd itself learns from. */
static void learn(struct sched_bpf *source, struct crit_run *run,
		  const struct crit_kernel_head *record, uint64_t time_ns)
{
	if (run)
		source->context.on_life(source->context.user, run, record, time_ns);
	if (record->kind == CRIT_K_ENROL) {
		const struct crit_kernel_enrol *enrol = (const void *)record;
		const struct outside *outside = *place_of(source, enrol->tgid);
		uint32_t *found = outside ? find_tid(outside, enrol->tid) : NULL;

		if (found)
			*found |= IS_INSIDE;
	} else if (record->kind == CRIT_K_EXEC && (record->flags & CRIT_KF_EXPELLED)) {
		const struct crit_kernel_exec *exec = (const void *)record;

		source->context.on_expelled(source->context.user, exec->tgid);
	}
}

static struct crit_run *run_of(const struct sched_bpf *source,
			       const struct crit_kernel_head *record)
{
	struct crit_run *run = &source->context.runs[record->run_slot & (CRIT_RUN_SLOTS - 1)];

	return run->state == CRIT_RUN_RECORDING && record->run_slot == (uint16_t)run->number ? run
											     : NULL;
}

/* Stacks go to who unwinds them, never into the recording.  Returns true if it is one of life. */
static bool take(struct sched_bpf *source, const struct crit_kernel_next *next, uint64_t now_ns)
{
	const struct crit_kernel_head *record = next->shared;
	struct crit_run *run = run_of(source, record);

	if (record->kind == CRIT_K_NONE) /* it has woken us */
		return false;
	if (run && record->kind != CRIT_K_STACK)
		crit_kernel_stream_put(run, record, next->bytes, next->time_ns, now_ns);
	else if (run && run->stacks)
		crit_stack_ring_put_copy(run->stacks, (const void *)record, next->time_ns);
	if (record->kind < CRIT_K_FORK || record->kind > CRIT_K_ENROL)
		return false;
	learn(source, run, record, next->time_ns);
	return true;
}

static bool drain(void *state)
{
	struct sched_bpf *source = state;
	struct crit_kernel_rings *rings = &source->kernel.rings;
	const uint64_t now_ns = crit_now_ns();
	struct crit_kernel_next next;
	bool has_life = false;

	crit_kernel_rings_look(rings);
	while (crit_kernel_rings_next(rings, &next)) {
		if (next.shared)
			has_life |= take(source, &next, now_ns);
		else
			crit_kernel_stream_copy(run_of(source, next.cursor->front), next.cursor,
						next.until_ns, now_ns);
	}
	return crit_kernel_rings_release(rings) || has_life;
}

static void set_seldom(void *state, bool is_seldom)
{
	const struct sched_bpf *source = state;

	__atomic_store_n(&source->kernel.object.bss->is_drained_seldom, is_seldom,
			 __ATOMIC_RELEASE);
}

static int wake_fd(const void *state)
{
	return ((const struct sched_bpf *)state)->kernel.object.records_fd;
}

/* A member already, by inheritance: it gets the tag, and keeps what the kernel half knows. */
static void renew(const struct enrolment *enrolment, uint32_t tid, const struct crit_member *old)
{
	const struct crit_kernel *kernel = &enrolment->source->kernel;
	struct crit_member member = enrolment->member;
	const uint32_t kept = CRIT_MF_FORKED | CRIT_MF_NEW | CRIT_MF_ASLEEP | CRIT_MF_EXITED |
			      CRIT_MF_WAITS;

	if (old->run_number == member.run_number) {
		if ((old->flags & CRIT_MF_HAS_TAG) && old->tag_offset == member.tag_offset)
			return;
		member.flags = (member.flags & ~(uint32_t)CRIT_MF_NEW) | (old->flags & kept);
		member.cpu = old->cpu;
		member.is_active = old->is_active;
	} else if ((old->flags & (CRIT_MF_FORKED | CRIT_MF_EXITED)) ==
		   CRIT_MF_FORKED) { /* leaves its first run for this one */
		struct crit_run_counters *counters = crit_kernel_counters(kernel, old->run_number);

		if (counters->run_number == old->run_number)
			__atomic_sub_fetch(&counters->live_forked, 1, __ATOMIC_RELAXED);
	}
	(void)crit_kernel_member_set(kernel, tid, &member);
}

static int enrol_thread(void *context, uint32_t tid)
{
	struct enrolment *enrolment = context;
	struct sched_bpf *source = enrolment->source;
	const struct crit_kernel *kernel = &source->kernel;
	struct crit_member member = enrolment->member;
	struct crit_procfs_task task;
	struct crit_member old;
	int rc;

	if (kernel->has_task_storage && !kernel->has_pidfd_thread && tid != enrolment->pid) {
		add_outside(source, enrolment->pid, tid);
		return 0;
	}
	if (crit_kernel_member_get(kernel, tid, &old) == 0) {
		renew(enrolment, tid, &old);
		return 0;
	}
	if (enrolment->pass > 0 && tid == enrolment->pid) /* it was, and has been expelled since */
		return 0;
	if (crit_procfs_task(source->context.proc_fd, enrolment->pid, tid, &task))
		return 0;
	/* it may sleep until the end: its ENROL cannot wait for its next switch */
	if (crit_procfs_is_asleep(&task)) {
		(void)drain(source); /* keeps the order of stamps */
		crit_kernel_stream_put_enrol(enrolment->run, &task, crit_now_ns());
		member.flags = (member.flags & ~(uint32_t)CRIT_MF_NEW) | CRIT_MF_ASLEEP;
	}
	rc = crit_kernel_member_add(kernel, tid, &member);
	/* a thread is listed a moment before it inherits, and counts as born of a member then */
	if (rc == -EEXIST && crit_kernel_member_get(kernel, tid, &old) == 0)
		renew(enrolment, tid, &old);
	if (!rc)
		enrolment->added++;
	return 0;
}

static int attach(void *state, struct crit_run *run, uint32_t pid, int64_t tls_offset)
{
	struct sched_bpf *source = state;
	struct enrolment enrolment = { .source = source, .run = run, .pid = pid };
	struct outside **place;
	int rc = 0;

	enrolment.member.run_number = run->number;
	enrolment.member.flags = CRIT_MF_UNVERIFIED | CRIT_MF_NEW;
	if (tls_offset != CRIT_TLS_NONE) {
		enrolment.member.flags |= CRIT_MF_HAS_TAG;
		enrolment.member.tag_offset = tls_offset;
	}
	for (; enrolment.pass < PASSES; enrolment.pass++) {
		enrolment.added = 0;
		rc = crit_procfs_each_tid(source->context.proc_fd, pid, enrol_thread, &enrolment);
		if (rc < 0 || enrolment.added == 0)
			break;
	}
	place = place_of(source, pid);
	if (rc >= 0 && *place)
		rc = crit_kernel_register_tgid(&source->kernel, pid, &enrolment.member);
	if (rc < 0 && *place)
		remove_outside(place);
	return rc < 0 ? rc : 0;
}

static void detach(void *state, uint32_t pid)
{
	struct sched_bpf *source = state;
	struct outside **place = place_of(source, pid);

	if (!*place)
		return;
	crit_kernel_forget_tgid(&source->kernel, pid);
	remove_outside(place);
}

static int note_alive(void *context, uint32_t tid)
{
	uint32_t *found = find_tid(context, tid);

	if (found)
		*found |= IS_ALIVE;
	return 0;
}

/* Forgets threads that are members now, and those that died before BPF could enrol them. */
static void look(void *state)
{
	struct sched_bpf *source = state;
	struct outside **place = &source->outside;

	if (source->sampler)
		crit_sampler_look(source->sampler, crit_now_ns());
	while (*place) {
		struct outside *outside = *place;
		uint32_t kept = 0;

		(void)crit_procfs_each_tid(source->context.proc_fd, outside->tgid, note_alive,
					   outside);
		for (uint32_t i = 0; i < outside->count; i++) {
			const uint32_t entry = outside->tids[i];

			if ((entry & IS_ALIVE) && !(entry & IS_INSIDE))
				outside->tids[kept++] = entry & TID_MASK;
		}
		outside->count = kept;
		if (kept > 0) {
			place = &outside->next;
			continue;
		}
		crit_kernel_forget_tgid(&source->kernel, outside->tgid);
		remove_outside(place);
	}
}

static uint64_t lost(const void *state, const struct crit_run *run)
{
	const struct sched_bpf *source = state;
	const struct crit_run_counters *counters = crit_kernel_counters(&source->kernel, run->slot);

	return __atomic_load_n(&counters->lost, __ATOMIC_RELAXED) +
	       __atomic_load_n(&counters->lost_members, __ATOMIC_RELAXED);
}

static uint64_t refused_stacks(const void *state, const struct crit_run *run)
{
	const struct sched_bpf *source = state;

	return __atomic_load_n(&crit_kernel_counters(&source->kernel, run->slot)->stacks_refused,
			       __ATOMIC_RELAXED);
}

static int64_t live(void *state, const struct crit_run *run)
{
	const struct sched_bpf *source = state;

	return __atomic_load_n(&crit_kernel_counters(&source->kernel, run->slot)->live_forked,
			       __ATOMIC_RELAXED);
}

struct living { /* is looked for */
	const struct sched_bpf *source;
	uint32_t run_number;
	bool is_found;
};

static int find_living_thread(void *context, uint32_t tid)
{
	struct living *living = context;

	living->is_found = crit_kernel_is_member(&living->source->kernel, tid, living->run_number);
	return living->is_found;
}

static int find_living(void *context, uint32_t pid)
{
	struct living *living = context;

	(void)crit_procfs_each_tid(living->source->context.proc_fd, pid, find_living_thread,
				   living);
	return living->is_found;
}

static bool has_living(const void *state, const struct crit_run *run)
{
	struct living living = { .source = state, .run_number = run->number };

	return crit_procfs_each_pid(living.source->context.proc_fd, find_living, &living) < 0 ||
	       living.is_found;
}

const struct crit_source_ops crit_sched_bpf = {
	.is_privileged = true,
	.open = open_source,
	.check = check,
	.close = close_source,
	.begin = begin,
	.stop = stop,
	.attach = attach,
	.detach = detach,
	.drain = drain,
	.set_seldom = set_seldom,
	.wake_fd = wake_fd,
	.look = look,
	.lost = lost,
	.stop_stacks = stop_stacks,
	.refused_stacks = refused_stacks,
	.live = live,
	.has_living = has_living,
};
