// SPDX-License-Identifier: BSD-3-Clause
// Explicit tasks as event records: made, switched to, complete.
//
// A reader keeps a call stack per task (OTF2: a switch may change the current one), so a thread
// that leaves a task's span is told to be back in what it left for it: the task around, or its
// share of the region, which is the implicit task, number 0 of the thread itself.
#include <errno.h>

#include "otf2/writer.h"

#define GENERATION(task) ((uint32_t)(task))

static int made(struct crit_otf2_writer *writer, const struct crit_otf2_location *location,
		uint64_t time_ns, uint64_t task)
{
	const struct crit_otf2_member *member = location->member;
	struct crit_otf2_openmp *openmp = &writer->openmp;
	struct crit_otf2_object *live;
	uint32_t team, position;
	int rc;

	if (!member || !member->depth || member->depth > CRIT_OTF2_TEAM_DEPTH)
		return 0; /* in no team: executed at once, by the same thread */
	team = member->frames[member->depth - 1].team;
	position = member->frames[member->depth - 1].position;
	rc = crit_otf2_live_add(&openmp->tasks, location->group, task, &live);
	if (rc) {
		openmp->lost_tasks++;
		return rc == -ENOSPC ? 0 : rc;
	}
	live->team = team;
	live->creator = position;
	return crit_otf2_check(writer,
			       OTF2_EvtWriter_ThreadTaskCreate(location->events, NULL, time_ns,
							       CRIT_OTF2_TEAM_BASE + team, position,
							       GENERATION(task)),
			       "an event");
}

int crit_otf2_task_told(void *user, uint32_t thread, uint64_t time_ns, uint16_t note, uint64_t task)
{
	struct crit_otf2_writer *writer = user;
	struct crit_otf2_location *location;
	struct crit_otf2_member *member;
	const OTF2_EvtWriter *events;
	int rc;

	events = crit_otf2_writer_of(writer, thread, &location, &time_ns, &rc);
	if (!events)
		return rc;
	if (note == CRIT_OMP_TASK_MADE)
		return made(writer, location, time_ns, task);
	member = location->member;
	if (note == CRIT_OMP_TASK_PAUSED && member && member->task_depth &&
	    member->task_depth <= CRIT_OTF2_TASK_DEPTH)
		member->tasks[member->task_depth - 1].is_paused =
			member->tasks[member->task_depth - 1].task == task;
	return 0;
}

int crit_otf2_task_enter(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			 uint64_t time_ns, uint64_t task)
{
	const struct crit_otf2_object *live =
		task ? crit_otf2_live_find(&writer->openmp.tasks, location->group, task) : NULL;
	struct crit_otf2_member *member = location->member;
	uint32_t at;

	if (!member || !member->depth) /* in no team */
		return 0;
	at = member->task_depth++;
	if (at >= CRIT_OTF2_TASK_DEPTH) {
		writer->openmp.lost_tasks++;
		return 0;
	}
	member->tasks[at].task = task;
	member->tasks[at].frame = member->depth;
	member->tasks[at].is_paused = false;
	member->tasks[at].is_told = live != NULL;
	writer->openmp.lost_tasks += task && !live;
	if (!live)
		return 0;
	member->tasks[at].team = live->team;
	member->tasks[at].creator = live->creator;
	return crit_otf2_check(writer,
			       OTF2_EvtWriter_ThreadTaskSwitch(location->events, NULL, time_ns,
							       CRIT_OTF2_TEAM_BASE + live->team,
							       live->creator, GENERATION(task)),
			       "an event");
}

/* To the task around, or to the implicit one. */
static OTF2_ErrorCode switch_back(const struct crit_otf2_location *location, uint64_t time_ns)
{
	const struct crit_otf2_member *member = location->member;
	uint32_t team, creator, generation = 0, depth = member->task_depth;

	if (!member->depth || member->depth > CRIT_OTF2_TEAM_DEPTH)
		return OTF2_SUCCESS;
	team = member->frames[member->depth - 1].team;
	creator = member->frames[member->depth - 1].position;
	if (depth && member->tasks[depth - 1].frame == member->depth &&
	    member->tasks[depth - 1].is_told) {
		team = member->tasks[depth - 1].team;
		creator = member->tasks[depth - 1].creator;
		generation = GENERATION(member->tasks[depth - 1].task);
	}
	return OTF2_EvtWriter_ThreadTaskSwitch(location->events, NULL, time_ns,
					       CRIT_OTF2_TEAM_BASE + team, creator, generation);
}

int crit_otf2_task_leave(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			 uint64_t time_ns)
{
	struct crit_otf2_member *member = location->member;
	OTF2_ErrorCode code = OTF2_SUCCESS;
	uint32_t at;

	if (!member || !member->task_depth || --member->task_depth >= CRIT_OTF2_TASK_DEPTH)
		return 0;
	at = member->task_depth;
	if (!member->tasks[at].is_told)
		return 0;
	if (!member->tasks[at].is_paused) {
		crit_otf2_live_remove(&writer->openmp.tasks, location->group,
				      member->tasks[at].task);
		code = OTF2_EvtWriter_ThreadTaskComplete(
			location->events, NULL, time_ns,
			CRIT_OTF2_TEAM_BASE + member->tasks[at].team, member->tasks[at].creator,
			GENERATION(member->tasks[at].task));
	}
	if (code == OTF2_SUCCESS)
		code = switch_back(location, time_ns);
	return crit_otf2_check(writer, code, "an event");
}
