// SPDX-License-Identifier: BSD-3-Clause
// Collects the arrivals at each open collective, and finds the last one.
#include "analysis/mpi/collectives.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/call.h"

struct crit_collective {
	__extension__ __int128 offset_sum_ns; /* of the arrivals, from the first one seen */
	uint64_t base_ns; /* the first one seen */
	uint64_t first_ns, last_ns;
	uint64_t leave_ns; /* the first to leave */
	uint64_t number_sum; /* of the ranks that arrived */
	uint32_t arrived;
	uint32_t passed; /* moved on without arriving */
	uint32_t last_member;
	uint16_t call;
	bool is_closed;
};

void crit_collectives_init(struct crit_collectives *all, struct crit_communicators *communicators,
			   struct crit_listeners *listeners)
{
	*all = (struct crit_collectives){ .communicators = communicators };
	crit_meetings_init(&all->meetings, listeners);
}

void crit_collectives_fini(struct crit_collectives *all)
{
	for (size_t i = 0; i < all->state_count; i++)
		free(all->states[i].ring);
	free(all->states);
	free(all->rows);
	free(all->lasts);
	crit_map_fini(&all->row_places);
	crit_map_fini(&all->last_places);
	crit_meetings_fini(&all->meetings);
	crit_collectives_init(all, NULL, NULL);
}

/* Nobody leaves before everybody has arrived. */
static bool is_synchronising(unsigned int call)
{
	switch (call) {
	case CRIT_MPI_Barrier:
	case CRIT_MPI_Allreduce:
	case CRIT_MPI_Allreduce_c:
	case CRIT_MPI_Allgather:
	case CRIT_MPI_Allgather_c:
	case CRIT_MPI_Allgatherv:
	case CRIT_MPI_Allgatherv_c:
	case CRIT_MPI_Alltoall:
	case CRIT_MPI_Alltoall_c:
	case CRIT_MPI_Reduce_scatter:
	case CRIT_MPI_Reduce_scatter_c:
	case CRIT_MPI_Reduce_scatter_block:
	case CRIT_MPI_Reduce_scatter_block_c:
		return true;
	default:
		return false;
	}
}

static uint64_t total_of(const struct crit_communicator *row)
{
	return (uint64_t)row->size[0] + row->size[1];
}

/* The row of a communicator and call.  Errors: -ENOMEM. */
static int row_of(struct crit_collectives *all, uint32_t communicator, uint16_t call,
		  uint32_t *ret_row)
{
	uint64_t key = (uint64_t)communicator << 16 | call;
	uint32_t row = crit_map_get(&all->row_places, key);
	int rc;

	*ret_row = row;
	if (row != CRIT_NONE)
		return 0;
	row = (uint32_t)all->row_count;
	rc = crit_array_grow(&all->rows, &all->row_capacity, row + 1, sizeof(*all->rows));
	if (!rc)
		rc = crit_map_set(&all->row_places, key, row);
	if (rc)
		return rc;
	all->rows[row].communicator = communicator;
	all->rows[row].call = call;
	all->row_count++;
	*ret_row = row;
	return 0;
}

static void add(uint64_t *sum_ns, uint64_t *max_ns, uint64_t value_ns)
{
	*sum_ns += value_ns;
	if (value_ns > *max_ns)
		*max_ns = value_ns;
}

static int book_last(struct crit_collectives *all, uint32_t row, uint32_t member,
		     uint64_t spread_ns, uint64_t late_ns)
{
	uint64_t key = (uint64_t)row << 32 | member;
	uint32_t at = crit_map_get(&all->last_places, key);
	struct crit_last_row *sums;

	if (at == CRIT_NONE) {
		int rc = crit_array_grow(&all->lasts, &all->last_capacity, all->last_count + 1,
					 sizeof(*all->lasts));

		at = (uint32_t)all->last_count;
		if (!rc)
			rc = crit_map_set(&all->last_places, key, at);
		if (rc)
			return rc;
		all->lasts[at].row = row;
		all->lasts[at].member = member;
		all->last_count++;
	}
	sums = &all->lasts[at].sums;
	sums->count++;
	add(&sums->spread_sum_ns, &sums->spread_max_ns, spread_ns);
	add(&sums->late_sum_ns, &sums->late_max_ns, late_ns);
	return 0;
}

/* Does level profile keep short spans of this member's from the recording, at that time? */
static bool is_folding(const struct crit_collectives *all, uint32_t member, uint64_t time_ns)
{
	const struct crit_model *model = all->communicators->model;
	const struct crit_comm_member *who = &all->communicators->members[member];

	return who->rank != CRIT_NONE &&
	       crit_model_is_folding(&model->nodes[model->ranks[who->rank].node], time_ns);
}

/* The one member that did not arrive becomes the last, where that is certain. */
static bool infer_last(const struct crit_collectives *all, uint32_t communicator,
		       struct crit_collective *instance)
{
	const struct crit_communicator *row = &all->communicators->rows[communicator];
	uint64_t size = row->size[0];
	uint32_t member;

	if (row->size[1] || instance->arrived + 1ull != size || !is_synchronising(instance->call))
		return false;
	member =
		crit_communicators_member(all->communicators, communicator, 0,
					  (uint32_t)(size * (size - 1) / 2 - instance->number_sum));
	if (member == CRIT_NONE || !is_folding(all, member, instance->leave_ns))
		return false;
	if (instance->leave_ns > instance->last_ns && instance->leave_ns != UINT64_MAX)
		instance->last_ns = instance->leave_ns;
	instance->offset_sum_ns += (__int128)instance->last_ns - (__int128)instance->base_ns;
	instance->arrived++;
	instance->last_member = member;
	return true;
}

static struct crit_collective *at(const struct crit_collective_state *state, uint32_t sequence)
{
	return &state->ring[sequence & (state->size - 1)];
}

static int close_instance(struct crit_collectives *all, uint32_t communicator, uint32_t sequence)
{
	struct crit_collective *instance = at(&all->states[communicator], sequence);
	uint64_t total = total_of(&all->communicators->rows[communicator]);
	bool is_whole = instance->arrived == total;
	uint64_t spread_ns, late_ns;
	bool is_inferred = false;
	uint32_t row;
	int rc;

	instance->is_closed = true;
	rc = crit_meetings_close(&all->meetings, communicator, sequence,
				 is_whole ? instance->last_member : CRIT_NONE);
	if (rc || !instance->arrived)
		return rc; /* nobody told of it */
	rc = row_of(all, communicator, instance->call, &row);
	if (rc)
		return rc;
	if (!is_whole) {
		is_inferred = infer_last(all, communicator, instance);
		if (!is_inferred) {
			all->rows[row].incomplete++;
			return 0;
		}
	}
	spread_ns = instance->last_ns - instance->first_ns;
	late_ns = (uint64_t)((__int128)instance->last_ns - (__int128)instance->base_ns -
			     instance->offset_sum_ns / (__int128)instance->arrived);
	all->rows[row].instances++;
	all->rows[row].inferred += is_inferred;
	add(&all->rows[row].spread_sum_ns, &all->rows[row].spread_max_ns, spread_ns);
	add(&all->rows[row].late_sum_ns, &all->rows[row].late_max_ns, late_ns);
	return book_last(all, row, instance->last_member, spread_ns, late_ns);
}

/* The oldest one gives up its place. */
static int drop_first(struct crit_collectives *all, uint32_t communicator)
{
	struct crit_collective_state *state = &all->states[communicator];
	struct crit_collective *instance = at(state, state->first);
	int rc = instance->is_closed ? 0 : close_instance(all, communicator, state->first);

	*instance = (struct crit_collective){ 0 };
	state->first++;
	state->span--;
	return rc;
}

static int enlarge(struct crit_collectives *all, struct crit_collective_state *state)
{
	struct crit_collective_state bigger = *state;

	bigger.size = state->size ? state->size * 2 : 4;
	bigger.ring = calloc(bigger.size, sizeof(*bigger.ring));
	if (!bigger.ring)
		return -ENOMEM;
	for (uint32_t i = 0; i < state->span; i++)
		*at(&bigger, state->first + i) = *at(state, state->first + i);
	all->ring_cells += bigger.size - state->size;
	free(state->ring);
	*state = bigger;
	return 0;
}

/* Makes room up to sequence, which is not behind the first.  Errors: -ENOMEM. */
static int reach(struct crit_collectives *all, uint32_t communicator, uint32_t sequence)
{
	struct crit_collective_state *state = &all->states[communicator];
	int rc = 0;

	while (!rc && sequence - state->first >= state->size) {
		if (state->size < CRIT_COLLECTIVES_OPEN &&
		    (state->size < 4 || all->ring_cells < CRIT_COLLECTIVES_ALL))
			rc = enlarge(all, state);
		else if (state->span)
			rc = drop_first(all, communicator);
		else
			state->first = sequence - state->size + 1;
	}
	if (!rc && sequence - state->first >= state->span)
		state->span = sequence - state->first + 1;
	return rc;
}

/* The member will not arrive at what lies between its last one and this. */
static int pass(struct crit_collectives *all, uint32_t communicator,
		struct crit_comm_member *member, uint32_t sequence)
{
	struct crit_collective_state *state = &all->states[communicator];
	uint64_t total = total_of(&all->communicators->rows[communicator]);
	uint32_t from = member->next_sequence;
	int rc = 0;

	for (from = from > state->first ? from : state->first; from < sequence && !rc; from++) {
		struct crit_collective *instance = at(state, from);

		instance->passed++;
		if (!instance->is_closed && (uint64_t)instance->arrived + instance->passed == total)
			rc = close_instance(all, communicator, from);
	}
	return rc;
}

static void note(struct crit_collective *instance, const struct crit_arrival *arrival,
		 uint32_t number)
{
	uint64_t enter_ns = arrival->enter_ns;

	if (!instance->arrived) {
		instance->call = arrival->call;
		instance->base_ns = enter_ns;
		instance->first_ns = enter_ns;
		instance->leave_ns = UINT64_MAX;
	}
	instance->offset_sum_ns += (__int128)enter_ns - (__int128)instance->base_ns;
	if (enter_ns < instance->first_ns)
		instance->first_ns = enter_ns;
	if (!instance->arrived || enter_ns > instance->last_ns) {
		instance->last_ns = enter_ns;
		instance->last_member = arrival->member;
	}
	if (arrival->leave_ns < instance->leave_ns)
		instance->leave_ns = arrival->leave_ns;
	instance->number_sum += number;
	instance->arrived++;
}

static bool is_root(const struct crit_collectives *all, const struct crit_arrival *arrival,
		    uint32_t number)
{
	if (all->communicators->rows[arrival->communicator].size[1])
		return arrival->root == CRIT_PEER_ROOT;
	return arrival->root >= 0 && (uint32_t)arrival->root == number;
}

/* number: the member's rank in the communicator.  Errors: -ENOMEM. */
static int attend(struct crit_collectives *all, const struct crit_arrival *arrival, uint32_t number)
{
	return crit_meetings_arrive(&all->meetings,
				    &(struct crit_attendance){
					    .communicator = arrival->communicator,
					    .sequence = (uint32_t)arrival->sequence,
					    .member = arrival->member,
					    .thread = arrival->thread,
					    .number = number,
					    .is_root = is_root(all, arrival, number),
					    .operation = arrival->call,
					    .waiter = arrival->thread,
					    .enter_ns = arrival->enter_ns,
					    .begin_ns = arrival->enter_ns,
					    .end_ns = arrival->leave_ns,
					    .call = arrival->call,
				    });
}

static int step(struct crit_collectives *all, const struct crit_arrival *arrival)
{
	struct crit_comm_member *member = &all->communicators->members[arrival->member];
	struct crit_collective_state *state = &all->states[arrival->communicator];
	uint64_t total = total_of(&all->communicators->rows[arrival->communicator]);
	uint32_t sequence = (uint32_t)arrival->sequence;
	struct crit_collective *instance;
	int rc;

	if (sequence < state->first || sequence < member->next_sequence) {
		all->late_arrivals++;
		return 0;
	}
	rc = reach(all, arrival->communicator, sequence);
	if (!rc)
		rc = pass(all, arrival->communicator, member, sequence);
	if (rc)
		return rc;
	member->next_sequence = sequence + 1;
	instance = at(state, sequence);
	note(instance, arrival, member->number);
	if (all->meetings.listeners)
		rc = attend(all, arrival, member->number);
	if (!rc && !instance->is_closed && (uint64_t)instance->arrived + instance->passed == total)
		rc = close_instance(all, arrival->communicator, sequence);
	while (!rc && state->span && at(state, state->first)->is_closed)
		rc = drop_first(all, arrival->communicator);
	return rc;
}

/* Only where all members are somebody's, and there is more than one. */
static bool has_arrivals(const struct crit_communicator *row)
{
	return row->kind != CRIT_COMMUNICATOR_SELF && row->kind != CRIT_COMMUNICATOR_FOREIGN &&
	       total_of(row) > 1;
}

static uint64_t known(uint64_t bytes)
{
	return bytes == CRIT_BYTES_UNKNOWN ? 0 : bytes;
}

int crit_collectives_arrive(struct crit_collectives *all, const struct crit_arrival *arrival)
{
	uint32_t row;
	int rc = row_of(all, arrival->communicator, arrival->call, &row);

	if (rc)
		return rc;
	all->rows[row].visits++;
	all->rows[row].sent_bytes += known(arrival->sent_bytes);
	all->rows[row].received_bytes += known(arrival->received_bytes);
	if (arrival->member == CRIT_NONE || arrival->sequence < 0 ||
	    !has_arrivals(&all->communicators->rows[arrival->communicator]))
		return 0;
	rc = crit_array_grow(&all->states, &all->state_count, arrival->communicator + 1ull,
			     sizeof(*all->states));
	return rc ? rc : step(all, arrival);
}

int crit_collectives_finish(struct crit_collectives *all)
{
	int rc = 0;

	for (size_t i = 0; i < all->state_count; i++) {
		while (!rc && all->states[i].span)
			rc = drop_first(all, (uint32_t)i);
	}
	return rc;
}
