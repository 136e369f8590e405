// SPDX-License-Identifier: BSD-3-Clause
// Numbers locks within their group, and keeps which a location holds.
#include "otf2/openmp/lock_records.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/array.h"
#include "core/base/map.h"

#define HELD_MAX 32u /* by a thread at the same time */
#define LOCK_BITS 47u /* of a user address; the group's number goes above */

struct lock {
	uint32_t number; /* in the archive */
	uint32_t order; /* times it was acquired */
};

struct holder { /* a location */
	uint32_t held_count;
	struct {
		uint32_t lock, order;
	} held[HELD_MAX];
};

struct crit_otf2_locks {
	struct crit_otf2_files *files;
	const struct crit_otf2_layout *layout;
	struct crit_map numbers; /* group and lock -> index */
	struct lock *rows;
	size_t count, capacity;
	struct holder *holders; /* by row of the location; memory that is never touched is none */
	size_t holder_count;
	uint32_t *group_counts; /* locks by group */
	uint64_t acquisitions;
	uint64_t lost; /* released and not acquired, or the other way round */
};

struct shared_lock_counts { /* to process 0 */
	uint64_t acquisitions, lost;
};

struct crit_otf2_locks *crit_otf2_locks_create(struct crit_otf2_files *files,
					       const struct crit_otf2_layout *layout)
{
	struct crit_otf2_locks *locks = calloc(1, sizeof(*locks));
	size_t count = crit_otf2_layout_location_count(layout);

	if (!locks)
		return NULL;
	*locks = (struct crit_otf2_locks){
		.files = files,
		.layout = layout,
		.holders = calloc(count + 1, sizeof(struct holder)),
		.holder_count = count,
		.group_counts = calloc(crit_otf2_layout_group_count(layout) + 1, sizeof(uint32_t)),
	};
	if (locks->holders && locks->group_counts)
		return locks;
	crit_otf2_locks_destroy(locks);
	return NULL;
}

void crit_otf2_locks_destroy(struct crit_otf2_locks *locks)
{
	if (!locks)
		return;
	free(locks->holders);
	free(locks->group_counts);
	free(locks->rows);
	crit_map_fini(&locks->numbers);
	free(locks);
}

/* A lock's index; its number follows from its group.  Errors: CRIT_NONE when out of memory. */
static uint32_t obtain(struct crit_otf2_locks *locks, uint32_t group, uint64_t lock)
{
	uint64_t key = (uint64_t)group << LOCK_BITS ^ (lock & ((1ull << LOCK_BITS) - 1));
	uint32_t index = crit_map_get(&locks->numbers, key);

	if (index != CRIT_NONE)
		return index;
	index = (uint32_t)locks->count;
	if (crit_array_grow(&locks->rows, &locks->capacity, index + 1u, sizeof(*locks->rows)) ||
	    crit_map_set(&locks->numbers, key, index))
		return CRIT_NONE;
	locks->rows[locks->count++].number =
		locks->group_counts[group]++ * crit_otf2_layout_first_group_count(locks->layout) +
		group;
	return index;
}

int crit_otf2_locks_acquire(struct crit_otf2_locks *locks, const struct crit_otf2_moment *at,
			    uint64_t lock)
{
	struct holder *holder = &locks->holders[at->row];
	uint32_t index = obtain(locks, at->group, lock), order;

	if (index == CRIT_NONE)
		return -ENOMEM;
	if (holder->held_count >= HELD_MAX) {
		locks->lost++;
		return 0;
	}
	order = ++locks->rows[index].order;
	locks->acquisitions++;
	holder->held[holder->held_count].lock = index;
	holder->held[holder->held_count++].order = order;
	return crit_otf2_check(locks->files,
			       OTF2_EvtWriter_ThreadAcquireLock(at->events, NULL, at->time_ns,
								OTF2_PARADIGM_OPENMP,
								locks->rows[index].number, order),
			       "an event");
}

/* Takes the innermost hold of a lock out: its order, or 0 when it is not held. */
static uint32_t let_go(struct holder *holder, uint32_t lock)
{
	uint32_t i = holder->held_count, order;

	while (i > 0 && holder->held[i - 1].lock != lock)
		i--;
	if (!i)
		return 0;
	order = holder->held[i - 1].order;
	for (holder->held_count--; i <= holder->held_count; i++)
		holder->held[i - 1] = holder->held[i];
	return order;
}

/* Answers 1 when the thread had the lock, 0 if it had not.  Errors: -ENOMEM, -EIO. */
static int release(struct crit_otf2_locks *locks, const struct crit_otf2_moment *at, uint64_t lock)
{
	uint32_t index = obtain(locks, at->group, lock), order;
	int rc;

	if (index == CRIT_NONE)
		return -ENOMEM;
	order = let_go(&locks->holders[at->row], index);
	if (!order)
		return 0;
	rc = crit_otf2_check(locks->files,
			     OTF2_EvtWriter_ThreadReleaseLock(at->events, NULL, at->time_ns,
							      OTF2_PARADIGM_OPENMP,
							      locks->rows[index].number, order),
			     "an event");
	return rc ? rc : 1;
}

int crit_otf2_locks_leave_section(struct crit_otf2_locks *locks, const struct crit_otf2_moment *at,
				  uint64_t lock)
{
	int rc = lock ? release(locks, at, lock) : 0;

	return rc < 0 ? rc : 0;
}

int crit_otf2_locks_release(struct crit_otf2_locks *locks, const struct crit_otf2_moment *at,
			    uint64_t lock)
{
	int rc = release(locks, at, lock);

	locks->lost += rc == 0; /* it was not told as acquired */
	return rc < 0 ? rc : 0;
}

/* Those that a location never released are lost too. */
static uint64_t lost_count(const struct crit_otf2_locks *locks)
{
	uint64_t lost = locks->lost;

	for (size_t i = 0; i < locks->holder_count; i++)
		lost += locks->holders[i].held_count;
	return lost;
}

bool crit_otf2_locks_are_whole(const struct crit_otf2_locks *locks)
{
	return locks->acquisitions && !lost_count(locks);
}

int crit_otf2_locks_pack(const struct crit_otf2_locks *locks, struct crit_exchange_buffer *buffer)
{
	const struct shared_lock_counts counts = { locks->acquisitions, lost_count(locks) };

	return crit_exchange_buffer_put(buffer, &counts, sizeof(counts));
}

int crit_otf2_locks_unpack(struct crit_otf2_locks *locks, const struct crit_exchange_buffer *buffer,
			   size_t *at)
{
	struct shared_lock_counts counts;

	if (!crit_exchange_buffer_take(buffer, at, &counts, sizeof(counts)))
		return -EPROTO;
	locks->acquisitions += counts.acquisitions;
	locks->lost += counts.lost;
	return 0;
}
