/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes one JSON object value by value, so that nothing of it is in memory.  The text is that of
 * json_dumpf with JSON_INDENT(1), JSON_SORT_KEYS and JSON_REAL_PRECISION(17), where the members of
 * each object come in the order of their keys.
 */
#ifndef CRIT_JSON_STREAM_H
#define CRIT_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct crit_json_stream;

/* Begins an object.  Ownership: out is borrowed; end frees.  Errors: NULL, out of memory. */
struct crit_json_stream *crit_json_stream_begin(FILE *out);

/*
 * The key of the value that comes next; where another key or the object's end comes first, there
 * is no such member.  Ownership: key is borrowed until then.  Returns stream.
 */
struct crit_json_stream *crit_json_key(struct crit_json_stream *stream, const char *key);

/* A value that is an object or an array, up to its close. */
void crit_json_object(struct crit_json_stream *stream);
void crit_json_array(struct crit_json_stream *stream);
void crit_json_close(struct crit_json_stream *stream);

/*
 * A text of bytes_max bytes, or up to its 0; NULL: null.  Names come from foreign processes: what
 * is not UTF-8 becomes '?'.
 */
void crit_json_text(struct crit_json_stream *stream, const char *text, size_t bytes_max);
void crit_json_integer(struct crit_json_stream *stream, int64_t value);
void crit_json_real(struct crit_json_stream *stream, double value); /* finite */
void crit_json_bool(struct crit_json_stream *stream, bool value);
void crit_json_null(struct crit_json_stream *stream);

/* A value could not be made: what end returns, unless something failed before. */
void crit_json_fail(struct crit_json_stream *stream, int status);

/*
 * Ends the object and its line, and frees the stream.
 * Errors: -ENOMEM, -EIO, -EDOM (a real that is not finite): what is written is not whole.
 */
int crit_json_stream_end(struct crit_json_stream *stream);

#endif
