// SPDX-License-Identifier: BSD-3-Clause
// Formats the human half of an error.
#include "core/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/line.h"

int crit_err_set(struct crit_err *err, int code, const char *format, ...)
{
	if (err) {
		va_list args;

		va_start(args, format);
		(void)vsnprintf(err->text, sizeof(err->text), format, args); /* cut is fine */
		va_end(args);
		crit_line_tame(err->text, strlen(err->text), false);
	}
	return code;
}
