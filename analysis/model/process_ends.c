// SPDX-License-Identifier: BSD-3-Clause
// Lists processes whose kernel half ended by an exec, and those killed before MPI_Init returned.
#include "analysis/model/process_ends.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model.h"
#include "analysis/model/processes.h"

#define SIGNAL_MASK 0x7fu /* of an exit code; above it: core dumped */
#define STATUS_SHIFT 8
#define EXPULSIONS_MAX 256u /* different ones; the results count the others */

struct crit_expelled { /* its kernel half ended with an exec */
	uint32_t node;
	uint32_t pid;
	uint32_t thread; /* CRIT_NONE: not known */
	uint8_t expulsion; /* enum crit_expulsion */
	uint64_t time_ns;
	char name[CRIT_COMM_BYTES];
};

int crit_process_ends_add(struct crit_model *model, uint32_t node, uint32_t thread,
			  const struct crit_kernel_exec *record)
{
	struct crit_expelled *row;
	int rc;

	for (size_t i = 0; i < model->expelled_count; i++) {
		row = &model->expelled[i];
		if (row->node == node && row->pid == record->tgid &&
		    !memcmp(row->name, record->comm, sizeof(row->name)))
			return 0; /* its shim registered it anew */
	}
	if (model->expelled_count >= EXPULSIONS_MAX) {
		model->expelled_unlisted++;
		return 0;
	}
	rc = crit_array_grow(&model->expelled, &model->expelled_capacity, model->expelled_count + 1,
			     sizeof(*model->expelled));
	if (rc)
		return rc;
	row = &model->expelled[model->expelled_count++];
	*row = (struct crit_expelled){ .node = node,
				       .pid = record->tgid,
				       .thread = thread,
				       .expulsion = record->head.state,
				       .time_ns = record->head.time_ns };
	memcpy(row->name, record->comm, sizeof(row->name));
	return 0;
}

void crit_process_ends_exit(struct crit_model *model, uint32_t thread,
			    const struct crit_kernel_exit *record)
{
	uint32_t process = model->threads[thread].process;

	if (record->tid != record->tgid || process == CRIT_NONE)
		return;
	model->processes[process].exit_signal = record->exit_code & SIGNAL_MASK;
	model->processes[process].exit_status = (uint8_t)(record->exit_code >> STATUS_SHIFT);
	model->processes[process].exit_ns = record->head.time_ns;
}

static enum crit_process_end end_of(uint8_t expulsion)
{
	switch (expulsion) {
	case CRIT_EXPELLED_USER:
		return CRIT_END_OTHER_USER;
	case CRIT_EXPELLED_PRIVILEGES:
		return CRIT_END_PRIVILEGES;
	case CRIT_EXPELLED_UNREADABLE:
		return CRIT_END_UNREADABLE;
	default:
		return CRIT_END_UNTOLD;
	}
}

static void fill_expelled(const struct crit_model *model, struct crit_results *results)
{
	for (size_t i = 0; i < model->expelled_count; i++) {
		const struct crit_expelled *from = &model->expelled[i];
		struct crit_process_end_row *to = &results->ends[results->end_count++];

		*to = (struct crit_process_end_row){
			.node = from->node,
			.pid = from->pid,
			.end = end_of(from->expulsion),
			.role = from->thread == CRIT_NONE ? CRIT_THREAD_APP
							  : model->threads[from->thread].role,
			.time_ns = from->time_ns,
		};
		memcpy(to->name, from->name, sizeof(from->name));
	}
	results->ends_unlisted = model->expelled_unlisted;
}

static bool is_killed_in_init(const struct crit_process *process)
{
	return process->is_registered && process->has_mpi && process->rank == CRIT_NONE &&
	       process->exit_signal;
}

static void fill_killed(const struct crit_model *model, struct crit_results *results)
{
	for (size_t i = 0; i < model->process_count; i++) {
		const struct crit_process *process = &model->processes[i];
		struct crit_process_end_row *to = &results->ends[results->end_count];

		if (!is_killed_in_init(process))
			continue;
		results->end_count++;
		*to = (struct crit_process_end_row){ .node = process->node,
						     .pid = process->pid,
						     .end = CRIT_END_KILLED_IN_INIT,
						     .role = CRIT_THREAD_APP,
						     .signal = process->exit_signal,
						     .time_ns = process->exit_ns };
		memcpy(to->name, process->program, sizeof(to->name));
	}
}

static int by_time(const void *left, const void *right)
{
	const struct crit_process_end_row *a = left, *b = right;
	int rc = a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;

	rc = rc ? rc : crit_by_number(a->node, b->node);
	return rc ? rc : crit_by_number(a->pid, b->pid);
}

int crit_process_ends_fill(const struct crit_model *model, struct crit_results *results)
{
	results->ends =
		calloc(model->expelled_count + model->process_count + 1, sizeof(*results->ends));
	if (!results->ends)
		return -ENOMEM;
	fill_expelled(model, results);
	fill_killed(model, results);
	qsort(results->ends, results->end_count, sizeof(*results->ends), by_time);
	return 0;
}
