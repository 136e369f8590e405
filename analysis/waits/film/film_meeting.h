/* SPDX-License-Identifier: BSD-3-Clause */
/* What the waits at a meeting need: of entries of one time, for who plays a film forwards. */
#ifndef CRIT_FILM_MEETING_H
#define CRIT_FILM_MEETING_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/waits/film/film_entry.h"

/*
 * rows: all entries of one time, each at the begin of row_bytes.  A cause of the kind
 * CRIT_FILM_MEETS becomes the need of the object at which its thread arrives.  Yields whether there
 * was one.
 */
bool crit_film_meet(void *rows, size_t count, size_t row_bytes);

#endif
