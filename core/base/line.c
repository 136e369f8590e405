// SPDX-License-Identifier: BSD-3-Clause
// Escapes foreign names before they are printed: control characters, line feeds, invalid UTF-8.
#include "core/base/line.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_harmless(uint32_t code)
{
	return code >= 0xa0 && code != 0x61c && code != 0x200e && code != 0x200f &&
	       !(code >= 0x2028 && code <= 0x202e) && !(code >= 0x2066 && code <= 0x2069);
}

/* Bytes of the harmless character of more than one byte that text begins with; 0: none. */
static size_t wide_bytes(const unsigned char *text, size_t length)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t bytes = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	uint32_t code = text[0] & (0xffu >> (bytes + 1));

	if (text[0] < 0xc2 || text[0] > 0xf4 || bytes > length)
		return 0;
	for (size_t i = 1; i < bytes; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3fu);
	}
	if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return is_harmless(code) ? bytes : 0;
}

void crit_line_tame(char *text, size_t length, bool has_lines)
{
	for (size_t i = 0; i < length; i++) {
		const bool is_wide = (unsigned char)text[i] >= 0x80;
		size_t bytes = is_wide ? wide_bytes((unsigned char *)text + i, length - i) : 1;

		if (bytes == 0 ||
		    (crit_line_is_control(text[i]) && !(has_lines && text[i] == '\n')))
			text[i] = '?';
		i += bytes > 1 ? bytes - 1 : 0;
	}
}

void crit_line_print(FILE *out, const char *format, ...)
{
	size_t format_bytes = strlen(format);
	char *text = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if (length && format_bytes && format[format_bytes - 1] == '\n')
		length--; /* it ends the line */
	crit_line_tame(text, (size_t)length, false);
	(void)fputs(text, out); /* the caller looks at the stream's error */
	free(text);
}
