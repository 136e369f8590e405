/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines with foreign names in them: programs, threads, hosts, communicators and files are called
 * what their owners like.  What would end a line, move a cursor, or show text in another order than
 * it stands in, becomes '?': control characters of ASCII and Unicode (C1), what is not UTF-8, line
 * and paragraph separators, and marks of direction.
 */
#ifndef CRIT_LINE_H
#define CRIT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Of ASCII: the only ones that are the same in a part of a text, where a character may be cut. */
static inline bool crit_line_is_control(char byte)
{
	return (unsigned char)byte < ' ' || byte == 0x7f;
}

/* Tames text in place, byte by byte.  has_lines: it is several lines, whose ends stay. */
void crit_line_tame(char *text, size_t length, bool has_lines);

/* Prints one line, or a part of one: only a newline at the end of format stays one. */
void crit_line_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
