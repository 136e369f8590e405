/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions with names of 10,001 letters, the last of which tells them apart: '1' is the first. */
#ifndef CRIT_TEST_LONG_NAMES_H
#define CRIT_TEST_LONG_NAMES_H

#define LONG_ONES 6
#define LONG_BYTES 10001

extern int (*const long_ones[LONG_ONES])(int);

#endif
