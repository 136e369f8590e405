// SPDX-License-Identifier: BSD-3-Clause
// The message is made in memory field by field: it needs varints and lengths, and no library.
// Source: https://github.com/google/pprof/blob/main/proto/profile.proto
#include "report/profiles/profile_pprof.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "report/profiles/stacks.h"

enum { /* fields of Profile */
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14
};

#define VARINT_BYTES 10
#define WIRE_VARINT 0u
#define WIRE_BYTES 2u
#define GZIP_ROOM 1024u /* head, foot, and what blocks add that do not get shorter */

struct message {
	unsigned char *bytes;
	size_t length, capacity;
	int status;
};

static void put_bytes(struct message *message, const void *bytes, size_t length)
{
	if (!message->status)
		message->status = crit_array_grow(&message->bytes, &message->capacity,
						  message->length + length, 1);
	if (message->status || !length)
		return;
	memcpy(message->bytes + message->length, bytes, length);
	message->length += length;
}

static void put_varint(struct message *message, uint64_t value)
{
	unsigned char bytes[VARINT_BYTES];
	size_t count = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[count++] = (unsigned char)(value | 0x80);
	bytes[count++] = (unsigned char)value;
	put_bytes(message, bytes, count);
}

static void put_number(struct message *message, unsigned int field, uint64_t value)
{
	put_varint(message, field << 3 | WIRE_VARINT);
	put_varint(message, value);
}

static void put_field(struct message *message, unsigned int field, const void *bytes, size_t length)
{
	put_varint(message, field << 3 | WIRE_BYTES);
	put_varint(message, length);
	put_bytes(message, bytes, length);
}

/* Puts an inner message in, and empties it. */
static void put_message(struct message *message, unsigned int field, struct message *inner)
{
	if (inner->status)
		message->status = inner->status;
	put_field(message, field, inner->bytes, inner->length);
	inner->length = 0;
}

struct profile {
	struct message whole;
	struct message inner, innermost; /* used again and again */
	struct crit_index texts;
	const char **rows; /* of the table of texts; borrowed */
	size_t row_count, row_capacity;
	struct crit_index modules; /* the first frame of each */
	uint64_t mapping_count;
};

/* The number of a text in the table, which begins with "". */
static uint64_t text_of(struct profile *profile, const char *text)
{
	const uint64_t hash = crit_hash_text(text);
	struct crit_probe probe;
	uint32_t number = crit_index_first(&profile->texts, hash, &probe);

	while (number != CRIT_NONE && strcmp(profile->rows[number], text) != 0)
		number = crit_index_next(&profile->texts, &probe);
	if (number != CRIT_NONE)
		return number;
	if (crit_array_grow(&profile->rows, &profile->row_capacity, profile->row_count + 1,
			    sizeof(*profile->rows)) ||
	    crit_index_put(&profile->texts, hash, (uint32_t)profile->row_count)) {
		profile->whole.status = -ENOMEM;
		return 0;
	}
	profile->rows[profile->row_count] = text;
	return profile->row_count++;
}

static void put_type(struct profile *profile, const char *type, const char *unit)
{
	put_number(&profile->inner, 1, text_of(profile, type));
	put_number(&profile->inner, 2, text_of(profile, unit));
	put_message(&profile->whole, PROFILE_SAMPLE_TYPE, &profile->inner);
}

/* Names are there: nobody need look into the file, which may be another one by then. */
static void put_mapping(struct profile *profile, const struct crit_stack_frame *frame, uint64_t id)
{
	const char *build_id = frame->node->place.build_id;

	put_number(&profile->inner, 1, id);
	put_number(&profile->inner, 5, text_of(profile, frame->module));
	put_number(&profile->inner, 6, text_of(profile, build_id ? build_id : ""));
	for (unsigned int has = 7; has <= 10; has++) /* functions, files, lines, inlined calls */
		put_number(&profile->inner, has, 1);
	put_message(&profile->whole, PROFILE_MAPPING, &profile->inner);
}

/* The mapping of a frame's module, made where it is met first; 0 none. */
static uint64_t mapping_of(struct profile *profile, const struct crit_stacks *stacks, size_t number,
			   uint32_t *mappings)
{
	const struct crit_stack_frame *frame = &stacks->frames[number];
	const uint64_t hash = crit_hash_text(frame->module);
	struct crit_probe probe;
	uint32_t first;

	if (!frame->module[0])
		return 0;
	first = crit_index_first(&profile->modules, hash, &probe);
	while (first != CRIT_NONE && strcmp(stacks->frames[first].module, frame->module) != 0)
		first = crit_index_next(&profile->modules, &probe);
	if (first != CRIT_NONE)
		return mappings[first];
	if (crit_index_put(&profile->modules, hash, (uint32_t)number)) {
		profile->whole.status = -ENOMEM;
		return 0;
	}
	mappings[number] = (uint32_t)++profile->mapping_count;
	put_mapping(profile, frame, mappings[number]);
	return mappings[number];
}

/* A location and a function for each frame, with its number plus one. */
static void put_frame(struct profile *profile, const struct crit_stacks *stacks, size_t number,
		      uint32_t *mappings)
{
	const struct crit_stack_frame *frame = &stacks->frames[number];
	const uint64_t mapping = mapping_of(profile, stacks, number, mappings);

	put_number(&profile->inner, 1, number + 1);
	put_number(&profile->inner, 2, text_of(profile, frame->name));
	put_number(&profile->inner, 3, text_of(profile, frame->name));
	put_number(&profile->inner, 4, text_of(profile, frame->file));
	put_message(&profile->whole, PROFILE_FUNCTION, &profile->inner);
	put_number(&profile->innermost, 1, number + 1);
	put_number(&profile->innermost, 2, frame->node ? frame->node->place.line : 0);
	put_number(&profile->inner, 1, number + 1);
	put_number(&profile->inner, 2, mapping);
	put_number(&profile->inner, 3, mapping ? frame->node->place.offset : 0);
	put_message(&profile->inner, 4, &profile->innermost);
	put_message(&profile->whole, PROFILE_LOCATION, &profile->inner);
}

static void put_stack(struct profile *profile, const struct crit_stack *stack)
{
	for (size_t i = 0; i < stack->frame_count; i++)
		put_varint(&profile->innermost, stack->frames[i] + 1ull);
	put_message(&profile->inner, 1, &profile->innermost);
	put_varint(&profile->innermost, stack->cmetric_ns);
	put_varint(&profile->innermost, stack->samples);
	put_message(&profile->inner, 2, &profile->innermost);
	put_message(&profile->whole, PROFILE_SAMPLE, &profile->inner);
}

static int make(struct profile *profile, struct crit_stacks *stacks,
		const struct crit_results *results)
{
	crit_autofree uint32_t *mappings = calloc(stacks->frame_count + 1, sizeof(*mappings));
	struct crit_stack stack;

	if (!mappings)
		return -ENOMEM;
	(void)text_of(profile, "");
	put_type(profile, "cmetric", "nanoseconds");
	put_type(profile, "samples", "count");
	while (crit_stacks_next(stacks, &stack))
		put_stack(profile, &stack);
	for (size_t i = 0; i < stacks->frame_count; i++)
		put_frame(profile, stacks, i, mappings);
	put_number(&profile->whole, PROFILE_TIME_NS, results->start_real_ns);
	put_number(&profile->whole, PROFILE_DURATION_NS, results->window_ns);
	put_number(&profile->whole, PROFILE_DEFAULT_SAMPLE_TYPE, text_of(profile, "cmetric"));
	for (size_t i = 0; i < profile->row_count; i++)
		put_field(&profile->whole, PROFILE_STRING, profile->rows[i],
			  strlen(profile->rows[i]));
	return profile->whole.status;
}

static int compress_to(FILE *out, const struct message *message)
{
	const size_t room = message->length + message->length / 1000 + GZIP_ROOM;
	crit_autofree struct isal_zstream *stream = calloc(1, sizeof(*stream));
	crit_autofree unsigned char *bytes = malloc(room);

	if (!stream || !bytes || room > UINT32_MAX)
		return -ENOMEM;
	isal_deflate_stateless_init(stream);
	stream->gzip_flag = IGZIP_GZIP;
	stream->end_of_stream = 1;
	stream->next_in = message->bytes;
	stream->avail_in = (uint32_t)message->length;
	stream->next_out = bytes;
	stream->avail_out = (uint32_t)room;
	if (isal_deflate_stateless(stream) != COMP_OK)
		return -EIO;
	(void)fwrite(bytes, 1, stream->total_out, out); /* the caller looks at the stream's error */
	return 0;
}

int crit_pprof_write(FILE *out, const struct crit_summary *summary)
{
	struct profile profile = { .whole = { 0 } };
	struct crit_stacks stacks;
	int rc = crit_stacks_init(&stacks, summary, true);

	if (rc)
		return rc;
	rc = make(&profile, &stacks, summary->results);
	if (!rc)
		rc = compress_to(out, &profile.whole);
	crit_stacks_fini(&stacks);
	crit_index_fini(&profile.texts);
	crit_index_fini(&profile.modules);
	free(profile.rows);
	free(profile.whole.bytes);
	free(profile.inner.bytes);
	free(profile.innermost.bytes);
	return rc;
}
