// SPDX-License-Identifier: BSD-3-Clause
// bench-unwind COMMAND...: takes copies of what a command does and prints what unwinding them
// costs: CPU time per frame where all rules are known, and per rule that is asked for.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "analysis/symbols/elf_reader.h"
#include "core/base/clock.h"
#include "tests/lib/check.h"
#include "tests/unwind/sampled.h"

#define HZ 1499
#define COPIES_MAX 4096
#define FRAMES_WANTED 5000000ull

struct kept {
	struct crit_unwinder *unwinder;
	struct crit_unwind_copy copies[COPIES_MAX];
	size_t count;
	uint32_t pid; /* of the process that is sampled first */
	struct crit_unwind_mapping *mappings; /* its last ones */
	size_t mapping_count;
	uint64_t first_ns; /* CPU time of the first passes */
};

static struct crit_unwind_chain chain;

static bool keep_maps(struct kept *kept, const struct crit_unwind_maps *maps)
{
	const size_t bytes = maps->mapping_count * sizeof(*maps->mappings);

	free(kept->mappings);
	kept->mappings = malloc(bytes + 1);
	if (!kept->mappings)
		return false;
	memcpy(kept->mappings, maps->mappings, bytes);
	kept->mapping_count = maps->mapping_count;
	return true;
}

static bool keep(const struct sampled_copy *sample, void *user)
{
	struct kept *kept = user;
	struct crit_unwind_copy *copy = &kept->copies[kept->count];
	const uint64_t begin_ns = crit_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	unsigned char *stack;

	if (kept->count == COPIES_MAX || (kept->pid && kept->pid != sample->pid))
		return true;
	crit_unwind(kept->unwinder, sample->maps, &sample->copy, &chain);
	kept->first_ns += crit_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
	if (chain.end == CRIT_UNWIND_CUT_MAPS)
		return false;
	kept->pid = sample->pid;
	stack = malloc(sample->copy.stack_bytes + 1);
	if (!stack || !keep_maps(kept, sample->maps)) {
		free(stack);
		return true;
	}
	memcpy(stack, sample->copy.stack, sample->copy.stack_bytes);
	*copy = sample->copy;
	copy->stack = stack;
	kept->count++;
	return true;
}

static uint64_t nanoseconds(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000u;
}

/* Units: ns per frame, in copies one after another, as they were taken. */
static double steady_ns(struct kept *kept, double *ret_depth)
{
	const struct crit_unwind_maps maps = { .mappings = kept->mappings,
					       .mapping_count = kept->mapping_count };
	uint64_t begin_ns = crit_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t frames = 0;
	uint64_t chains = 0;

	while (frames < FRAMES_WANTED) {
		for (size_t i = 0; i < kept->count; i++) {
			crit_unwind(kept->unwinder, &maps, &kept->copies[i], &chain);
			frames += chain.frame_count;
		}
		chains += kept->count;
	}
	*ret_depth = (double)frames / (double)chains;
	return (double)(crit_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns) / (double)frames;
}

int main(int argc, char **argv)
{
	static struct kept kept;
	const struct crit_elf_reader_options options = { .total_s = 600 };
	struct crit_elf_reader *reader = NULL;
	struct sampled_counts counts = { 0 };
	struct rusage before, after;
	uint64_t questions;
	double steady, depth;

	if (argc < 2 || !sampled_is_permitted())
		check_skip("a command to sample, and perf events with user stacks, are needed");
	if (crit_elf_reader_create(&options, &reader) ||
	    crit_unwinder_create(reader, &kept.unwinder) ||
	    sampled_run(argv + 1, HZ, crit_unwinder_files(kept.unwinder), keep, &kept, &counts) ||
	    !kept.count)
		return 1;
	steady = steady_ns(&kept, &depth);
	questions = crit_unwinder_questions(kept.unwinder);
	(void)getrusage(RUSAGE_CHILDREN, &before);
	crit_elf_reader_destroy(reader);
	(void)getrusage(RUSAGE_CHILDREN, &after); /* with what has read the files */
	kept.first_ns += nanoseconds(&after) - nanoseconds(&before);
	printf("{\"copies\": %zu, \"depth\": %.1f, \"ns_per_frame\": %.2f, \"rules\": %" PRIu64
	       ", \"us_per_rule\": %.2f}\n",
	       kept.count, depth, steady, questions,
	       (double)kept.first_ns / 1e3 / (double)(questions + !questions));
	crit_unwinder_destroy(kept.unwinder);
	for (size_t i = 0; i < kept.count; i++)
		free((void *)kept.copies[i].stack);
	free(kept.mappings);
	return 0;
}
