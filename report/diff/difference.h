/* SPDX-License-Identifier: BSD-3-Clause */
/* By how much one run is faster than another, and what most of that is. */
#ifndef CRIT_DIFFERENCE_H
#define CRIT_DIFFERENCE_H

#include <jansson.h>
#include <stddef.h>

#define CRIT_DIFFERENCE_NOISE 0.01 /* of the window: less is no difference */

/*
 * "18.6% faster: window 4.100 s -> 3.336 s; most of it: imbalance 0.612 s less." of two objects of
 * report.json.  The window of a run is the sum of its useful time and losses per rank, so their
 * differences add up to that of the windows.
 */
const char *crit_difference_say(const json_t *a, const json_t *b, char *text, size_t text_bytes);

/* The path of a run as text of JSON, with '?' for what is not UTF-8; NULL: out of memory. */
json_t *crit_difference_path(const char *path);

#endif
