// SPDX-License-Identifier: BSD-3-Clause
// Checks tasks: created once, completed once, by the thread that switched to them last.
#include "otf2/verify/verify_tasks.h"

#include <errno.h>

#include "otf2/verify/comm_members.h"
#include "otf2/verify/event_time.h"
#include "otf2/verify/faults.h"

/* The team must be there, and who made the task in it. */
static struct crit_otf2_tally_row *row_of(struct crit_otf2_verifier *verifier,
					  struct crit_otf2_task task)
{
	const struct crit_otf2_tally_row key = { .communicator = task.team,
						 .sender = task.creator };
	const struct crit_otf2_seen_communicator *comm = crit_otf2_verify_find(verifier, task.team);
	struct crit_otf2_tally_row *row;

	if (!comm)
		return NULL;
	if (comm->group == CRIT_NONE ||
	    task.creator >= verifier->groups[comm->group].member_count) {
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_TASK,
				       "task %u is made by thread %u, which team %u has not",
				       task.generation, task.creator, task.team);
		return NULL;
	}
	row = crit_otf2_tally_get(&verifier->tasks, &key);
	if (!row)
		verifier->error = -ENOMEM;
	return row;
}

// NOLINTBEGIN(readability-function-size): the signatures are the library's
static OTF2_CallbackCode on_create(CRIT_OTF2_EVENT, OTF2_CommRef team, uint32_t creator,
				   uint32_t generation)
{
	struct crit_otf2_verifier *verifier = user;
	struct crit_otf2_tally_row *row =
		row_of(verifier, (struct crit_otf2_task){ team, creator, generation });

	if (row) {
		row->sends++;
		row->sent_bytes += generation;
	}
	return crit_otf2_verify_time(verifier, time_ns);
}

static OTF2_CallbackCode on_switch(CRIT_OTF2_EVENT, OTF2_CommRef team, uint32_t creator,
				   uint32_t generation)
{
	struct crit_otf2_verifier *verifier = user;

	verifier->stream.task = (struct crit_otf2_task){ team, creator, generation };
	(void)row_of(verifier, verifier->stream.task);
	return crit_otf2_verify_time(verifier, time_ns);
}

static OTF2_CallbackCode on_complete(CRIT_OTF2_EVENT, OTF2_CommRef team, uint32_t creator,
				     uint32_t generation)
{
	struct crit_otf2_verifier *verifier = user;
	const struct crit_otf2_task *last = &verifier->stream.task;
	struct crit_otf2_tally_row *row =
		row_of(verifier, (struct crit_otf2_task){ team, creator, generation });

	if (row) {
		row->receives++;
		row->received_bytes += generation;
	}
	if (last->team != team || last->creator != creator || last->generation != generation)
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_TASK,
				       "task %u of thread %u is complete at %llu, but was not "
				       "switched to",
				       generation, creator, (unsigned long long)time_ns);
	return crit_otf2_verify_time(verifier, time_ns);
}
// NOLINTEND(readability-function-size)

void crit_otf2_verify_set_tasks(OTF2_EvtReaderCallbacks *calls)
{
	(void)OTF2_EvtReaderCallbacks_SetThreadTaskCreateCallback(calls, on_create);
	(void)OTF2_EvtReaderCallbacks_SetThreadTaskSwitchCallback(calls, on_switch);
	(void)OTF2_EvtReaderCallbacks_SetThreadTaskCompleteCallback(calls, on_complete);
}

void crit_otf2_verify_tasks(struct crit_otf2_verifier *verifier)
{
	for (size_t i = 0; i < verifier->tasks.count; i++) {
		const struct crit_otf2_tally_row *row = &verifier->tasks.rows[i];
		bool is_short = row->receives < row->sends && !verifier->has_all_forks;

		if (is_short || verifier->has_unread ||
		    (row->sends == row->receives && row->sent_bytes == row->received_bytes))
			continue;
		crit_otf2_fault(verifier,
				"thread %u of team %u makes %llu tasks, and %llu are complete; or "
				"they are others",
				row->sender, row->communicator, (unsigned long long)row->sends,
				(unsigned long long)row->receives);
	}
}
