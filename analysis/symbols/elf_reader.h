/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads names and frame rules from programs and libraries in a process of its own.  A file that is
 * cut while libdw has it mapped kills its reader (SIGBUS), and so may one made to; a file may also
 * cost time or memory without end.  Then that file has no names, and another reader goes on with
 * the next one.
 *
 * A supervisor starts the readers, so that a program may create a reader before MPI_Init and forks
 * nothing after it.
 */
#ifndef CRIT_ELF_READER_H
#define CRIT_ELF_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/symbols/elf_file.h"

struct crit_elf_reader;

#define CRIT_ELF_TOTAL_S 60 /* for all answers, where nothing else is asked for */

struct crit_elf_reader_options {
	const char *debug_directories; /* see analysis/symbols/debug_file.h; borrowed */
	uint32_t wait_s; /* for one answer; 0: 20 */
	uint32_t total_s; /* for all answers, 0: CRIT_ELF_TOTAL_S; later: CRIT_ELF_LATE */
	bool is_here; /* in this process, for tests that follow every branch */
};

/*
 * Ownership: crit_elf_reader_destroy, which ends all its processes.  Errors: -ENOMEM; -errno of
 * socketpair or fork.  Cost: a fork; the first question costs another.
 */
int crit_elf_reader_create(const struct crit_elf_reader_options *options,
			   struct crit_elf_reader **ret_reader);
void crit_elf_reader_destroy(struct crit_elf_reader *reader);

struct crit_elf_wanted {
	const char *path; /* borrowed */
	uint64_t inode;
	uint64_t changed_ns; /* what its head says; not needed to open it */
	uint32_t number; /* the same for every question about this file */
};

/*
 * Opens a file: *ret_head is written for CRIT_ELF_OPEN.  reader NULL: CRIT_ELF_UNREAD.
 * Threads: one at a time.
 */
enum crit_elf_status crit_elf_reader_open(struct crit_elf_reader *reader,
					  const struct crit_elf_wanted *wanted,
					  struct crit_elf_head *ret_head);

#define CRIT_ELF_ADDRESSES_MAX 32 /* of one question */

/*
 * Names addresses of a file, so many of them from the first on as one answer has room and time for:
 * *ret_count, at least one, and places are written for CRIT_ELF_OPEN.  Any other answer holds for
 * all later questions about the file: ask none.
 * Range: count from 1 to CRIT_ELF_ADDRESSES_MAX.
 * Ownership: borrowed until the next question.  Cost: two messages.
 */
enum crit_elf_status
crit_elf_reader_find(struct crit_elf_reader *reader, const struct crit_elf_wanted *wanted,
		     const uint64_t *addresses, size_t count,
		     const struct crit_elf_place *ret_places[CRIT_ELF_ADDRESSES_MAX],
		     size_t *ret_count);

/* As crit_elf_reader_find, whether the function that an address is in names the address target. */
enum crit_elf_status crit_elf_reader_refers(struct crit_elf_reader *reader,
					    const struct crit_elf_wanted *wanted, uint64_t address,
					    uint64_t target, bool *ret_refers);

/*
 * As crit_elf_reader_find, how to leave the frame of an address: a row whose CFA is undefined, and
 * that ends nowhere, where the file does not say.
 */
enum crit_elf_status crit_elf_reader_frame_row(struct crit_elf_reader *reader,
					       const struct crit_elf_wanted *wanted,
					       uint64_t address,
					       const struct crit_frame_row **ret_row);

#endif
