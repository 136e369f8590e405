/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the name somebody meant who misspelt it. */
#ifndef CRIT_CLOSEST_H
#define CRIT_CLOSEST_H

#include <stddef.h>

struct crit_closest {
	const char *wanted;
	const char *name; /* the closest so far; NULL: none is close enough */
	size_t distance; /* of it; the next one must be closer */
};

/* Starts a search.  Ownership: texts are borrowed. */
void crit_closest_init(struct crit_closest *closest, const char *wanted);

/* Holds one name against the wanted one. */
void crit_closest_try(struct crit_closest *closest, const char *name);

/* Letters to insert, remove, change or swap with the next; SIZE_MAX: a text is too long. */
size_t crit_closest_distance(const char *left, const char *right);

#endif
