// SPDX-License-Identifier: BSD-3-Clause
// Checks forks and joins, team members, and the acquisition order of locks.
#include "otf2/verify/verify_threads.h"

#include <errno.h>

#include "otf2/verify/comm_members.h"
#include "otf2/verify/event_time.h"
#include "otf2/verify/faults.h"

// NOLINTBEGIN(readability-function-size): the signatures are the library's
static OTF2_CallbackCode on_fork(CRIT_OTF2_EVENT, OTF2_Paradigm model, uint32_t requested)
{
	struct crit_otf2_verifier *verifier = user;

	(void)model;
	(void)requested;
	verifier->stream.forks++;
	return crit_otf2_verify_time(verifier, time_ns);
}
// NOLINTEND(readability-function-size)

static OTF2_CallbackCode on_join(CRIT_OTF2_EVENT, OTF2_Paradigm model)
{
	struct crit_otf2_verifier *verifier = user;

	(void)model;
	if (++verifier->stream.joins > verifier->stream.forks)
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_FORK,
				       "threads are joined at %llu that were not forked",
				       (unsigned long long)time_ns);
	return crit_otf2_verify_time(verifier, time_ns);
}

/* A team is a communicator of threads, this one among them. */
static void check_team(struct crit_otf2_verifier *verifier, OTF2_CommRef team)
{
	const struct crit_otf2_seen_communicator *comm = crit_otf2_verify_find(verifier, team);
	uint32_t self = crit_map_get(&verifier->threads, verifier->stream.location);

	if (!comm)
		return;
	if (comm->group == CRIT_NONE || verifier->groups[comm->group].paradigm == OTF2_PARADIGM_MPI)
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_TEAM,
				       "communicator %u is no team of threads", team);
	else if (verifier->groups[comm->group].paradigm == OTF2_PARADIGM_OPENMP &&
		 (self == CRIT_NONE || !crit_otf2_verify_is_member(verifier, comm->group, self)))
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_TEAM,
				       "it begins team %u and is no member of it", team);
}

static OTF2_CallbackCode on_team_begin(CRIT_OTF2_EVENT, OTF2_CommRef team)
{
	struct crit_otf2_verifier *verifier = user;
	struct crit_otf2_stream *stream = &verifier->stream;

	check_team(verifier, team);
	if (stream->team_depth < CRIT_OTF2_TEAMS_MAX)
		stream->teams[stream->team_depth] = team;
	stream->team_depth++;
	stream->team_begins++;
	return crit_otf2_verify_time(verifier, time_ns);
}

static OTF2_CallbackCode on_team_end(CRIT_OTF2_EVENT, OTF2_CommRef team)
{
	struct crit_otf2_verifier *verifier = user;
	struct crit_otf2_stream *stream = &verifier->stream;

	if (!stream->team_depth) {
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_TEAM,
				       "team %u ends at %llu and was not begun", team,
				       (unsigned long long)time_ns);
		return crit_otf2_verify_time(verifier, time_ns);
	}
	stream->team_depth--;
	if (stream->team_depth < CRIT_OTF2_TEAMS_MAX && stream->teams[stream->team_depth] != team)
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_TEAM,
				       "team %u ends at %llu inside team %u", team,
				       (unsigned long long)time_ns,
				       stream->teams[stream->team_depth]);
	return crit_otf2_verify_time(verifier, time_ns);
}

/* Has the thread it already, as this order?  *ret_at: where, or one behind the last. */
static bool is_held(const struct crit_otf2_stream *stream, uint32_t lock, uint32_t order,
		    uint32_t *ret_at)
{
	uint32_t i;

	for (i = stream->held_count; i > 0; i--) {
		if (stream->held[i - 1].lock == lock && stream->held[i - 1].order == order)
			break;
	}
	*ret_at = i ? i - 1 : stream->held_count;
	return i > 0;
}

/* Orders of a lock are distinct, so there are at least as many as it was taken times. */
static int count_lock(struct crit_otf2_verifier *verifier, uint32_t lock, uint32_t order)
{
	uint32_t group = verifier->locations[verifier->stream.location].group;
	uint64_t key = (uint64_t)group << 32 | lock;
	uint32_t index = crit_map_get(&verifier->lock_numbers, key);
	struct crit_otf2_seen_lock *seen;

	if (index == CRIT_NONE) {
		index = (uint32_t)verifier->lock_count;
		if (crit_array_grow(&verifier->locks, &verifier->lock_capacity, index + 1u,
				    sizeof(*verifier->locks)) ||
		    crit_map_set(&verifier->lock_numbers, key, index))
			return -ENOMEM;
		verifier->locks[verifier->lock_count++] = (struct crit_otf2_seen_lock){
			.least = order, .most = order, .group = group, .number = lock
		};
	}
	seen = &verifier->locks[index];
	seen->count++;
	seen->least = order < seen->least ? order : seen->least;
	seen->most = order > seen->most ? order : seen->most;
	return 0;
}

// NOLINTBEGIN(readability-function-size): the signatures are the library's
static OTF2_CallbackCode on_acquire(CRIT_OTF2_EVENT, OTF2_Paradigm model, uint32_t lock,
				    uint32_t order)
{
	struct crit_otf2_verifier *verifier = user;
	struct crit_otf2_stream *stream = &verifier->stream;
	uint32_t at;

	(void)model;
	if (!is_held(stream, lock, order, &at) && count_lock(verifier, lock, order))
		verifier->error = -ENOMEM;
	if (stream->held_count < CRIT_OTF2_HELD_MAX) {
		stream->held[stream->held_count].lock = lock;
		stream->held[stream->held_count++].order = order;
	} else {
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_LOCK,
				       "more than %u locks are held at %llu", CRIT_OTF2_HELD_MAX,
				       (unsigned long long)time_ns);
	}
	return crit_otf2_verify_time(verifier, time_ns);
}

static OTF2_CallbackCode on_release(CRIT_OTF2_EVENT, OTF2_Paradigm model, uint32_t lock,
				    uint32_t order)
{
	struct crit_otf2_verifier *verifier = user;
	struct crit_otf2_stream *stream = &verifier->stream;
	uint32_t at;

	(void)model;
	if (is_held(stream, lock, order, &at)) {
		for (stream->held_count--; at < stream->held_count; at++)
			stream->held[at] = stream->held[at + 1];
	} else {
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_LOCK,
				       "lock %u is given back at %llu as order %u and was not "
				       "taken so",
				       lock, (unsigned long long)time_ns, order);
	}
	return crit_otf2_verify_time(verifier, time_ns);
}
// NOLINTEND(readability-function-size)

void crit_otf2_verify_set_threads(OTF2_EvtReaderCallbacks *calls)
{
	(void)OTF2_EvtReaderCallbacks_SetThreadForkCallback(calls, on_fork);
	(void)OTF2_EvtReaderCallbacks_SetThreadJoinCallback(calls, on_join);
	(void)OTF2_EvtReaderCallbacks_SetThreadTeamBeginCallback(calls, on_team_begin);
	(void)OTF2_EvtReaderCallbacks_SetThreadTeamEndCallback(calls, on_team_end);
	(void)OTF2_EvtReaderCallbacks_SetThreadAcquireLockCallback(calls, on_acquire);
	(void)OTF2_EvtReaderCallbacks_SetThreadReleaseLockCallback(calls, on_release);
}

void crit_otf2_verify_thread(struct crit_otf2_verifier *verifier)
{
	const struct crit_otf2_stream *stream = &verifier->stream;

	if (stream->team_depth)
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_TEAM,
				       "%u teams do not end before it does", stream->team_depth);
	if (stream->joins < stream->forks)
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_FORK,
				       "%llu times threads are forked, %llu times joined",
				       (unsigned long long)stream->forks,
				       (unsigned long long)stream->joins);
	if (verifier->has_all_forks && stream->forks > stream->team_begins)
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_FORK,
				       "it forks %llu teams and is in %llu, though the archive "
				       "says that all are there",
				       (unsigned long long)stream->forks,
				       (unsigned long long)stream->team_begins);
	if (verifier->has_all_locks && stream->held_count)
		crit_otf2_stream_fault(verifier, CRIT_OTF2_FAULT_LOCK,
				       "%u locks are not given back, though the archive says that "
				       "all are",
				       stream->held_count);
}

void crit_otf2_verify_locks(struct crit_otf2_verifier *verifier)
{
	for (size_t i = 0; i < verifier->lock_count; i++) {
		const struct crit_otf2_seen_lock *lock = &verifier->locks[i];

		if (lock->count > (uint64_t)lock->most - lock->least + 1)
			crit_otf2_fault(verifier,
					"lock %u of location group %u is taken %llu times in only "
					"%llu orders",
					lock->number, lock->group, (unsigned long long)lock->count,
					(unsigned long long)lock->most - lock->least + 1);
	}
}
