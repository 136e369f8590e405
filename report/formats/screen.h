/* SPDX-License-Identifier: BSD-3-Clause */
/* A bounded page of text: lines are collected, painted, and written when the page is whole. */
#ifndef CRIT_SCREEN_H
#define CRIT_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#define CRIT_SCREEN_LINES 40
#define CRIT_SCREEN_COLUMNS 80
#define CRIT_SCREEN_LINE_BYTES 512

enum crit_paint {
	CRIT_PAINT_NONE = 0,
	CRIT_PAINT_BOLD,
	CRIT_PAINT_RED,
	CRIT_PAINT_YELLOW,
	CRIT_PAINT_GREEN,
	CRIT_PAINT_DIM,
	CRIT_PAINT_COUNT
};

struct crit_screen {
	bool has_colour;
	int limit; /* lines that may be used so far; the rest is kept for what must be said */
	int lines;
	int used;
	char text[2 * CRIT_SCREEN_LINES][CRIT_SCREEN_LINE_BYTES];
	enum crit_paint paint[2 * CRIT_SCREEN_LINES];
	bool is_blank[2 * CRIT_SCREEN_LINES];
};

/* One line, cut at the page's width; nothing when the page is full. */
void crit_screen_put(struct crit_screen *screen, enum crit_paint paint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* An empty line, dropped when there is no room for it in the end. */
void crit_screen_blank(struct crit_screen *screen);

/* Breaks text at blanks into lines of the page's width, at most max of them. */
void crit_screen_wrap(struct crit_screen *screen, enum crit_paint paint, const char *text, int max);

int crit_screen_room(const struct crit_screen *screen);

void crit_screen_write(const struct crit_screen *screen, FILE *out);

/* A bar of so many cells, share of them filled; text has room for one more byte. */
const char *crit_screen_bar(double share, int cells, char *text);

#endif
