/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes one JSON object member by member, so that only one value, or one row of an array, is in
 * memory.  The text is that of json_dumpf with JSON_INDENT(1), JSON_SORT_KEYS and
 * JSON_REAL_PRECISION(17), where the members come in the order of their keys.
 */
#ifndef CRIT_JSON_STREAM_H
#define CRIT_JSON_STREAM_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

struct crit_json_stream;

/*
 * A text of bytes_max bytes, or up to its 0.  Names come from foreign processes: what is not UTF-8
 * becomes '?'.  Ownership: the caller's.  Errors: NULL, out of memory.
 */
json_t *crit_json_text(const char *text, size_t bytes_max);

/* Begins an object.  Ownership: out is borrowed; end frees.  Errors: NULL, out of memory. */
struct crit_json_stream *crit_json_stream_begin(FILE *out);

/* A member with a value.  Ownership: takes value; NULL: there was no memory for it. */
void crit_json_stream_member(struct crit_json_stream *stream, const char *key, json_t *value);

/* A member that is an array of rows.  Ownership: takes row, as above. */
void crit_json_stream_begin_rows(struct crit_json_stream *stream, const char *key);
void crit_json_stream_row(struct crit_json_stream *stream, json_t *row);
void crit_json_stream_end_rows(struct crit_json_stream *stream);

/*
 * Ends the object and its line, and frees the stream.
 * Errors: -ENOMEM, -EIO: what is written is not whole.
 */
int crit_json_stream_end(struct crit_json_stream *stream);

#endif
