// SPDX-License-Identifier: BSD-3-Clause
// Threads with the smallest stack there is call MPI: one before all others of the process, so that
// it is the one that registers, one later.  What is left of their stacks is printed.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAINT 0xa5

static void *come_first(void *argument)
{
	int is_initialized;

	(void)MPI_Initialized(&is_initialized);
	return argument;
}

static void *come_later(void *argument)
{
	int size;

	(void)MPI_Comm_size(MPI_COMM_WORLD, &size);
	return argument;
}

/* Bytes of its stack that the thread did not touch; 0: it could not be made. */
static size_t run(void *(*body)(void *))
{
	size_t size = (size_t)sysconf(_SC_THREAD_STACK_MIN);
	unsigned char *stack =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	size_t left = 0;

	if (stack == MAP_FAILED || pthread_attr_init(&attributes))
		return 0;
	memset(stack, PAINT, size);
	if (pthread_attr_setstack(&attributes, stack, size) ||
	    pthread_create(&thread, &attributes, body, NULL) || pthread_join(thread, NULL))
		return 0;
	while (left < size && stack[left] == PAINT)
		left++;
	return left;
}

int main(int argc, char **argv)
{
	size_t first = run(come_first);
	size_t later;
	int provided;

	(void)MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	later = run(come_later);
	(void)MPI_Finalize();
	printf("%zu %zu of %ld bytes left\n", first, later, sysconf(_SC_THREAD_STACK_MIN));
	return !first || !later;
}
