// SPDX-License-Identifier: BSD-3-Clause
// Brackets, keys and numbers, indented as deep as they lie; jansson writes texts that need escapes.
#include "report/formats/json_stream.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/formats/real_text.h"

#define TEXT_BYTES 1024
#define NUMBER_BYTES 20 /* of INT64_MIN */
#define STREAM_BYTES 65536
#define DEPTH_MAX 16 /* twice what pages have */
#define PUNCTUATION_BYTES 8 /* around a key, and the end of a line */

struct crit_json_stream {
	FILE *out; /* borrowed */
	int status; /* of the first failure */
	bool is_empty; /* the object or the array that is open */
	unsigned int depth;
	char closes[DEPTH_MAX]; /* the bracket of each that is open */
	const char *key; /* of the next value; NULL: none */
	size_t used_bytes;
	char bytes[STREAM_BYTES];
};

void crit_json_fail(struct crit_json_stream *stream, int status)
{
	if (!stream->status)
		stream->status = status;
}

static void flush(struct crit_json_stream *stream)
{
	if (fwrite(stream->bytes, 1, stream->used_bytes, stream->out) != stream->used_bytes)
		crit_json_fail(stream, -EIO);
	stream->used_bytes = 0;
}

/* Where that many bytes may be written. */
static inline char *room_for(struct crit_json_stream *stream, size_t bytes)
{
	if (bytes > sizeof(stream->bytes) - stream->used_bytes)
		flush(stream);
	return stream->bytes + stream->used_bytes;
}

/* At most a text with escapes. */
static inline void put(struct crit_json_stream *stream, const char *text, size_t bytes)
{
	memcpy(room_for(stream, bytes), text, bytes);
	stream->used_bytes += bytes;
}

/* Returns where the line goes on. */
static inline char *write_line_end(const struct crit_json_stream *stream, char *at)
{
	*at++ = '\n';
	memset(at, ' ', DEPTH_MAX); /* at one size: the next ones come over what is too much */
	return at + stream->depth;
}

/* Of a value: what stands before it. */
static void begin_value(struct crit_json_stream *stream)
{
	const size_t key_bytes = stream->key ? strlen(stream->key) : 0;
	char *begin = room_for(stream, key_bytes + DEPTH_MAX + PUNCTUATION_BYTES), *at = begin;

	*at = ',';
	at += !stream->is_empty;
	stream->is_empty = false;
	at = write_line_end(stream, at);
	if (stream->key) {
		*at++ = '"';
		memcpy(at, stream->key, key_bytes);
		memcpy(at + key_bytes, "\": ", 3);
		at += key_bytes + 3;
	}
	stream->key = NULL;
	stream->used_bytes += (size_t)(at - begin);
}

static void open_frame(struct crit_json_stream *stream, const char *open, char close)
{
	put(stream, open, 1);
	stream->closes[stream->depth++] = close;
	stream->is_empty = true;
}

struct crit_json_stream *crit_json_stream_begin(FILE *out)
{
	struct crit_json_stream *stream = malloc(sizeof(*stream));

	if (!stream)
		return NULL;
	memset(stream, 0, offsetof(struct crit_json_stream, bytes));
	stream->out = out;
	open_frame(stream, "{", '}');
	return stream;
}

struct crit_json_stream *crit_json_key(struct crit_json_stream *stream, const char *key)
{
	stream->key = key;
	return stream;
}

void crit_json_object(struct crit_json_stream *stream)
{
	begin_value(stream);
	open_frame(stream, "{", '}');
}

void crit_json_array(struct crit_json_stream *stream)
{
	begin_value(stream);
	open_frame(stream, "[", ']');
}

void crit_json_close(struct crit_json_stream *stream)
{
	stream->depth--;
	if (!stream->is_empty) {
		char *begin = room_for(stream, DEPTH_MAX + PUNCTUATION_BYTES);

		stream->used_bytes += (size_t)(write_line_end(stream, begin) - begin);
	}
	stream->is_empty = false; /* what it lies in has this one */
	stream->key = NULL;
	put(stream, &stream->closes[stream->depth], 1);
}

static bool is_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] >= 0x80 ||
		    text[i] == '"' || text[i] == '\\')
			return false;
	return true;
}

static int take_text(const char *text, size_t bytes, void *user)
{
	put(user, text, bytes);
	return 0;
}

static void put_escaped(struct crit_json_stream *stream, const char *text, size_t length)
{
	char copy[TEXT_BYTES];
	json_t *value;

	memcpy(copy, text, length);
	value = json_stringn(copy, length);
	for (size_t i = 0; !value && i < length; i++)
		if ((unsigned char)copy[i] >= 0x80)
			copy[i] = '?';
	if (!value)
		value = json_stringn(copy, length);
	if (!value || json_dump_callback(value, take_text, stream, JSON_ENCODE_ANY))
		crit_json_fail(stream, -ENOMEM);
	json_decref(value);
}

void crit_json_text(struct crit_json_stream *stream, const char *text, size_t bytes_max)
{
	size_t length;

	if (!text) {
		crit_json_null(stream);
		return;
	}
	length = strnlen(text, bytes_max < TEXT_BYTES ? bytes_max : TEXT_BYTES);
	begin_value(stream);
	if (!is_plain(text, length)) {
		put_escaped(stream, text, length);
		return;
	}
	put(stream, "\"", 1);
	put(stream, text, length);
	put(stream, "\"", 1);
}

void crit_json_integer(struct crit_json_stream *stream, int64_t value)
{
	char text[NUMBER_BYTES], *at = text + sizeof(text);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		*--at = '-';
	begin_value(stream);
	put(stream, at, (size_t)(text + sizeof(text) - at));
}

void crit_json_real(struct crit_json_stream *stream, double value)
{
	if (!isfinite(value)) {
		crit_json_fail(stream, -EDOM);
		value = 0;
	}
	begin_value(stream);
	stream->used_bytes += crit_real_text(value, room_for(stream, CRIT_REAL_TEXT));
}

void crit_json_bool(struct crit_json_stream *stream, bool value)
{
	begin_value(stream);
	put(stream, value ? "true" : "false", value ? 4 : 5);
}

void crit_json_null(struct crit_json_stream *stream)
{
	begin_value(stream);
	put(stream, "null", 4);
}

int crit_json_stream_end(struct crit_json_stream *stream)
{
	int status;

	crit_json_close(stream);
	put(stream, "\n", 1);
	flush(stream);
	status = stream->status;
	free(stream);
	return status;
}
