/* SPDX-License-Identifier: BSD-3-Clause */
/* A directory in memory for what a fuzzer writes. */
#ifndef CRIT_TESTS_PLACE_H
#define CRIT_TESTS_PLACE_H

#include "tests/fuzz/mutate.h"

/* The process's own directory, made at the first call and removed at exit.  Errors: aborts. */
const char *place_directory(void);

/* Makes a directory there, or a file, with directories on the way there already. */
void place_make(const char *name);
void place_write(const char *name, const struct input *file);

/* Removes everything in it. */
void place_empty(void);

#endif
