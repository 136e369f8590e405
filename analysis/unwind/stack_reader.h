/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From critd's ring of stacks and maps to chunks of a recording that say which sample was called
 * from where.  The caller sends the chunks, and says when to look.
 */
#ifndef CRIT_STACK_READER_H
#define CRIT_STACK_READER_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/unwind/unwind.h"
#include "core/abi/abi_recording.h"

struct crit_elf_reader;
struct crit_stack_reader;

/* Of a chunk's body, which goes in one message. */
#define CRIT_STACK_BODY_MAX (CRIT_PATHS_MESSAGE_MAX - sizeof(struct crit_message_paths))
/* The name of code that is in no file: compiled at run time.  Offsets there are addresses. */
#define CRIT_STACK_NO_FILE_NAME "[anon]"

/* Takes the body of a chunk; what it answers but 0 ends the reading. */
typedef int crit_stack_put(enum crit_chunk_kind kind, const void *body, size_t byte_count,
			   void *user);

struct crit_stack_reader_options {
	const void *memory; /* the ring; borrowed, and mapped as long as it is read */
	size_t memory_bytes;
	struct crit_elf_reader *elf_reader; /* as of crit_unwinder_create */
	crit_stack_put *put;
	void *user;
};

struct crit_stack_counts {
	uint64_t copy_count; /* of stacks, unwound */
	uint64_t end_counts[CRIT_UNWIND_END_COUNT]; /* of them, by how their chains ended */
	uint64_t no_path_count; /* of them, for which there was no room among the paths */
	uint64_t maps_count;
	uint64_t refused_count; /* entries that make no sense, or could not be taken in */
	uint64_t overrun_count; /* times that the writer came round first */
	uint64_t lost_bytes; /* then */
};

/* Ownership: crit_stack_reader_destroy.  Errors: -EPROTO, no such ring; -ENOMEM. */
int crit_stack_reader_create(const struct crit_stack_reader_options *options,
			     struct crit_stack_reader **ret_reader);
void crit_stack_reader_destroy(struct crit_stack_reader *reader); /* accepts NULL */

/*
 * Takes what is there.  Stacks wait for the next look, since maps come behind the stacks that asked
 * for them, unless the ring is half full or over.  Returns 1: nothing comes any more; 0: look
 * again.  Errors: -ENOMEM.
 * Cost: two messages for each new instruction in a chain, else some 20 ns per frame; it ends soon
 * after deadline_ns of CLOCK_MONOTONIC, 0 never; and when enough for a second is ready to be put.
 */
int crit_stack_reader_look(struct crit_stack_reader *reader, uint64_t deadline_ns);

/* Puts what was found out: new files, new paths, then the samples' paths.  Errors: those of put. */
int crit_stack_reader_flush(struct crit_stack_reader *reader);

/* Up to date, and borrowed. */
const struct crit_stack_counts *crit_stack_reader_counts(const struct crit_stack_reader *reader);

#endif
