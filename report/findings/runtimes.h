/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtimes of a run: the name of that of OpenMP, and what they leave out or disturb. */
#ifndef CRIT_RUNTIMES_H
#define CRIT_RUNTIMES_H

#include "report/tables/summary.h"

enum crit_openmp {
	CRIT_OPENMP_NONE = 0, /* nothing was told by one */
	CRIT_OPENMP_UNKNOWN,
	CRIT_OPENMP_LLVM,
	CRIT_OPENMP_GNU,
	CRIT_OPENMP_LLVM_FOR_GNU, /* both are loaded: crit run --omp=llvm */
	CRIT_OPENMP_COUNT
};

/* By the libraries that were in memory; UNKNOWN without symbols. */
enum crit_openmp crit_openmp_of(const struct crit_summary *summary);

/* "GNU libgomp", and so on. */
const char *crit_openmp_name(enum crit_openmp openmp);

/*
 * Adds to what is missing: what the OpenMP runtime leaves out, spinning that costs others the CPU,
 * runtimes in programs, whose calls nobody tells, and waits of ranks that sleep between questions.
 */
void crit_runtimes_find(struct crit_summary *summary);

#endif
