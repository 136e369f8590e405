/* SPDX-License-Identifier: BSD-3-Clause */
/* A bounded page of text: lines are collected, painted, and written when the page is whole. */
#ifndef CRIT_SCREEN_H
#define CRIT_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#define CRIT_SCREEN_LINES 40
#define CRIT_SCREEN_COLUMNS 80 /* where nothing else is asked for */
#define CRIT_SCREEN_COLUMNS_MIN 60
#define CRIT_SCREEN_COLUMNS_MAX 200
#define CRIT_SCREEN_LINE_BYTES 512
#define CRIT_SCREEN_BAR_MIN 5
#define CRIT_SCREEN_BAR_MAX 40

enum crit_paint {
	CRIT_PAINT_NONE = 0,
	CRIT_PAINT_BOLD,
	CRIT_PAINT_RED,
	CRIT_PAINT_YELLOW,
	CRIT_PAINT_GREEN,
	CRIT_PAINT_DIM,
	CRIT_PAINT_COUNT
};

struct crit_screen;

struct crit_screen_options {
	bool has_colour;
	int columns; /* brought to what a page can have; 0: CRIT_SCREEN_COLUMNS */
	int limit; /* lines that may be used so far; the rest is kept for what must be said */
};

/* Ownership: destroy frees.  NULL: no memory. */
struct crit_screen *crit_screen_create(const struct crit_screen_options *options);
void crit_screen_destroy(struct crit_screen *screen);

/* Of the page. */
int crit_screen_columns(const struct crit_screen *screen);

void crit_screen_limit(struct crit_screen *screen, int limit);

/* One line, cut at the page's width; nothing when the page is full. */
void crit_screen_put(struct crit_screen *screen, enum crit_paint paint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* An empty line, dropped when there is no room for it in the end. */
void crit_screen_blank(struct crit_screen *screen);

/* Breaks text at blanks into lines of the page's width, at most max of them. */
void crit_screen_wrap(struct crit_screen *screen, enum crit_paint paint, const char *text, int max);

/* The same of a formatted text, in two lines at most. */
void crit_screen_say(struct crit_screen *screen, enum crit_paint paint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Lines that may still be used. */
int crit_screen_room(const struct crit_screen *screen);

void crit_screen_write(const struct crit_screen *screen, FILE *out);

/* A bar of so many cells, share of them filled; "" below CRIT_SCREEN_BAR_MIN cells. */
const char *crit_screen_bar(double share, int cells, char text[CRIT_SCREEN_BAR_MAX + 1]);

#endif
