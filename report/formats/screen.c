// SPDX-License-Identifier: BSD-3-Clause
// Lines of one page, with colour or without.
#include "report/formats/screen.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/line.h"

#define CUT " ..."

struct crit_screen {
	bool has_colour;
	int columns;
	int limit; /* lines that may be used so far; the rest is kept for what must be said */
	int lines;
	int used;
	char text[2 * CRIT_SCREEN_LINES][CRIT_SCREEN_LINE_BYTES];
	enum crit_paint paint[2 * CRIT_SCREEN_LINES];
	bool is_blank[2 * CRIT_SCREEN_LINES];
};

struct crit_screen *crit_screen_create(const struct crit_screen_options *options)
{
	struct crit_screen *screen = calloc(1, sizeof(*screen));
	const int columns = options->columns;

	if (!screen)
		return NULL;
	screen->has_colour = options->has_colour;
	screen->limit = options->limit;
	screen->columns = !columns                            ? CRIT_SCREEN_COLUMNS
			  : columns < CRIT_SCREEN_COLUMNS_MIN ? CRIT_SCREEN_COLUMNS_MIN
			  : columns > CRIT_SCREEN_COLUMNS_MAX ? CRIT_SCREEN_COLUMNS_MAX
							      : columns;
	return screen;
}

void crit_screen_destroy(struct crit_screen *screen)
{
	free(screen);
}

int crit_screen_columns(const struct crit_screen *screen)
{
	return screen->columns;
}

void crit_screen_limit(struct crit_screen *screen, int limit)
{
	screen->limit = limit;
}

int crit_screen_room(const struct crit_screen *screen)
{
	return screen->limit - screen->lines;
}

void crit_screen_put(struct crit_screen *screen, enum crit_paint paint, const char *format, ...)
{
	char *text = screen->text[screen->used];
	va_list arguments;

	if (crit_screen_room(screen) <= 0 || screen->used >= 2 * CRIT_SCREEN_LINES)
		return;
	va_start(arguments, format);
	(void)vsnprintf(text, CRIT_SCREEN_LINE_BYTES, format, arguments);
	va_end(arguments);
	text[screen->columns] = '\0';
	crit_line_tame(text, strlen(text), false);
	for (size_t length = strlen(text); length && text[length - 1] == ' '; length--)
		text[length - 1] = '\0';
	screen->paint[screen->used++] = paint;
	screen->lines++;
}

void crit_screen_blank(struct crit_screen *screen)
{
	if (!screen->used || screen->is_blank[screen->used - 1])
		return;
	if (screen->used < 2 * CRIT_SCREEN_LINES)
		screen->is_blank[screen->used++] = true;
}

/* A blank, but not the one between a number and its unit. */
static bool is_break(const char *text)
{
	size_t unit = *text ? strspn(text + 1, "ms%") : 0;

	return *text == ' ' && !(unit > 0 && unit < 3 && strchr(" ,.;:)", text[1 + unit]));
}

void crit_screen_wrap(struct crit_screen *screen, enum crit_paint paint, const char *text, int max)
{
	while (*text && max-- > 0) {
		size_t length = strlen(text), columns = (size_t)screen->columns;
		const bool is_cut = length > columns && max == 0;

		if (is_cut)
			columns -= strlen(CUT);
		if (length > columns) {
			length = columns;
			while (length > 1 && !is_break(text + length))
				length--;
			if (length <= 1)
				length = columns;
		}
		crit_screen_put(screen, paint, "%.*s%s", (int)length, text, is_cut ? CUT : "");
		text += length;
		text += strspn(text, " ");
	}
}

void crit_screen_say(struct crit_screen *screen, enum crit_paint paint, const char *format, ...)
{
	char text[CRIT_SCREEN_LINE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	crit_screen_wrap(screen, paint, text, 2);
}

void crit_screen_write(const struct crit_screen *screen, FILE *out)
{
	static const char *const codes[CRIT_PAINT_COUNT] = { "",         "\033[1m",  "\033[31m",
							     "\033[33m", "\033[32m", "\033[2m" };
	int blanks = CRIT_SCREEN_LINES - screen->lines;

	for (int i = 0; i < screen->used; i++) {
		bool is_painted = screen->has_colour && screen->paint[i];

		if (screen->is_blank[i] && blanks-- <= 0)
			continue;
		fprintf(out, "%s%s%s\n", is_painted ? codes[screen->paint[i]] : "", screen->text[i],
			is_painted ? "\033[0m" : "");
	}
}

const char *crit_screen_bar(double share, int cells, char text[CRIT_SCREEN_BAR_MAX + 1])
{
	int filled;

	cells = cells < CRIT_SCREEN_BAR_MIN   ? 0
		: cells > CRIT_SCREEN_BAR_MAX ? CRIT_SCREEN_BAR_MAX
					      : cells;
	filled = (int)(share * cells + 0.5);
	for (int i = 0; i < cells; i++)
		text[i] = i < filled ? '#' : '.';
	text[cells] = '\0';
	return text;
}
