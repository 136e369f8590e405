/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs on several nodes as inputs of several parts. */
#ifndef CRIT_TESTS_WORLDS_H
#define CRIT_TESTS_WORLDS_H

#include "tests/fuzz/mutate.h"

#define WORLDS 24u

/* The recordings of all nodes of a run, joined.  Range: 0 .. WORLDS-1. */
struct input world_make(size_t number);

#endif
