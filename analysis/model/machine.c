// SPDX-License-Identifier: BSD-3-Clause
// Steps threads through running, runnable, blocked and unknown, and distrusts what does not fit.
#include "analysis/model/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/processes.h"
#include "analysis/model/process_ends.h"

#define CPUS 65536u
#define STATE_DEAD_BITS 0xb0u

int crit_machine_init(struct crit_machine *machine, struct crit_model *model, uint32_t node,
		      bool is_survey)
{
	*machine = (struct crit_machine){
		.model = model,
		.node = node,
		.is_survey = is_survey,
		.has_wakeups = model->nodes[node].row.kernel_half != CRIT_HALF_PERF,
		.next_life = model->nodes[node].first_life,
	};
	machine->on_cpu = malloc(CPUS * sizeof(*machine->on_cpu));
	if (!machine->on_cpu)
		return -ENOMEM;
	memset(machine->on_cpu, 0xff, CPUS * sizeof(*machine->on_cpu));
	return 0;
}

void crit_machine_fini(struct crit_machine *machine)
{
	crit_map_fini(&machine->tids);
	free(machine->on_cpu);
	machine->on_cpu = NULL;
}

uint32_t crit_machine_find(const struct crit_machine *machine, uint32_t tid)
{
	return crit_map_get(&machine->tids, tid);
}

static void emit(struct crit_machine *machine, uint32_t index, unsigned int flags)
{
	const struct crit_life *life = &machine->model->lives[index];
	struct crit_transition *out;
	uint8_t state = life->belief;

	if (machine->out_count >= CRIT_TRANSITIONS_MAX)
		return;
	if (!machine->is_survey && life->unknown_first != CRIT_NONE &&
	    machine->model->unknowns[life->unknown_first].event == life->events)
		state = CRIT_STATE_UNKNOWN;
	if (life->events == life->final_event)
		flags |= CRIT_T_DIED;
	out = &machine->out[machine->out_count++];
	*out = (struct crit_transition){ index, state, (uint8_t)flags };
}

/* Survey: what the life did since its last certain stamp is not known. */
static int distrust(struct crit_machine *machine, struct crit_life *life)
{
	struct crit_model *model = machine->model;
	uint32_t index = (uint32_t)model->unknown_count;
	int rc;

	machine->unmatched++;
	life->unmatched++;
	if (!machine->is_survey)
		return 0;
	if (life->unknown_last != CRIT_NONE &&
	    model->unknowns[life->unknown_last].event == life->events)
		return 0;
	rc = crit_array_grow(&model->unknowns, &model->unknown_capacity, index + 1,
			     sizeof(*model->unknowns));
	if (rc)
		return rc;
	model->unknowns[index] = (struct crit_unknown){ life->events, CRIT_NONE };
	if (life->unknown_last == CRIT_NONE)
		life->unknown_first = index;
	else
		model->unknowns[life->unknown_last].next = index;
	life->unknown_last = index;
	model->unknown_count++;
	return 0;
}

static void leave_cpu(struct crit_machine *machine, uint32_t index)
{
	struct crit_life *life = &machine->model->lives[index];

	if (life->cpu < CPUS && machine->on_cpu[life->cpu] == index)
		machine->on_cpu[life->cpu] = CRIT_NONE;
	life->cpu = CRIT_CPU_ANY;
}

/* A certain stamp: from here on the life is in this state. */
static int settle(struct crit_machine *machine, uint32_t index, bool is_expected,
		  enum crit_kernel_state state, uint64_t time_ns)
{
	struct crit_model *model = machine->model;
	struct crit_life *life = &model->lives[index];
	int rc = 0;

	if (!is_expected && life->belief != CRIT_STATE_UNKNOWN)
		rc = distrust(machine, life);
	if (!machine->is_survey && life->unknown_first != CRIT_NONE &&
	    model->unknowns[life->unknown_first].event == life->events)
		life->unknown_first = model->unknowns[life->unknown_first].next;
	life->events++;
	life->last_ns = time_ns;
	life->belief = (uint8_t)state;
	life->wants_ns = state == CRIT_STATE_RUNNABLE ? time_ns : 0;
	return rc;
}

/* The thread was runnable or running, active either way: no doubt, but a break. */
static void count_lost_switch_in(struct crit_machine *machine, struct crit_life *life)
{
	machine->unmatched++;
	life->unmatched++;
}

/* Somebody else is on the CPU we thought was this life's. */
static int displace(struct crit_machine *machine, uint32_t cpu, uint32_t newcomer)
{
	uint32_t index = machine->on_cpu[cpu];
	struct crit_life *life;
	int rc = 0;

	if (index == CRIT_NONE || index == newcomer)
		return 0;
	life = &machine->model->lives[index];
	machine->on_cpu[cpu] = CRIT_NONE;
	if (life->belief == CRIT_STATE_RUNNING && life->cpu == cpu) {
		rc = distrust(machine, life);
		life->belief = CRIT_STATE_UNKNOWN;
		life->cpu = CRIT_CPU_ANY;
	}
	return rc;
}

/* Ends a life that was not seen to end: its number is used again, or it left the run. */
static int end_life(struct crit_machine *machine, uint32_t index, uint64_t time_ns)
{
	struct crit_life *life = &machine->model->lives[index];
	int rc = 0;

	if (life->belief == CRIT_STATE_NONE)
		return 0;
	if (life->is_exiting && machine->is_survey) {
		life->final_event = life->events;
		time_ns = life->last_ns;
	} else if (!life->is_exiting && life->belief != CRIT_STATE_UNKNOWN) {
		rc = distrust(machine, life);
	}
	leave_cpu(machine, index);
	life->belief = CRIT_STATE_NONE;
	if (machine->is_survey)
		crit_process_life_ended(machine->model, index, time_ns);
	emit(machine, index, CRIT_T_DIED);
	return rc;
}

/* Fork records are small and cheap to make: lives are bounded by what is recorded. */
static bool has_room(const struct crit_machine *machine)
{
	const struct crit_node *node = &machine->model->nodes[machine->node];
	size_t count = machine->is_survey ? machine->model->life_count : machine->next_life;

	return count - node->first_life <
	       CRIT_LIVES_FREE + node->recording->size_bytes / CRIT_LIFE_BYTES;
}

static int new_life(struct crit_machine *machine, uint32_t *ret_index)
{
	struct crit_model *model = machine->model;
	int rc;

	if (!machine->is_survey && !has_room(machine)) {
		*ret_index = CRIT_NONE;
		return 0;
	}
	if (!machine->is_survey) { /* the survey made it */
		*ret_index = machine->next_life < model->life_count ? machine->next_life++
								    : CRIT_NONE;
		return 0;
	}
	*ret_index = CRIT_NONE;
	if (model->life_count >= CRIT_LIVES_MAX || !has_room(machine)) {
		machine->refused++;
		return 0;
	}
	rc = crit_array_grow(&model->lives, &model->life_capacity, model->life_count + 1,
			     sizeof(*model->lives));
	if (rc)
		return rc;
	*ret_index = (uint32_t)model->life_count++;
	model->lives[*ret_index] = (struct crit_life){
		.node = machine->node,
		.process = CRIT_NONE,
		.creator = CRIT_NONE,
		.older = CRIT_NONE,
		.part = CRIT_NONE,
		.next_in_part = CRIT_NONE,
		.final_event = CRIT_NONE,
		.unknown_first = CRIT_NONE,
		.unknown_last = CRIT_NONE,
	};
	return 0;
}

/* Begins a life; *ret_index is CRIT_NONE when the table is full. */
static int begin_life(struct crit_machine *machine, uint32_t tid, enum crit_kernel_state state,
		      uint64_t time_ns, uint32_t *ret_index)
{
	struct crit_life *life;
	uint32_t old = crit_machine_find(machine, tid);
	int rc = 0;

	if (old != CRIT_NONE)
		rc = end_life(machine, old, time_ns);
	if (!rc)
		rc = new_life(machine, ret_index);
	if (rc || *ret_index == CRIT_NONE)
		return rc;
	life = &machine->model->lives[*ret_index];
	life->cpu = CRIT_CPU_ANY;
	life->belief = (uint8_t)state;
	life->last_ns = time_ns;
	if (machine->is_survey) {
		life->tid = tid;
		life->birth_ns = time_ns;
		life->death_ns = CRIT_TIME_MAX;
	}
	return crit_map_set(&machine->tids, tid, *ret_index);
}

static bool is_alive(const struct crit_machine *machine, uint32_t index)
{
	return index != CRIT_NONE && machine->model->lives[index].belief != CRIT_STATE_NONE;
}

/* The living thread of a number; one nobody announced is born here, unknown, and counted. */
static int find_or_adopt(struct crit_machine *machine, uint32_t tid, uint64_t time_ns,
			 uint32_t *ret_index, unsigned int *flags)
{
	int rc;

	*ret_index = crit_machine_find(machine, tid);
	if (is_alive(machine, *ret_index))
		return 0;
	rc = begin_life(machine, tid, CRIT_STATE_UNKNOWN, time_ns, ret_index);
	if (!rc && *ret_index != CRIT_NONE) {
		machine->unmatched++;
		machine->model->lives[*ret_index].unmatched++;
		*flags |= CRIT_T_BORN;
	}
	return rc;
}

static int switch_out(struct crit_machine *machine, const struct crit_kernel_switch *record)
{
	const struct crit_kernel_head *head = &record->head;
	bool is_runnable = head->state == 0 || head->flags & CRIT_KF_PREEMPTED;
	unsigned int flags = CRIT_T_SWITCHED_OUT;
	struct crit_life *life;
	uint32_t index;
	bool is_expected;
	int rc = find_or_adopt(machine, record->prev_tid, head->time_ns, &index, &flags);

	if (rc || index == CRIT_NONE)
		return rc;
	rc = displace(machine, head->cpu, index);
	life = &machine->model->lives[index];
	is_expected = life->belief == CRIT_STATE_RUNNING &&
		      (life->cpu == head->cpu || life->cpu == CRIT_CPU_ANY);
	leave_cpu(machine, index);
	if (life->belief == CRIT_STATE_RUNNABLE) {
		count_lost_switch_in(machine, life);
		is_expected = true;
	}
	if (!rc)
		rc = settle(machine, index, is_expected,
			    is_runnable ? CRIT_STATE_RUNNABLE : CRIT_STATE_BLOCKED, head->time_ns);
	if (CRIT_TAG_FIELD(record->prev_tag, CLASS) == CRIT_CLASS_OMP_IDLE)
		life->is_worker = true;
	life->switches++;
	life->preemptions += is_runnable;
	if (!is_runnable && head->state & STATE_DEAD_BITS) {
		life->belief = CRIT_STATE_NONE;
		life->final_event = life->events;
		if (machine->is_survey)
			crit_process_life_ended(machine->model, index, head->time_ns);
	}
	emit(machine, index, flags);
	return rc;
}

static int switch_in(struct crit_machine *machine, const struct crit_kernel_switch *record)
{
	const struct crit_kernel_head *head = &record->head;
	unsigned int flags = 0;
	struct crit_life *life;
	uint32_t index;
	bool is_expected;
	int rc = find_or_adopt(machine, record->next_tid, head->time_ns, &index, &flags);

	if (rc || index == CRIT_NONE)
		return rc;
	life = &machine->model->lives[index];
	is_expected = life->belief == CRIT_STATE_RUNNABLE ||
		      (life->belief == CRIT_STATE_BLOCKED && !machine->has_wakeups);
	leave_cpu(machine, index);
	rc = settle(machine, index, is_expected, CRIT_STATE_RUNNING, head->time_ns);
	life->cpu = head->cpu;
	machine->on_cpu[head->cpu] = index;
	emit(machine, index, flags);
	return rc;
}

/* A thread is on a CPU: told of (YIELDS), or because it speaks for itself. */
static int on_cpu_now(struct crit_machine *machine, uint32_t index, uint64_t time_ns,
		      unsigned int flags, bool is_told)
{
	struct crit_life *life = &machine->model->lives[index];
	uint64_t wants_ns = life->wants_ns;
	bool is_runnable = life->belief == CRIT_STATE_RUNNABLE;
	int rc;

	if (is_runnable && !is_told)
		count_lost_switch_in(machine, life);
	rc = settle(machine, index, is_runnable || life->belief == CRIT_STATE_RUNNING,
		    CRIT_STATE_RUNNING, time_ns);
	if (!is_told)
		life->wants_ns = wants_ns; /* until RAN tells since when it runs */
	emit(machine, index, flags);
	return rc;
}

/* A switch-in that nobody saw is told now, before the switch-out.  One that was seen counts. */
static int on_ran(struct crit_machine *machine, const struct crit_kernel_ran *record)
{
	uint64_t time_ns = record->head.time_ns;
	struct crit_return noted = { .is_running = true };
	unsigned int flags = 0;
	int rc = find_or_adopt(machine, record->tid, time_ns, &noted.life, &flags);

	if (rc || noted.life == CRIT_NONE)
		return rc;
	rc = machine->is_survey
		     ? crit_lives_note_return(machine->model, &noted, time_ns, record->ran_ns)
		     : 0;
	return rc ? rc : on_cpu_now(machine, noted.life, time_ns, flags, false);
}

/* Many switches of a waiting thread in one: it was runnable, and on CPUs for a part of that. */
static int on_yields(struct crit_machine *machine, const struct crit_kernel_yields *record)
{
	uint64_t time_ns = record->head.time_ns;
	struct crit_return noted = { .running_ns = record->running_ns,
				     .is_running = record->head.flags & CRIT_KF_RUNNING };
	unsigned int flags = 0;
	int rc = find_or_adopt(machine, record->tid, time_ns, &noted.life, &flags);

	if (rc || noted.life == CRIT_NONE)
		return rc;
	machine->model->lives[noted.life].switches += record->count;
	machine->model->lives[noted.life].preemptions += record->count;
	rc = machine->is_survey
		     ? crit_lives_note_return(machine->model, &noted, time_ns, record->since_ns)
		     : 0;
	if (!rc && noted.is_running)
		return on_cpu_now(machine, noted.life, time_ns, flags, true);
	if (flags)
		emit(machine, noted.life, flags);
	return rc;
}

static int on_switch(struct crit_machine *machine, const struct crit_kernel_switch *record)
{
	int rc = 0;

	if (record->head.flags & CRIT_KF_PREV_MEMBER && record->prev_tid)
		rc = switch_out(machine, record);
	else
		rc = displace(machine, record->head.cpu, CRIT_NONE);
	if (!rc && record->head.flags & CRIT_KF_NEXT_MEMBER && record->next_tid)
		rc = switch_in(machine, record);
	return rc;
}

/* A wakeup of a thread that is still on its CPU, or in the queue, is usual and changes nothing. */
static int on_wake(struct crit_machine *machine, const struct crit_kernel_wake *record)
{
	unsigned int flags = 0;
	uint32_t index;
	int rc = find_or_adopt(machine, record->tid, record->head.time_ns, &index, &flags);
	uint8_t belief;

	if (rc || index == CRIT_NONE)
		return rc;
	belief = machine->model->lives[index].belief;
	if (belief != CRIT_STATE_BLOCKED && belief != CRIT_STATE_UNKNOWN)
		return 0;
	rc = settle(machine, index, true, CRIT_STATE_RUNNABLE, record->head.time_ns);
	emit(machine, index, flags);
	return rc;
}

static bool is_mpi_tag(__u64 tag)
{
	unsigned int span_class = CRIT_TAG_FIELD(tag, CLASS);

	return span_class >= CRIT_CLASS_MPI && span_class <= CRIT_CLASS_MPI_WAIT;
}

static int on_fork(struct crit_machine *machine, const struct crit_kernel_fork *record)
{
	uint32_t creator = crit_machine_find(machine, record->parent_tid);
	struct crit_life *life;
	uint32_t index;
	int rc = begin_life(machine, record->tid, CRIT_STATE_BLOCKED, record->head.time_ns, &index);

	if (rc || index == CRIT_NONE)
		return rc;
	if (machine->is_survey) {
		life = &machine->model->lives[index];
		life->creator = creator;
		life->is_born_in_mpi = is_mpi_tag(record->parent_tag);
		if (record->comm[0])
			memcpy(life->name, record->comm, sizeof(life->name));
		else if (creator != CRIT_NONE)
			memcpy(life->name, machine->model->lives[creator].name, sizeof(life->name));
		rc = crit_process_life_began(
			machine->model, index,
			&(struct crit_birth){ .tgid = record->tgid,
					      .ns_tid = record->ns_tid,
					      .parent_pid = record->parent_tgid,
					      .is_new = record->head.flags & CRIT_KF_NEW_PROCESS });
	}
	emit(machine, index, CRIT_T_BORN);
	return rc;
}

/* ENROL of a thread that is known already tells its present name. */
static int on_enrol(struct crit_machine *machine, const struct crit_kernel_enrol *record)
{
	enum crit_kernel_state state = record->head.state ? CRIT_STATE_BLOCKED : CRIT_STATE_UNKNOWN;
	uint32_t index = crit_machine_find(machine, record->tid);
	unsigned int flags = 0;
	int rc = 0;

	if (record->head.flags & CRIT_KF_RUNNING)
		state = CRIT_STATE_RUNNING;
	if (!is_alive(machine, index)) {
		rc = begin_life(machine, record->tid, state, record->head.time_ns, &index);
		flags = CRIT_T_BORN;
	} else if (state == CRIT_STATE_RUNNING &&
		   machine->model->lives[index].belief != CRIT_STATE_RUNNING) {
		rc = settle(machine, index, false, CRIT_STATE_RUNNING, record->head.time_ns);
	} else {
		if (machine->is_survey)
			memcpy(machine->model->lives[index].name, record->comm, CRIT_COMM_BYTES);
		return 0;
	}
	if (rc || index == CRIT_NONE)
		return rc;
	if (machine->is_survey && machine->model->lives[index].process == CRIT_NONE) {
		memcpy(machine->model->lives[index].name, record->comm, CRIT_COMM_BYTES);
		rc = crit_process_life_began(machine->model, index,
					     &(struct crit_birth){ .tgid = record->tgid,
								   .ns_tid = record->ns_tid,
								   .parent_pid =
									   record->parent_tgid });
	}
	emit(machine, index, flags);
	return rc;
}

static int on_exec(struct crit_machine *machine, const struct crit_kernel_exec *record)
{
	uint64_t time_ns = record->head.time_ns;
	uint32_t leader = crit_machine_find(machine, record->tid);
	unsigned int flags = CRIT_T_EXEC;
	struct crit_life *life;
	uint32_t index;
	int rc = find_or_adopt(machine, record->old_tid, time_ns, &index, &flags);
	if (rc || index == CRIT_NONE)
		return rc;
	if (record->old_tid != record->tid) { /* it takes over the leader's number */
		if (leader != CRIT_NONE && leader != index)
			rc = end_life(machine, leader, time_ns);
		if (!rc)
			rc = crit_map_set(&machine->tids, record->tid, index);
		if (!rc)
			rc = crit_map_set(&machine->tids, record->old_tid, CRIT_NONE);
	}
	if (rc)
		return rc;
	life = &machine->model->lives[index];
	if (machine->is_survey) {
		memcpy(life->name, record->comm, sizeof(life->name));
		rc = crit_process_life_execed(machine->model, index, record, flags & CRIT_T_BORN);
	}
	if (!rc)
		rc = on_cpu_now(machine, index, time_ns, flags, false);
	if (rc || !(record->head.flags & CRIT_KF_EXPELLED))
		return rc;
	leave_cpu(machine, index);
	life->belief = CRIT_STATE_NONE;
	life->final_event = life->events;
	machine->out[machine->out_count - 1].flags |= CRIT_T_DIED;
	if (machine->is_survey) {
		crit_process_life_ended(machine->model, index, time_ns);
		machine->model->processes[life->process].is_expelled = true;
	}
	return 0;
}

/* The kernel half ends with this one; of an unknown task that is all there is to say. */
static int on_expelled(struct crit_machine *machine, const struct crit_kernel_exec *record)
{
	uint32_t index = crit_machine_find(machine, record->old_tid);
	int rc = 0;

	if (!is_alive(machine, index))
		index = CRIT_NONE;
	if (machine->is_survey)
		rc = crit_process_ends_add(machine->model, machine->node, index, record);
	return rc || index == CRIT_NONE ? rc : on_exec(machine, record);
}

static int on_exit_record(struct crit_machine *machine, const struct crit_kernel_exit *record)
{
	unsigned int flags = 0;
	uint32_t index;
	int rc = find_or_adopt(machine, record->tid, record->head.time_ns, &index, &flags);

	if (rc || index == CRIT_NONE)
		return rc;
	if (machine->is_survey)
		rc = crit_process_life_named(machine->model, index, record);
	if (!rc && machine->is_survey)
		crit_process_ends_exit(machine->model, index, record);
	if (!rc)
		rc = on_cpu_now(machine, index, record->head.time_ns, flags, false);
	machine->model->lives[index].is_exiting = true;
	return rc;
}

int crit_machine_step(struct crit_machine *machine, const union crit_kernel_record *record)
{
	machine->out_count = 0;
	switch (record->head.kind) {
	case CRIT_K_SWITCH:
		return on_switch(machine, &record->switched);
	case CRIT_K_RAN:
		return on_ran(machine, &record->ran);
	case CRIT_K_YIELDS:
		return on_yields(machine, &record->yields);
	case CRIT_K_WAKE:
	case CRIT_K_WAKE_NEW:
		return on_wake(machine, &record->wake);
	case CRIT_K_FORK:
		return on_fork(machine, &record->forked);
	case CRIT_K_ENROL:
		return on_enrol(machine, &record->enrol);
	case CRIT_K_EXEC:
		return record->head.flags & CRIT_KF_EXPELLED ? on_expelled(machine, &record->exec)
							     : on_exec(machine, &record->exec);
	case CRIT_K_EXIT:
		return on_exit_record(machine, &record->exited);
	default:
		return 0;
	}
}
