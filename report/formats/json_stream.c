// SPDX-License-Identifier: BSD-3-Clause
// Frames of objects and arrays; jansson writes the values between them, indented as deep as they
// lie.
#include "report/formats/json_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS (JSON_SORT_KEYS | JSON_INDENT(1) | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY)

#define TEXT_BYTES 1024
#define STREAM_BYTES 65536

struct crit_json_stream {
	FILE *out; /* borrowed */
	int status; /* of the first failure */
	unsigned int depth;
	bool is_empty; /* the object or the array that is open */
	size_t used_bytes;
	char bytes[STREAM_BYTES];
};

json_t *crit_json_text(const char *text, size_t bytes_max)
{
	char copy[TEXT_BYTES];
	size_t length = strnlen(text, bytes_max < sizeof(copy) ? bytes_max : sizeof(copy));
	json_t *value;

	memcpy(copy, text, length);
	value = json_stringn(copy, length);
	for (size_t i = 0; !value && i < length; i++)
		if ((unsigned char)copy[i] >= 0x80)
			copy[i] = '?';
	return value ? value : json_stringn(copy, length);
}

static void write_out(struct crit_json_stream *stream, const char *text, size_t bytes)
{
	if (fwrite(text, 1, bytes, stream->out) != bytes && !stream->status)
		stream->status = -EIO;
}

static void flush(struct crit_json_stream *stream)
{
	write_out(stream, stream->bytes, stream->used_bytes);
	stream->used_bytes = 0;
}

/* jansson hands over a few bytes at a time. */
static inline void put(struct crit_json_stream *stream, const char *text, size_t bytes)
{
	if (bytes > sizeof(stream->bytes) - stream->used_bytes) {
		flush(stream);
		if (bytes > sizeof(stream->bytes)) {
			write_out(stream, text, bytes);
			return;
		}
	}
	memcpy(stream->bytes + stream->used_bytes, text, bytes);
	stream->used_bytes += bytes;
}

static inline void put_line_end(struct crit_json_stream *stream)
{
	static const char line_end[] = "\n  "; /* rows of a member lie deepest */

	put(stream, line_end, 1 + stream->depth);
}

/* What jansson writes of a value; newlines in texts are escaped, so these are its layout's. */
static int take_text(const char *text, size_t bytes, void *user)
{
	struct crit_json_stream *stream = user;
	const char *line_end;

	while ((line_end = memchr(text, '\n', bytes))) {
		const size_t before = (size_t)(line_end - text);

		put(stream, text, before);
		put_line_end(stream);
		text += before + 1;
		bytes -= before + 1;
	}
	put(stream, text, bytes);
	return stream->status ? -1 : 0;
}

static void put_value(struct crit_json_stream *stream, json_t *value)
{
	if (!stream->status && (!value || json_dump_callback(value, take_text, stream, FLAGS)))
		stream->status = stream->status ? stream->status : -ENOMEM;
	json_decref(value);
}

static void begin_element(struct crit_json_stream *stream)
{
	if (!stream->is_empty)
		put(stream, ",", 1);
	stream->is_empty = false;
	put_line_end(stream);
}

static void put_key(struct crit_json_stream *stream, const char *key)
{
	begin_element(stream);
	put(stream, "\"", 1);
	put(stream, key, strlen(key));
	put(stream, "\": ", 3);
}

static void open_frame(struct crit_json_stream *stream, const char *bracket)
{
	put(stream, bracket, 1);
	stream->depth++;
	stream->is_empty = true;
}

static void close_frame(struct crit_json_stream *stream, const char *bracket)
{
	stream->depth--;
	if (!stream->is_empty)
		put_line_end(stream);
	stream->is_empty = false; /* what it lies in has this one */
	put(stream, bracket, 1);
}

struct crit_json_stream *crit_json_stream_begin(FILE *out)
{
	struct crit_json_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->out = out;
	open_frame(stream, "{");
	return stream;
}

void crit_json_stream_member(struct crit_json_stream *stream, const char *key, json_t *value)
{
	put_key(stream, key);
	put_value(stream, value);
}

void crit_json_stream_begin_rows(struct crit_json_stream *stream, const char *key)
{
	put_key(stream, key);
	open_frame(stream, "[");
}

void crit_json_stream_row(struct crit_json_stream *stream, json_t *row)
{
	begin_element(stream);
	put_value(stream, row);
}

void crit_json_stream_end_rows(struct crit_json_stream *stream)
{
	close_frame(stream, "]");
}

int crit_json_stream_end(struct crit_json_stream *stream)
{
	int status;

	close_frame(stream, "}");
	put(stream, "\n", 1);
	flush(stream);
	status = stream->status;
	free(stream);
	return status;
}
