// SPDX-License-Identifier: BSD-3-Clause
/* Lines of one page, with colour or without. */
#include "report/formats/screen.h"
#include "core/base/line.h"

#include <stdarg.h>
#include <string.h>

int crit_screen_room(const struct crit_screen *screen)
{
	return screen->limit - screen->lines;
}

void crit_screen_put(struct crit_screen *screen, enum crit_paint paint, const char *format, ...)
{
	char *text = screen->text[screen->used];
	va_list arguments;
	size_t length;

	if (crit_screen_room(screen) <= 0 || screen->used >= 2 * CRIT_SCREEN_LINES)
		return;
	va_start(arguments, format);
	(void)vsnprintf(text, CRIT_SCREEN_LINE_BYTES, format, arguments);
	va_end(arguments);
	text[CRIT_SCREEN_COLUMNS] = '\0';
	crit_line_tame(text, strlen(text), false);
	for (length = strlen(text); length && text[length - 1] == ' '; length--)
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

void crit_screen_wrap(struct crit_screen *screen, enum crit_paint paint, const char *text, int max)
{
	while (*text && max-- > 0) {
		size_t length = strlen(text);

		if (length > CRIT_SCREEN_COLUMNS) {
			length = CRIT_SCREEN_COLUMNS;
			while (length > 1 && text[length] != ' ')
				length--;
			if (length <= 1)
				length = CRIT_SCREEN_COLUMNS;
		}
		crit_screen_put(screen, paint, "%.*s", (int)length, text);
		text += length;
		text += strspn(text, " ");
	}
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
		(void)fprintf(out, "%s%s%s\n", is_painted ? codes[screen->paint[i]] : "",
			      screen->text[i], is_painted ? "\033[0m" : "");
	}
}

const char *crit_screen_bar(double share, int cells, char *text)
{
	int filled = (int)(share * cells + 0.5);

	for (int i = 0; i < cells; i++)
		text[i] = i < filled ? '#' : '.';
	text[cells] = '\0';
	return text;
}
