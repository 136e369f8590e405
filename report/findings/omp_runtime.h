/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenMP runtime of a run: its name, and what it leaves out or disturbs. */
#ifndef CRIT_OMP_RUNTIME_H
#define CRIT_OMP_RUNTIME_H

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

/* Adds to what is missing: what it leaves out, and spinning that costs others the CPU. */
void crit_openmp_find(struct crit_summary *summary);

#endif
