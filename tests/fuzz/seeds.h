/* SPDX-License-Identifier: BSD-3-Clause */
/* The first corpus of a fuzz target, made by code; each *_seeds.c defines that of its target. */
#ifndef CRIT_TESTS_SEEDS_H
#define CRIT_TESTS_SEEDS_H

#include "tests/fuzz/mutate.h"
#include "tests/maker/maker.h"

/* A recording's bytes.  Ownership: takes the maker. */
static inline struct input input_of(struct crit_maker *m)
{
	struct input input;

	input.bytes = crit_maker_bytes(m, &input.length);
	crit_maker_destroy(m);
	return input;
}

/* Ownership: the caller frees the bytes.  Range: from 0; behind the last one bytes is NULL. */
struct input crit_fuzz_seed(size_t number);

#endif
