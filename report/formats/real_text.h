/* SPDX-License-Identifier: BSD-3-Clause */
/* A real number in decimal, as JSON has it. */
#ifndef CRIT_REAL_TEXT_H
#define CRIT_REAL_TEXT_H

#include <stddef.h>

#define CRIT_REAL_TEXT 32 /* bytes, with the 0 */

/*
 * The text that jansson writes with JSON_REAL_PRECISION(17), which is read back as the same number:
 * the 17 digits of %.17g, with a fraction or an exponent, the latter without '+' and leading zeros.
 * value is finite.  Returns the text's length.
 */
size_t crit_real_text(double value, char text[CRIT_REAL_TEXT]);

#endif
