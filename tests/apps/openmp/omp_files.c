// SPDX-License-Identifier: BSD-3-Clause
// Parallel regions on the same lines of eight source files; file n does n + 2 rounds, and tells how
// many spans of each construct follow.
#include "tests/apps/openmp/omp_files.h"

#include <omp.h>
#include <stdio.h>

#define FILES 8

static const struct {
	void (*run)(int rounds);
	const char *name;
} files[FILES] = {
	{ omp_file_1, "omp_file_1.c" }, { omp_file_2, "omp_file_2.c" },
	{ omp_file_3, "omp_file_3.c" }, { omp_file_4, "omp_file_4.c" },
	{ omp_file_5, "omp_file_5.c" }, { omp_file_6, "omp_file_6.c" },
	{ omp_file_7, "omp_file_7.c" }, { omp_file_8, "omp_file_8.c" },
};

double omp_files_sums[OMP_FILES_SUMS];

int main(void)
{
	omp_set_num_threads(OMP_FILES_THREADS);
	for (int file = 0; file < FILES; file++) {
		const int rounds = file + 3;

		files[file].run(rounds);
		printf("expect %s parallel %d critical %d single %d\n", files[file].name,
		       rounds * OMP_FILES_THREADS, rounds * OMP_FILES_THREADS, rounds);
	}
	return omp_files_sums[OMP_FILES_SUMS - 1] > 0 ? 0 : 1;
}
