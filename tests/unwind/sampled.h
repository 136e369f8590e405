/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a command and takes copies of its threads' registers and user stacks, by perf events. */
#ifndef CRIT_TESTS_SAMPLED_H
#define CRIT_TESTS_SAMPLED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/unwind/unwind.h"

struct sampled_copy {
	uint32_t pid;
	uint32_t tid;
	bool is_marked; /* the process has named its main thread "marked" by then */
	struct crit_unwind_copy copy;
	struct crit_unwind_maps *maps; /* of the process, read later */
};

struct sampled_counts {
	uint64_t unmapped; /* left out: the process had ended before its maps were read */
	uint64_t lost; /* the ring was full */
};

/* Ownership: all is borrowed until it returns.  False: read the maps anew and tell it again. */
typedef bool sampled_told(const struct sampled_copy *sample, void *user);

/* May this process sample its children? */
bool sampled_is_permitted(void);

/*
 * Runs a command and all it starts to their end, and tells of each copy; of one by hz every second
 * of each CPU.  Returns the exit status, or -errno.
 */
int sampled_run(char *const *command, unsigned int hz, struct crit_mapped_files *files,
		sampled_told *told, void *user, struct sampled_counts *ret_counts);

#endif
