// SPDX-License-Identifier: BSD-3-Clause
// Compares when each owner of a lock asked for it with the owners before, as recorded and changed.
#include "analysis/waits/locks/lock_orders.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

#define LOCKS_MAX 4096u
#define OWNERS_FIRST 16u
#define OWNERS_MAX 1024u

struct crit_lock_owners { /* a ring */
	struct crit_lock_turn *turns; /* of each, as recorded and in each scenario */
	uint32_t capacity;
	uint64_t count; /* of all that there were */
};

enum place { /* of one that comes later, from an earlier owner */
	AFTER, /* it asked when that had it */
	BEHIND, /* after that one, while both waited */
	BEFORE, /* before that one asked */
	BETWEEN /* when that one could have it, and had not */
};

void crit_lock_orders_fini(struct crit_lock_orders *orders)
{
	for (size_t i = 0; i < orders->count; i++)
		free(orders->locks[i].turns);
	free(orders->locks);
	*orders = (struct crit_lock_orders){ 0 };
}

static enum place place_of(const struct crit_lock_turn *later, const struct crit_lock_turn *owner)
{
	if (later->asked_ns > owner->taken_ns)
		return AFTER;
	if (later->asked_ns < owner->asked_ns)
		return BEFORE;
	return later->asked_ns < owner->free_ns ? BEHIND : BETWEEN;
}

/* How long after the first of the two could have it the second one asked. */
static uint64_t distance(const struct crit_lock_turn *first, const struct crit_lock_turn *second)
{
	const uint64_t ready_ns = first->asked_ns > first->free_ns ? first->asked_ns
								   : first->free_ns;

	return second->asked_ns > ready_ns ? second->asked_ns - ready_ns : 0;
}

static uint64_t distance_before(const struct crit_lock_turn *later,
				const struct crit_lock_turn *owner)
{
	const struct crit_lock_turn ready = { .asked_ns = later->asked_ns,
					      .free_ns = owner->free_ns };

	return distance(&ready, owner);
}

static bool has_waited(const struct crit_lock_turn *owner)
{
	return owner->asked_ns < owner->free_ns;
}

/* later, owner: as recorded; changed_...: in a scenario. */
static bool may_change(const struct crit_lock_turn *later, const struct crit_lock_turn *owner,
		       const struct crit_lock_turn *changed_later,
		       const struct crit_lock_turn *changed_owner)
{
	const enum place place = place_of(changed_later, changed_owner);

	if (place == AFTER)
		return false;
	if (place == BEHIND) /* who comes first of two that ask at once is chance */
		return changed_later->asked_ns == changed_owner->asked_ns &&
		       later->asked_ns != owner->asked_ns;
	if (place != place_of(later, owner) || has_waited(changed_owner) != has_waited(owner))
		return true;
	if (place == BETWEEN)
		return distance(changed_owner, changed_later) != distance(owner, later);
	/* who asks while another one has it has to wake up first, and who finds it free has not */
	return (changed_later->asked_ns < changed_owner->free_ns) !=
		       (later->asked_ns < owner->free_ns) ||
	       distance_before(changed_later, changed_owner) != distance_before(later, owner);
}

/* The turns of the last owner but so many. */
static const struct crit_lock_turn *owner_of(const struct crit_lock_orders *orders,
					     const struct crit_lock_owners *owners, uint64_t back)
{
	return &owners->turns[(owners->count - 1 - back) % owners->capacity *
			      (orders->scenario_count + 1)];
}

/* How many owners had it since a turn's thread asked; capacity: these are all that are known. */
static uint64_t owners_since(const struct crit_lock_orders *orders,
			     const struct crit_lock_owners *owners,
			     const struct crit_lock_turn *turns, size_t of)
{
	uint64_t back = 0;

	while (back < owners->count && back < owners->capacity &&
	       owner_of(orders, owners, back)[of].taken_ns >= turns[of].asked_ns)
		back++;
	return back;
}

static bool compare(const struct crit_lock_orders *orders, const struct crit_lock_owners *owners,
		    const struct crit_lock_turn *turns, size_t scenario)
{
	const uint64_t count = owners_since(orders, owners, turns, scenario);

	for (uint64_t back = 0; back < count; back++) {
		const struct crit_lock_turn *owner = owner_of(orders, owners, back);

		if (may_change(&turns[0], &owner[0], &turns[scenario], &owner[scenario]))
			return true;
	}
	/* it may have come before one that is forgotten */
	return count && count == owners->capacity && count < owners->count &&
	       owners_since(orders, owners, turns, 0) < count;
}

/* Room for twice as many; those that are known stand in order then.  Errors: -ENOMEM. */
static int grow(const struct crit_lock_orders *orders, struct crit_lock_owners *owners)
{
	const size_t row = orders->scenario_count + 1;
	const uint32_t wanted = owners->capacity ? 2 * owners->capacity : OWNERS_FIRST;
	struct crit_lock_turn *grown = calloc(wanted * row, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	for (uint64_t back = 0; back < owners->capacity && back < owners->count; back++)
		memcpy(&grown[(owners->count - 1 - back) % wanted * row],
		       owner_of(orders, owners, back), row * sizeof(*grown));
	free(owners->turns);
	owners->turns = grown;
	owners->capacity = wanted;
	return 0;
}

int crit_lock_orders_take(struct crit_lock_orders *orders, uint32_t lock,
			  const struct crit_lock_turn *turns, uint64_t *changes)
{
	const size_t row = orders->scenario_count + 1;
	struct crit_lock_owners *owners;
	int rc = 0;

	if (lock >= LOCKS_MAX) {
		for (size_t k = 0; k < orders->scenario_count; k++)
			changes[k]++;
		return 0;
	}
	rc = crit_array_grow(&orders->locks, &orders->capacity, lock + 1ull,
			     sizeof(*orders->locks));
	if (rc)
		return rc;
	for (; orders->count <= lock; orders->count++)
		orders->locks[orders->count] = (struct crit_lock_owners){ 0 };
	owners = &orders->locks[lock];
	for (size_t k = 0; owners->count && k < orders->scenario_count; k++)
		changes[k] += compare(orders, owners, turns, k + 1);
	if (!owners->capacity || (owners->capacity < OWNERS_MAX && owners->count &&
				  owners_since(orders, owners, turns, 0) == owners->capacity))
		rc = grow(orders, owners);
	if (rc)
		return rc;
	memcpy(&owners->turns[owners->count++ % owners->capacity * row], turns,
	       row * sizeof(*turns));
	return 0;
}
