// SPDX-License-Identifier: BSD-3-Clause
// Makes threads one after the other: prepares each for A ms, which then works B ms; joins the last.
// They have another CPU than who makes them, so that none of the two waits for one.
// usage: births THREADS A B
#include <pthread.h>
#include <stdlib.h>

#include "tests/apps/work.h"

static int64_t child_ns;

static void *child(void *none)
{
	work_pin(1);
	work_for_ns(child_ns);
	return none;
}

int main(int argc, char **argv)
{
	const long count = argc == 4 ? strtol(argv[1], NULL, 10) : 0;
	const double main_ms = argc == 4 ? strtod(argv[2], NULL) : 0;
	pthread_t *threads = calloc((size_t)count + 1, sizeof(*threads));

	if (count < 1 || !threads)
		return 2;
	work_pin(0);
	child_ns = (int64_t)(strtod(argv[3], NULL) * 1e6);
	for (long i = 0; i < count; i++) {
		work_for_ns((int64_t)(main_ms * 1e6));
		work_unpin(); /* or the new thread would begin on this CPU */
		if (pthread_create(&threads[i], NULL, child, NULL))
			return 1;
		work_pin(0);
	}
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
