/* SPDX-License-Identifier: BSD-3-Clause */
/* When units are there: how many at a time, and which of them alone. */
#ifndef CRIT_UNIT_PRESENCE_H
#define CRIT_UNIT_PRESENCE_H

#include "analysis/table/lost_units.h"

/*
 * Finds the capacity: the most units at one time, as launches one after another, like threads, take
 * turns in a place.  A rank is there in its part of the window, a thread in its life, but not while
 * it waits for others to end (replay/thread_ends.h), if that is 1 % of the window or more: then
 * these have its place, until it goes on.  Where threads do so, what the most of them reach for
 * less than 1 % of the window does not count, as they are there together with who starts them for a
 * moment.  Waits that may be for a lock count only where, with them, two or more are there at a
 * time.
 *
 * Of the units that wait so threads has no part of that time any more, and serial is set.
 * Errors: -ENOMEM.  Cost: O(threads log threads).
 */
int crit_unit_presence_measure(struct crit_lost_units *units, const struct crit_results *results);

#endif
