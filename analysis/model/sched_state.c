// SPDX-License-Identifier: BSD-3-Clause
// Steps threads through running, runnable, blocked and unknown; contradictions become unknown time.
#include "analysis/model/sched_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/processes.h"
#include "analysis/model/process_ends.h"

#define STATE_DEAD_BITS 0xb0u

void crit_sched_state_init(struct crit_sched_state *sched_state, struct crit_model *model,
			   uint32_t node, bool is_index_pass)
{
	*sched_state = (struct crit_sched_state){
		.model = model,
		.node = node,
		.is_index_pass = is_index_pass,
		.has_wakeups = model->nodes[node].row.kernel_half != CRIT_HALF_PERF,
		.next_thread = model->nodes[node].first_thread,
	};
}

void crit_sched_state_fini(struct crit_sched_state *sched_state)
{
	crit_map_fini(&sched_state->tids);
	free(sched_state->cpus);
	sched_state->cpus = NULL;
	sched_state->cpu_capacity = 0;
}

static inline void emit(struct crit_sched_state *sched_state, uint32_t index, unsigned int flags)
{
	const struct crit_thread *thread = &sched_state->model->threads[index];
	struct crit_transition *out;
	uint8_t state = thread->belief;

	if (sched_state->out_count >= CRIT_TRANSITIONS_MAX)
		return;
	if (!sched_state->is_index_pass && thread->revised_first != CRIT_NONE &&
	    sched_state->model->revisions[thread->revised_first].event == thread->events)
		state = sched_state->model->revisions[thread->revised_first].state;
	if (thread->events == thread->final_event)
		flags |= CRIT_T_DIED;
	out = &sched_state->out[sched_state->out_count++];
	*out = (struct crit_transition){ index, state, (uint8_t)flags };
}

/* What the thread did since its last certain stamp is not known. */
static int distrust(struct crit_sched_state *sched_state, struct crit_thread *thread)
{
	sched_state->unmatched++;
	thread->unmatched++;
	return sched_state->is_index_pass
		       ? crit_threads_revise(sched_state->model, thread, CRIT_STATE_UNKNOWN)
		       : 0;
}

/* A blocked thread gets a CPU.  If it was woken on its way to sleep, it never was blocked. */
static int note_early_wake(struct crit_sched_state *sched_state, struct crit_thread *thread)
{
	if (!thread->is_woken || thread->belief != CRIT_STATE_BLOCKED)
		return 0;
	sched_state->wakes_early++;
	thread->belief = CRIT_STATE_RUNNABLE;
	thread->wants_ns = thread->last_ns;
	return sched_state->is_index_pass
		       ? crit_threads_revise(sched_state->model, thread, CRIT_STATE_RUNNABLE)
		       : 0;
}

static inline void leave_cpu(struct crit_sched_state *sched_state, uint32_t index)
{
	struct crit_thread *thread = &sched_state->model->threads[index];

	if (thread->cpu < sched_state->cpu_capacity &&
	    sched_state->cpus[thread->cpu].running == index + 1)
		sched_state->cpus[thread->cpu].running = 0;
	thread->cpu = CRIT_CPU_ANY;
}

/* A certain stamp: from here on the thread is in this state. */
static inline int settle(struct crit_sched_state *sched_state, uint32_t index, bool is_expected,
			 enum crit_kernel_state state, uint64_t time_ns)
{
	struct crit_model *model = sched_state->model;
	struct crit_thread *thread = &model->threads[index];
	int rc = 0;

	if (!is_expected && thread->belief != CRIT_STATE_UNKNOWN)
		rc = distrust(sched_state, thread);
	if (!sched_state->is_index_pass && thread->revised_first != CRIT_NONE &&
	    model->revisions[thread->revised_first].event == thread->events)
		thread->revised_first = model->revisions[thread->revised_first].next;
	if (sched_state->is_index_pass)
		thread->awake_ns = crit_thread_awake(thread, time_ns);
	crit_thread_stamp(thread, state, time_ns);
	return rc;
}

/* The thread was runnable or running, active either way: no doubt, but a break. */
static void count_lost_switch_in(struct crit_sched_state *sched_state, struct crit_thread *thread)
{
	sched_state->unmatched++;
	thread->unmatched++;
}

/* Somebody else is on the CPU we thought was this thread's. */
static int displace(struct crit_sched_state *sched_state, uint32_t cpu, uint32_t newcomer)
{
	uint32_t index = sched_state->cpus[cpu].running - 1;
	struct crit_thread *thread;
	int rc = 0;

	if (index == CRIT_NONE || index == newcomer)
		return 0;
	thread = &sched_state->model->threads[index];
	sched_state->cpus[cpu].running = 0;
	if (thread->belief == CRIT_STATE_RUNNING && thread->cpu == cpu) {
		rc = distrust(sched_state, thread);
		thread->belief = CRIT_STATE_UNKNOWN;
		thread->cpu = CRIT_CPU_ANY;
	}
	return rc;
}

/* Ends a thread that was not seen to end: its number is used again, or it left the run. */
static int end_thread(struct crit_sched_state *sched_state, uint32_t index, uint64_t time_ns)
{
	struct crit_thread *thread = &sched_state->model->threads[index];
	int rc = 0;

	if (thread->belief == CRIT_STATE_NONE)
		return 0;
	if (thread->is_exiting && sched_state->is_index_pass) {
		thread->final_event = thread->events;
		time_ns = thread->last_ns;
	} else if (!thread->is_exiting && thread->belief != CRIT_STATE_UNKNOWN) {
		rc = distrust(sched_state, thread);
	}
	leave_cpu(sched_state, index);
	thread->belief = CRIT_STATE_NONE;
	if (sched_state->is_index_pass)
		crit_process_thread_ended(sched_state->model, index, time_ns);
	emit(sched_state, index, CRIT_T_DIED);
	return rc;
}

/* Fork records are small and cheap to make: lives are bounded by what is recorded. */
static bool has_room(const struct crit_sched_state *sched_state)
{
	const struct crit_node *node = &sched_state->model->nodes[sched_state->node];
	size_t count = sched_state->is_index_pass ? sched_state->model->thread_count
						  : sched_state->next_thread;

	return count - node->first_thread <
	       CRIT_THREADS_FREE + node->recording->size_bytes / CRIT_THREAD_BYTES;
}

static int new_thread(struct crit_sched_state *sched_state, uint32_t *ret_index)
{
	struct crit_model *model = sched_state->model;
	int rc = 0;

	if (!sched_state->is_index_pass && !has_room(sched_state)) {
		*ret_index = CRIT_NONE;
		return 0;
	}
	if (!sched_state->is_index_pass) { /* the index pass made it */
		*ret_index = sched_state->next_thread < model->thread_count
				     ? sched_state->next_thread++
				     : CRIT_NONE;
		return 0;
	}
	*ret_index = CRIT_NONE;
	if (has_room(sched_state))
		rc = crit_threads_append(model, sched_state->node, ret_index);
	sched_state->refused += !rc && *ret_index == CRIT_NONE;
	return rc;
}

/* Begins a thread; *ret_index is CRIT_NONE when the table is full. */
static int begin_thread(struct crit_sched_state *sched_state, uint32_t tid,
			enum crit_kernel_state state, uint64_t time_ns, uint32_t *ret_index)
{
	struct crit_thread *thread;
	uint32_t old = crit_sched_state_find(sched_state, tid);
	int rc = 0;

	if (old != CRIT_NONE)
		rc = end_thread(sched_state, old, time_ns);
	if (!rc)
		rc = new_thread(sched_state, ret_index);
	if (rc || *ret_index == CRIT_NONE)
		return rc;
	thread = &sched_state->model->threads[*ret_index];
	thread->cpu = CRIT_CPU_ANY;
	thread->belief = (uint8_t)state;
	thread->last_ns = time_ns;
	if (sched_state->is_index_pass) {
		thread->tid = tid;
		thread->birth_ns = time_ns;
		thread->death_ns = CRIT_TIME_MAX;
	}
	return crit_map_set(&sched_state->tids, tid, *ret_index);
}

/* The living thread of a number; one nobody announced is born here, unknown, and counted. */
static inline int find_or_adopt(struct crit_sched_state *sched_state, uint32_t tid,
				const struct crit_kernel_head *head, uint32_t *ret_index,
				unsigned int *flags)
{
	int rc;

	*ret_index = crit_sched_state_find_on(sched_state, head->cpu, tid);
	if (crit_sched_state_is_alive(sched_state, *ret_index))
		return 0;
	rc = begin_thread(sched_state, tid, CRIT_STATE_UNKNOWN, head->time_ns, ret_index);
	if (!rc && *ret_index != CRIT_NONE) {
		sched_state->unmatched++;
		sched_state->model->threads[*ret_index].unmatched++;
		*flags |= CRIT_T_BORN;
	}
	return rc;
}

static int switch_out(struct crit_sched_state *sched_state, const struct crit_kernel_switch *record)
{
	const struct crit_kernel_head *head = &record->head;
	bool is_runnable = head->state == 0 || head->flags & CRIT_KF_PREEMPTED;
	unsigned int flags = CRIT_T_SWITCHED_OUT;
	struct crit_thread *thread;
	uint32_t index;
	bool is_expected;
	int rc = find_or_adopt(sched_state, record->prev_tid, head, &index, &flags);

	if (rc || index == CRIT_NONE)
		return rc;
	crit_sched_cpu_set(&sched_state->cpus[head->cpu], CRIT_CPU_LEFT, record->prev_tid, index);
	rc = displace(sched_state, head->cpu, index);
	thread = &sched_state->model->threads[index];
	is_expected = thread->belief == CRIT_STATE_RUNNING &&
		      (thread->cpu == head->cpu || thread->cpu == CRIT_CPU_ANY);
	leave_cpu(sched_state, index);
	if (thread->belief == CRIT_STATE_RUNNABLE) {
		count_lost_switch_in(sched_state, thread);
		is_expected = true;
	}
	if (!rc)
		rc = settle(sched_state, index, is_expected,
			    is_runnable ? CRIT_STATE_RUNNABLE : CRIT_STATE_BLOCKED, head->time_ns);
	if (CRIT_TAG_FIELD(record->prev_tag, CLASS) == CRIT_CLASS_OMP_IDLE)
		thread->is_worker = true;
	thread->switches++;
	thread->preemptions += is_runnable;
	thread->is_woken = !is_runnable &&
			   crit_wake_was_early(head->state, thread->woken_ns, head->time_ns);
	if (!is_runnable && head->state & STATE_DEAD_BITS) {
		thread->belief = CRIT_STATE_NONE;
		thread->final_event = thread->events;
		if (sched_state->is_index_pass)
			crit_process_thread_ended(sched_state->model, index, head->time_ns);
	}
	emit(sched_state, index, flags);
	return rc;
}

static int switch_in(struct crit_sched_state *sched_state, const struct crit_kernel_switch *record)
{
	const struct crit_kernel_head *head = &record->head;
	unsigned int flags = 0;
	struct crit_thread *thread;
	uint32_t index;
	bool is_expected;
	int rc = find_or_adopt(sched_state, record->next_tid, head, &index, &flags);

	if (rc || index == CRIT_NONE)
		return rc;
	thread = &sched_state->model->threads[index];
	rc = note_early_wake(sched_state, thread);
	if (rc)
		return rc;
	is_expected = thread->belief == CRIT_STATE_RUNNABLE ||
		      (thread->belief == CRIT_STATE_BLOCKED && !sched_state->has_wakeups);
	leave_cpu(sched_state, index);
	rc = settle(sched_state, index, is_expected, CRIT_STATE_RUNNING, head->time_ns);
	thread->cpu = head->cpu;
	thread->woken_ns = 0;
	sched_state->cpus[head->cpu].running = index + 1;
	crit_sched_cpu_set(&sched_state->cpus[head->cpu], CRIT_CPU_CAME, record->next_tid, index);
	emit(sched_state, index, flags);
	return rc;
}

/* A thread is on a CPU: told of (YIELDS), or because it speaks for itself. */
static int on_cpu_now(struct crit_sched_state *sched_state, uint32_t index, uint64_t time_ns,
		      unsigned int flags, bool is_told)
{
	struct crit_thread *thread = &sched_state->model->threads[index];
	uint64_t wants_ns = thread->wants_ns;
	bool is_runnable = thread->belief == CRIT_STATE_RUNNABLE;
	int rc;

	if (is_runnable && !is_told)
		count_lost_switch_in(sched_state, thread);
	rc = settle(sched_state, index, is_runnable || thread->belief == CRIT_STATE_RUNNING,
		    CRIT_STATE_RUNNING, time_ns);
	if (!is_told)
		thread->wants_ns = wants_ns; /* until RAN tells since when it runs */
	emit(sched_state, index, flags);
	return rc;
}

/* A switch-in that nobody saw is told now, before the switch-out.  One that was seen counts. */
static int on_ran(struct crit_sched_state *sched_state, const struct crit_kernel_ran *record)
{
	uint64_t time_ns = record->head.time_ns;
	struct crit_return noted = { .is_running = true };
	unsigned int flags = 0;
	int rc = find_or_adopt(sched_state, record->tid, &record->head, &noted.thread, &flags);

	if (rc || noted.thread == CRIT_NONE)
		return rc;
	rc = note_early_wake(sched_state, &sched_state->model->threads[noted.thread]);
	if (!rc && sched_state->is_index_pass)
		rc = crit_threads_note_return(sched_state->model, &noted, time_ns, record->ran_ns);
	return rc ? rc : on_cpu_now(sched_state, noted.thread, time_ns, flags, false);
}

/* Many switches of a waiting thread in one: it was runnable, and on CPUs for a part of that. */
static int on_yields(struct crit_sched_state *sched_state, const struct crit_kernel_yields *record)
{
	uint64_t time_ns = record->head.time_ns;
	struct crit_return noted = { .running_ns = record->running_ns,
				     .is_running = record->head.flags & CRIT_KF_RUNNING };
	unsigned int flags = 0;
	int rc = find_or_adopt(sched_state, record->tid, &record->head, &noted.thread, &flags);

	if (rc || noted.thread == CRIT_NONE)
		return rc;
	sched_state->model->threads[noted.thread].switches += record->count;
	sched_state->model->threads[noted.thread].preemptions += record->count;
	rc = sched_state->is_index_pass ? crit_threads_note_return(sched_state->model, &noted,
								   time_ns, record->since_ns)
					: 0;
	if (!rc && noted.is_running)
		return on_cpu_now(sched_state, noted.thread, time_ns, flags, true);
	if (flags)
		emit(sched_state, noted.thread, flags);
	return rc;
}

static int on_switch(struct crit_sched_state *sched_state, const struct crit_kernel_switch *record)
{
	int rc = 0;

	if (record->head.flags & CRIT_KF_PREV_MEMBER && record->prev_tid)
		rc = switch_out(sched_state, record);
	else
		rc = displace(sched_state, record->head.cpu, CRIT_NONE);
	if (!rc && record->head.flags & CRIT_KF_NEXT_MEMBER && record->next_tid)
		rc = switch_in(sched_state, record);
	return rc;
}

/* A thread that is still on its CPU, or in the queue, may be on its way to sleep, or not sleep. */
static int on_wake(struct crit_sched_state *sched_state, const struct crit_kernel_wake *record)
{
	unsigned int flags = 0;
	struct crit_thread *thread;
	uint32_t index;
	int rc = find_or_adopt(sched_state, record->tid, &record->head, &index, &flags);

	if (rc || index == CRIT_NONE)
		return rc;
	crit_sched_cpu_set(&sched_state->cpus[record->head.cpu], CRIT_CPU_WOKEN, record->tid,
			   index);
	thread = &sched_state->model->threads[index];
	if (thread->belief != CRIT_STATE_BLOCKED && thread->belief != CRIT_STATE_UNKNOWN) {
		if (record->head.kind == CRIT_K_WAKING)
			thread->woken_ns = record->head.time_ns;
		return 0;
	}
	rc = settle(sched_state, index, true, CRIT_STATE_RUNNABLE, record->head.time_ns);
	emit(sched_state, index, flags);
	return rc;
}

/* It changes nothing but for which CPU the thread waits. */
static void on_migrate(struct crit_sched_state *sched_state,
		       const struct crit_kernel_migrate *record)
{
	uint32_t index = crit_sched_state_find(sched_state, record->tid);

	if (crit_sched_state_is_alive(sched_state, index) &&
	    sched_state->model->threads[index].belief != CRIT_STATE_RUNNING)
		emit(sched_state, index, 0);
}

static bool is_mpi_tag(__u64 tag)
{
	unsigned int span_class = CRIT_TAG_FIELD(tag, CLASS);

	return span_class >= CRIT_CLASS_MPI && span_class <= CRIT_CLASS_MPI_WAIT;
}

static int on_fork(struct crit_sched_state *sched_state, const struct crit_kernel_fork *record)
{
	uint32_t creator = crit_sched_state_find(sched_state, record->parent_tid);
	struct crit_thread *thread;
	uint32_t index;
	int rc = begin_thread(sched_state, record->tid, CRIT_STATE_BLOCKED, record->head.time_ns,
			      &index);

	if (rc || index == CRIT_NONE)
		return rc;
	if (sched_state->is_index_pass) {
		thread = &sched_state->model->threads[index];
		thread->creator = creator;
		thread->is_born_in_mpi = is_mpi_tag(record->parent_tag);
		if (record->comm[0])
			memcpy(thread->name, record->comm, sizeof(thread->name));
		else if (creator != CRIT_NONE)
			memcpy(thread->name, sched_state->model->threads[creator].name,
			       sizeof(thread->name));
		rc = crit_process_thread_began(
			sched_state->model, index,
			&(struct crit_birth){ .tgid = record->tgid,
					      .ns_tid = record->ns_tid,
					      .parent_pid = record->parent_tgid,
					      .is_new = record->head.flags & CRIT_KF_NEW_PROCESS });
	}
	emit(sched_state, index, CRIT_T_BORN);
	return rc;
}

/* ENROL of a thread that is known already tells its present name. */
static int on_enrol(struct crit_sched_state *sched_state, const struct crit_kernel_enrol *record)
{
	enum crit_kernel_state state = record->head.state ? CRIT_STATE_BLOCKED : CRIT_STATE_UNKNOWN;
	uint32_t index = crit_sched_state_find(sched_state, record->tid);
	unsigned int flags = 0;
	int rc = 0;

	if (record->head.flags & CRIT_KF_RUNNING)
		state = CRIT_STATE_RUNNING;
	if (!crit_sched_state_is_alive(sched_state, index)) {
		rc = begin_thread(sched_state, record->tid, state, record->head.time_ns, &index);
		flags = CRIT_T_BORN;
	} else if (state == CRIT_STATE_RUNNING &&
		   sched_state->model->threads[index].belief != CRIT_STATE_RUNNING) {
		rc = settle(sched_state, index, false, CRIT_STATE_RUNNING, record->head.time_ns);
	} else {
		if (sched_state->is_index_pass)
			memcpy(sched_state->model->threads[index].name, record->comm,
			       CRIT_COMM_BYTES);
		return 0;
	}
	if (rc || index == CRIT_NONE)
		return rc;
	if (sched_state->is_index_pass && sched_state->model->threads[index].process == CRIT_NONE) {
		memcpy(sched_state->model->threads[index].name, record->comm, CRIT_COMM_BYTES);
		sched_state->model->threads[index].is_enrolled = true;
		rc = crit_process_thread_began(sched_state->model, index,
					       &(struct crit_birth){ .tgid = record->tgid,
								     .ns_tid = record->ns_tid,
								     .parent_pid =
									     record->parent_tgid });
	}
	emit(sched_state, index, flags);
	return rc;
}

static int on_exec(struct crit_sched_state *sched_state, const struct crit_kernel_exec *record)
{
	uint64_t time_ns = record->head.time_ns;
	uint32_t leader = crit_sched_state_find(sched_state, record->tid);
	unsigned int flags = CRIT_T_EXEC;
	struct crit_thread *thread;
	uint32_t index;
	int rc = find_or_adopt(sched_state, record->old_tid, &record->head, &index, &flags);
	if (rc || index == CRIT_NONE)
		return rc;
	if (record->old_tid != record->tid) { /* it takes over the leader's number */
		sched_state->is_renamed = true;
		if (leader != CRIT_NONE && leader != index)
			rc = end_thread(sched_state, leader, time_ns);
		if (!rc)
			rc = crit_map_set(&sched_state->tids, record->tid, index);
		if (!rc)
			rc = crit_map_set(&sched_state->tids, record->old_tid, CRIT_NONE);
	}
	if (rc)
		return rc;
	thread = &sched_state->model->threads[index];
	if (sched_state->is_index_pass) {
		memcpy(thread->name, record->comm, sizeof(thread->name));
		rc = crit_process_thread_execed(sched_state->model, index, record,
						flags & CRIT_T_BORN);
	}
	if (!rc)
		rc = on_cpu_now(sched_state, index, time_ns, flags, false);
	if (rc || !(record->head.flags & CRIT_KF_EXPELLED))
		return rc;
	leave_cpu(sched_state, index);
	thread->belief = CRIT_STATE_NONE;
	thread->final_event = thread->events;
	sched_state->out[sched_state->out_count - 1].flags |= CRIT_T_DIED;
	if (sched_state->is_index_pass) {
		crit_process_thread_ended(sched_state->model, index, time_ns);
		sched_state->model->processes[thread->process].is_expelled = true;
	}
	return 0;
}

/* The kernel half ends with this one; of an unknown task that is all there is to say. */
static int on_expelled(struct crit_sched_state *sched_state, const struct crit_kernel_exec *record)
{
	uint32_t index = crit_sched_state_find(sched_state, record->old_tid);
	int rc = 0;

	if (!crit_sched_state_is_alive(sched_state, index))
		index = CRIT_NONE;
	if (sched_state->is_index_pass)
		rc = crit_process_ends_add(sched_state->model, sched_state->node, index, record);
	return rc || index == CRIT_NONE ? rc : on_exec(sched_state, record);
}

static int on_exit_record(struct crit_sched_state *sched_state,
			  const struct crit_kernel_exit *record)
{
	unsigned int flags = 0;
	uint32_t index;
	int rc = find_or_adopt(sched_state, record->tid, &record->head, &index, &flags);

	if (rc || index == CRIT_NONE)
		return rc;
	if (sched_state->is_index_pass)
		rc = crit_process_thread_named(sched_state->model, index, record);
	if (!rc && sched_state->is_index_pass)
		crit_process_ends_exit(sched_state->model, index, record);
	if (!rc)
		rc = on_cpu_now(sched_state, index, record->head.time_ns, flags, false);
	sched_state->model->threads[index].is_exiting = true;
	return rc;
}

/* It changes nothing; the replay tells listeners of it. */
static void on_sample(struct crit_sched_state *sched_state, const struct crit_kernel_sample *record)
{
	uint32_t index = crit_sched_state_find_on(sched_state, record->head.cpu, record->tid);

	if (index != CRIT_NONE)
		emit(sched_state, index, CRIT_T_SAMPLED);
}

int crit_sched_state_step(struct crit_sched_state *sched_state,
			  const union crit_kernel_record *record)
{
	int rc = crit_array_grow(&sched_state->cpus, &sched_state->cpu_capacity,
				 record->head.cpu + 1u, sizeof(*sched_state->cpus));

	sched_state->out_count = 0;
	if (rc)
		return rc;
	switch (record->head.kind) {
	case CRIT_K_SWITCH:
		return on_switch(sched_state, &record->switched);
	case CRIT_K_RAN:
		return on_ran(sched_state, &record->ran);
	case CRIT_K_YIELDS:
		return on_yields(sched_state, &record->yields);
	case CRIT_K_WAKING:
	case CRIT_K_WAKE_NEW:
	case CRIT_K_WAKE:
		return on_wake(sched_state, &record->wake);
	case CRIT_K_MIGRATE:
		on_migrate(sched_state, &record->migrate);
		return 0;
	case CRIT_K_FORK:
		return on_fork(sched_state, &record->forked);
	case CRIT_K_ENROL:
		return on_enrol(sched_state, &record->enrol);
	case CRIT_K_EXEC:
		return record->head.flags & CRIT_KF_EXPELLED
			       ? on_expelled(sched_state, &record->exec)
			       : on_exec(sched_state, &record->exec);
	case CRIT_K_EXIT:
		return on_exit_record(sched_state, &record->exited);
	case CRIT_K_SAMPLE:
	case CRIT_K_CAPTURE:
		on_sample(sched_state, &record->sample); /* fall through */
	default:
		return 0;
	}
}
