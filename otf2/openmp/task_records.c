// SPDX-License-Identifier: BSD-3-Clause
// Keeps which tasks live, and which a location is in.
#include "otf2/openmp/task_records.h"

#include <errno.h>
#include <stdlib.h>

#include "core/abi/abi_slot.h"
#include "otf2/openmp/live_objects.h"

#define DEPTH_MAX 64u /* tasks a thread is in at the same time */
#define GENERATION(task) ((uint32_t)(task))

struct entered_task {
	uint64_t task;
	uint32_t team, creator;
	uint32_t depth; /* of teams, where it is executed */
	bool is_told, is_paused;
};

struct worker { /* a location */
	uint32_t depth;
	struct entered_task tasks[DEPTH_MAX];
};

struct crit_otf2_tasks {
	struct crit_otf2_files *files;
	const struct crit_otf2_teams *teams;
	struct crit_otf2_live live;
	struct worker *workers; /* by row of the location; memory that is never touched is none */
	uint64_t lost; /* created or complete, not both as far as is known; or no room */
};

struct crit_otf2_tasks *crit_otf2_tasks_create(struct crit_otf2_files *files,
					       const struct crit_otf2_teams *teams,
					       size_t location_count)
{
	struct crit_otf2_tasks *tasks = calloc(1, sizeof(*tasks));

	if (!tasks)
		return NULL;
	*tasks = (struct crit_otf2_tasks){
		.files = files,
		.teams = teams,
		.workers = calloc(location_count + 1, sizeof(struct worker)),
	};
	crit_otf2_live_init(&tasks->live);
	if (tasks->workers)
		return tasks;
	crit_otf2_tasks_destroy(tasks);
	return NULL;
}

void crit_otf2_tasks_destroy(struct crit_otf2_tasks *tasks)
{
	if (!tasks)
		return;
	free(tasks->workers);
	crit_otf2_live_fini(&tasks->live);
	free(tasks);
}

static int create(struct crit_otf2_tasks *tasks, const struct crit_otf2_moment *at, uint64_t task)
{
	const struct crit_otf2_frame *frame = crit_otf2_teams_innermost(tasks->teams, at->row);
	struct crit_otf2_object *live;
	int rc;

	if (!frame)
		return 0; /* in no team: executed at once, by the same thread */
	rc = crit_otf2_live_add(&tasks->live, at->group, task, &live);
	if (rc) {
		tasks->lost++;
		return rc == -ENOSPC ? 0 : rc;
	}
	live->team = frame->team;
	live->creator = frame->position;
	return crit_otf2_check(tasks->files,
			       OTF2_EvtWriter_ThreadTaskCreate(at->events, NULL, at->time_ns,
							       CRIT_OTF2_TEAM_BASE + frame->team,
							       frame->position, GENERATION(task)),
			       "an event");
}

/* The innermost task a location is in; NULL: none, or too deep. */
static struct entered_task *innermost(const struct crit_otf2_tasks *tasks, uint32_t row)
{
	struct worker *worker = &tasks->workers[row];

	return worker->depth && worker->depth <= DEPTH_MAX ? &worker->tasks[worker->depth - 1]
							   : NULL;
}

int crit_otf2_tasks_note(struct crit_otf2_tasks *tasks, const struct crit_otf2_moment *at,
			 uint16_t note, uint64_t task)
{
	struct entered_task *entered = innermost(tasks, at->row);

	if (note == CRIT_OMP_TASK_MADE)
		return create(tasks, at, task);
	if (note == CRIT_OMP_TASK_PAUSED && entered)
		entered->is_paused = entered->task == task;
	return 0;
}

int crit_otf2_tasks_enter(struct crit_otf2_tasks *tasks, const struct crit_otf2_moment *at,
			  uint64_t task)
{
	const struct crit_otf2_object *live =
		task ? crit_otf2_live_find(&tasks->live, at->group, task) : NULL;
	uint32_t team_depth = crit_otf2_teams_depth(tasks->teams, at->row), depth;
	struct worker *worker = &tasks->workers[at->row];

	if (!team_depth)
		return 0;
	depth = worker->depth++;
	if (depth >= DEPTH_MAX) {
		tasks->lost++;
		return 0;
	}
	worker->tasks[depth] =
		(struct entered_task){ .task = task, .depth = team_depth, .is_told = live != NULL };
	tasks->lost += task && !live;
	if (!live)
		return 0;
	worker->tasks[depth].team = live->team;
	worker->tasks[depth].creator = live->creator;
	return crit_otf2_check(tasks->files,
			       OTF2_EvtWriter_ThreadTaskSwitch(at->events, NULL, at->time_ns,
							       CRIT_OTF2_TEAM_BASE + live->team,
							       live->creator, GENERATION(task)),
			       "an event");
}

/* To the task around, or to the implicit one. */
static OTF2_ErrorCode switch_back(const struct crit_otf2_tasks *tasks,
				  const struct crit_otf2_moment *at)
{
	const struct crit_otf2_frame *frame = crit_otf2_teams_innermost(tasks->teams, at->row);
	const struct entered_task *around = innermost(tasks, at->row);
	uint32_t team, creator, generation = 0;

	if (!frame)
		return OTF2_SUCCESS;
	team = frame->team;
	creator = frame->position;
	if (around && around->depth == crit_otf2_teams_depth(tasks->teams, at->row) &&
	    around->is_told) {
		team = around->team;
		creator = around->creator;
		generation = GENERATION(around->task);
	}
	return OTF2_EvtWriter_ThreadTaskSwitch(at->events, NULL, at->time_ns,
					       CRIT_OTF2_TEAM_BASE + team, creator, generation);
}

int crit_otf2_tasks_leave(struct crit_otf2_tasks *tasks, const struct crit_otf2_moment *at)
{
	struct worker *worker = &tasks->workers[at->row];
	OTF2_ErrorCode code = OTF2_SUCCESS;
	const struct entered_task *left;

	if (!worker->depth || --worker->depth >= DEPTH_MAX)
		return 0;
	left = &worker->tasks[worker->depth];
	if (!left->is_told)
		return 0;
	if (!left->is_paused) {
		crit_otf2_live_remove(&tasks->live, at->group, left->task);
		code = OTF2_EvtWriter_ThreadTaskComplete(at->events, NULL, at->time_ns,
							 CRIT_OTF2_TEAM_BASE + left->team,
							 left->creator, GENERATION(left->task));
	}
	if (code == OTF2_SUCCESS)
		code = switch_back(tasks, at);
	return crit_otf2_check(tasks->files, code, "an event");
}

/* Those that live at the end are not complete, say cancelled. */
static uint64_t lost_count(const struct crit_otf2_tasks *tasks)
{
	return tasks->lost + tasks->live.objects;
}

bool crit_otf2_tasks_are_whole(const struct crit_otf2_tasks *tasks)
{
	return !lost_count(tasks);
}

int crit_otf2_tasks_pack(const struct crit_otf2_tasks *tasks, struct crit_exchange_buffer *buffer)
{
	uint64_t lost = lost_count(tasks);

	return crit_exchange_buffer_put(buffer, &lost, sizeof(lost));
}

int crit_otf2_tasks_unpack(struct crit_otf2_tasks *tasks, const struct crit_exchange_buffer *buffer,
			   size_t *at)
{
	uint64_t lost;

	if (!crit_exchange_buffer_take(buffer, at, &lost, sizeof(lost)))
		return -EPROTO;
	tasks->lost += lost;
	return 0;
}
