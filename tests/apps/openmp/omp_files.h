/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the main file of omp_files and its eight copies of omp_file.c.in. */
#ifndef CRIT_TESTS_OMP_FILES_H
#define CRIT_TESTS_OMP_FILES_H

#define OMP_FILES_THREADS 2
#define OMP_FILES_SUMS 16

extern double omp_files_sums[OMP_FILES_SUMS];

void omp_file_1(int rounds);
void omp_file_2(int rounds);
void omp_file_3(int rounds);
void omp_file_4(int rounds);
void omp_file_5(int rounds);
void omp_file_6(int rounds);
void omp_file_7(int rounds);
void omp_file_8(int rounds);

#endif
