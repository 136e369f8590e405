// SPDX-License-Identifier: BSD-3-Clause
// Ranks that own memory before MPI_Init: what starts there must not make them pay for it again.
//
// usage: owns_memory MIB    prints of each rank "RANK: FAULTS faults, PAGES pages", the page faults
//        of writing to all of it after MPI_Init
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static long faults_of_pass(char *memory, size_t bytes, size_t page_bytes)
{
	struct rusage before, after;

	(void)getrusage(RUSAGE_SELF, &before);
	for (size_t at = 0; at < bytes; at += page_bytes)
		((volatile char *)memory)[at]++;
	(void)getrusage(RUSAGE_SELF, &after);
	return after.ru_minflt - before.ru_minflt;
}

int main(int argc, char **argv)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const size_t bytes = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) << 20 : page_bytes;
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long faults;
	int rank;

	if (memory == MAP_FAILED)
		return 1;
	(void)madvise(memory, bytes, MADV_NOHUGEPAGE);
	memset(memory, 1, bytes);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	faults = faults_of_pass(memory, bytes, page_bytes);
	printf("%d: %ld faults, %zu pages\n", rank, faults, bytes / page_bytes);
	MPI_Finalize();
	return 0;
}
