/* SPDX-License-Identifier: BSD-3-Clause */
/* Random damage to bytes, for the smoke tests. */
#ifndef CRIT_TESTS_MUTATE_H
#define CRIT_TESTS_MUTATE_H

#include <stddef.h>

#include "tests/maker/random.h"

struct input {
	unsigned char *bytes;
	size_t length;
};

/* One bit, byte or word changed, or a piece moved; now and then the rest is cut off. */
void crit_mutate(struct crit_random *random, struct input *input);

#endif
