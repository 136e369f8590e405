// SPDX-License-Identifier: BSD-3-Clause
// The error callback of libotf2: a code's description, and the message.
#include "otf2/archive/library_words.h"

#include <otf2/otf2.h>
#include <stdarg.h>
#include <stdio.h>

// NOLINTBEGIN(readability-function-size): the signature is the library's
__attribute__((format(printf, 6, 0))) static OTF2_ErrorCode
keep_message(void *user, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
	     const char *format, va_list arguments)
{
	struct crit_err *err = user;
	int length;

	(void)file;
	(void)line;
	(void)function;
	length = snprintf(err->text, sizeof(err->text), "%s", OTF2_Error_GetDescription(code));
	if (format && *format && length >= 0 && (size_t)length + 2 < sizeof(err->text)) {
		(void)snprintf(err->text + length, sizeof(err->text) - (size_t)length, ": ");
		(void)vsnprintf(err->text + length + 2, sizeof(err->text) - (size_t)length - 2,
				format, arguments);
	}
	return code;
}
// NOLINTEND(readability-function-size)

void crit_otf2_listen(struct crit_err *ret_words)
{
	ret_words->text[0] = '\0';
	(void)OTF2_Error_RegisterCallback(keep_message, ret_words);
}

void crit_otf2_listen_no_more(void)
{
	(void)OTF2_Error_RegisterCallback(NULL, NULL);
}
