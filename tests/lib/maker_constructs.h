/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP and regions in a composed recording. */
#ifndef CRIT_TESTS_MAKER_CONSTRUCTS_H
#define CRIT_TESTS_MAKER_CONSTRUCTS_H

#include "tests/lib/recording_maker.h"

struct crit_maker_construct {
	uint32_t call;
	uint32_t region; /* in force inside */
	uint64_t site;
	uint64_t arg;
};

/* OpenMP: a span that nests; crit_maker_leave ends it.  MPI calls inside have its region. */
void crit_maker_construct(struct crit_maker *m, uint32_t stream, uint64_t time_ns,
			  struct crit_maker_construct construct);
void crit_maker_worker(struct crit_maker *m, uint32_t stream, uint64_t time_ns);
void crit_maker_release(struct crit_maker *m, uint32_t stream, uint64_t time_ns, uint32_t call,
			uint64_t lock);
/* A definition, with a phase's name or NULL. */
void crit_maker_region(struct crit_maker *m, uint32_t stream, struct crit_slot_region region,
		       const char *name);

#endif
