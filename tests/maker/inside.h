/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of the builder of recordings. */
#ifndef CRIT_TESTS_MAKER_INSIDE_H
#define CRIT_TESTS_MAKER_INSIDE_H

#include "tests/maker/maker.h"
#include "tests/maker/random.h"

#define MAKER_DEPTH_MAX 64
#define MAKER_SAMPLED_MAX 8

struct maker_chunk {
	struct crit_chunk_head head;
	size_t length;
	unsigned char *payload; /* zero up to its padding */
};

struct maker_source { /* 0: the kernel; others: streams */
	unsigned char *bytes; /* of the open chunk */
	size_t length;
	size_t room;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t position; /* number of the next record */
	uint64_t first_position; /* of the open chunk */
	uint64_t lost;
	struct crit_rec_stream stream;
	uint32_t calls[MAKER_DEPTH_MAX]; /* open spans, outermost first */
	uint32_t regions[MAKER_DEPTH_MAX]; /* in force inside */
	bool is_worker;
	size_t depth;
};

struct maker_samples {
	struct crit_random random;
	uint32_t tids[MAKER_SAMPLED_MAX]; /* that were enrolled or switched last; 0: nobody */
	uint32_t next;
	bool is_putting;
};

struct crit_maker {
	struct crit_maker_options options;
	struct maker_chunk *chunks;
	size_t chunk_count;
	size_t chunk_room;
	struct maker_source *sources;
	size_t source_count;
	size_t source_room;
	uint64_t next_chunk;
	uint64_t slot_count;
	struct maker_samples samples;
};

void crit_maker_renumber(struct crit_maker *m);
uint32_t crit_maker_add_source(struct crit_maker *m);
void crit_maker_append(struct crit_maker *m, uint32_t source, const void *record, size_t bytes,
		       uint64_t time_ns);

#endif
