/* SPDX-License-Identifier: BSD-3-Clause */
/* Code of a library without symbols but those it exports. */
#ifndef CRIT_TEST_PLACES_STRIPPED_H
#define CRIT_TEST_PLACES_STRIPPED_H

#define STRIPPED_CODES 3

/* Where the code of functions begins that have no name. */
void stripped_codes(const void *volatile codes[STRIPPED_CODES]);

/* Names none of them. */
const void *stripped_returns(void);

#endif
