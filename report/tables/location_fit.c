// SPDX-License-Identifier: BSD-3-Clause
// Cuts names of C++ and Fortran functions to what a reader looks for, and places to a width.
#include "report/tables/location_fit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LEAST_NAME 5 /* columns; a shorter piece of a function tells nothing */
#define NAME_BYTES 256
#define OPERATOR "operator"
#define CLONE                                                                                      \
	" [clone " /* as demanglers put what a compiler adds to a symbol: "f() [clone .cold]" */
#define CONSTRUCT CLONE "._omp_fn." /* of OpenMP, of which GCC has made a function */

const char *crit_name_fit(const char *name, int columns, char *text, size_t text_bytes)
{
	int length = (int)strlen(name), head, tail;

	if (length <= columns || columns < LEAST_NAME) {
		(void)snprintf(text, text_bytes, "%.*s", columns > 0 ? columns : 0, name);
		return text;
	}
	tail = (columns - 2) / 2;
	head = columns - 2 - tail;
	(void)snprintf(text, text_bytes, "%.*s..%s", head, name, name + length - tail);
	return text;
}

static bool is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

static size_t operator_length(const char *name, size_t at)
{
	size_t length = sizeof(OPERATOR) - 1;

	if (strncmp(name + at, OPERATOR, length) != 0 || (at && is_word(name[at - 1])) ||
	    is_word(name[at + length]))
		return 0;
	if (strncmp(name + at + length, "()", 2) == 0)
		return length + 2;
	return length + strspn(name + at + length, "<>=!+-*/%^&|~,[]");
}

/* The length of what stands in the brackets name begins with, these too. */
static size_t bracket_length(const char *name, char open, char close)
{
	size_t length = 0;
	int depth = 0;

	for (; name[length]; length++) {
		depth += name[length] == open;
		if (name[length] == close && (close != '>' || name[length - 1] != '-') && !--depth)
			return length + 1;
	}
	return length;
}

/* Copies a name without arguments of templates and functions: "void ns::Solver::smooth const". */
static void drop_arguments(const char *name, char ret_text[NAME_BYTES])
{
	size_t used = 0;

	for (size_t at = 0; name[at] && used + 1 < NAME_BYTES;) {
		size_t length = operator_length(name, at);

		if (!length && name[at] == '<') {
			at += bracket_length(name + at, '<', '>');
			continue;
		}
		if (!length && name[at] == '(') {
			at += bracket_length(name + at, '(', ')');
			continue;
		}
		length = length ? length : 1;
		for (; length && used + 1 < NAME_BYTES; length--)
			ret_text[used++] = name[at++];
	}
	ret_text[used] = '\0';
}

static void drop_end(char *name, const char *end)
{
	size_t length = strlen(name);

	if (length > strlen(end) && !strcmp(name + length - strlen(end), end))
		name[length - strlen(end)] = '\0';
}

/* Where the last component begins, before end. */
static const char *last_component(const char *name, const char *end)
{
	const char *begin = name;

	for (const char *at = name; at < end; at++)
		if (*at == ' ' || (at > name && at[-1] == ':' && *at == ':'))
			begin = at + 1;
	return begin;
}

/* "void ns::Solver::smooth" of "void ns::Solver<int>::smooth<2>(Grid&) const". */
static void drop_all_arguments(const char *function, char ret_text[NAME_BYTES])
{
	const char *module = strncmp(function, "__", 2) ? NULL : strstr(function, "_MOD_");
	char *clone;

	drop_arguments(module ? module + strlen("_MOD_") : function, ret_text);
	clone = strstr(ret_text, CLONE);
	if (clone)
		*clone = '\0';
	drop_end(ret_text, " const");
	drop_end(ret_text, " ");
}

bool crit_name_is(const char *function, const char *wanted)
{
	char name[NAME_BYTES];
	size_t length, wanted_length = strlen(wanted);

	if (strcmp(function, wanted) == 0)
		return true;
	drop_all_arguments(function, name);
	length = strlen(name);
	return wanted_length && wanted_length <= length &&
	       strcmp(name + length - wanted_length, wanted) == 0 &&
	       (wanted_length == length || strchr(" :", name[length - wanted_length - 1]));
}

/* From the scope on that begin is in, if there is one: what lies before its "::". */
static const char *with_scope(const char *name, const char *begin)
{
	const char *scope;

	if (begin < name + 2 || begin[-1] != ':')
		return begin;
	scope = last_component(name, begin - 2);
	return scope < begin - 2 ? scope : begin; /* else it has no name */
}

/* Constructs of one function stay apart: "smooth._omp_fn.0". */
static const char *put_name(const char *function, bool has_scope, char *text, size_t text_bytes)
{
	const char *begin, *symbol, *construct = strstr(function, CONSTRUCT);
	char name[NAME_BYTES];

	drop_all_arguments(function, name);
	symbol = strstr(name, OPERATOR);
	while (symbol && !operator_length(name, (size_t)(symbol - name)))
		symbol = strstr(symbol + 1, OPERATOR);
	begin = symbol ? symbol : last_component(name, name + strlen(name));
	if (symbol || has_scope ||
	    *begin == '{') /* a closure of Rust: the scope is all of its name */
		begin = with_scope(name, begin);
	if (construct)
		construct += strlen(CLONE);
	(void)snprintf(text, text_bytes, "%s%.*s", *begin ? begin : function,
		       construct ? (int)strcspn(construct, "]") : 0, construct ? construct : "");
	return text;
}

const char *crit_name_bare(const char *function, char *text, size_t text_bytes)
{
	return put_name(function, false, text, text_bytes);
}

const char *crit_name_scoped(const char *function, char *text, size_t text_bytes)
{
	return put_name(function, true, text, text_bytes);
}

const char *crit_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *crit_location_fit(const struct crit_source_location *place, int columns, char *text,
			      size_t text_bytes)
{
	const bool has_line = place->file && place->line;
	char function[NAME_BYTES] = "", fitted[NAME_BYTES], end[24]; /* end: what stays whole */
	const char *name = place->module ? crit_file_name(place->module) : "";
	int room;

	if (place->function)
		(void)put_name(place->function, !has_line, function, sizeof(function));
	if (has_line) {
		name = crit_file_name(place->file);
		(void)snprintf(end, sizeof(end), ":%" PRIu32, place->line);
	} else if (function[0]) {
		name = function;
		end[0] = '\0';
		if (place->function_offset)
			(void)snprintf(end, sizeof(end), "+%#" PRIx64, place->function_offset);
	} else {
		(void)snprintf(end, sizeof(end), "%s%#" PRIx64, *name ? "+" : "", place->offset);
	}
	room = columns - (int)(strlen(name) + strlen(end)) - 1;
	if (has_line && function[0] && room >= LEAST_NAME)
		(void)snprintf(text, text_bytes, "%s %s%s",
			       crit_name_fit(function, room, fitted, sizeof(fitted)), name, end);
	else
		(void)snprintf(text, text_bytes, "%s%s",
			       crit_name_fit(name, columns - (int)strlen(end), fitted,
					     sizeof(fitted)),
			       end);
	return text;
}
