// SPDX-License-Identifier: BSD-3-Clause
// Functions whose parts of the run are known, for samples.
// usage: sampled steps|lock|crowd MS [THREADS [CYCLE_US]]
//
// steps: in turns 3 ms of serial_a, 7 ms of serial_b, and 15 ms of both in two threads: 12, 28 and
// 60 % of the run, where a plain profile says 7.5, 17.5 and 75 %.
// lock: threads have work only under one lock, 30 % of each cycle (5 ms) in locked_a and 70 % in
// locked_b.  Cycles take 4 to 6 ms in turns, so that no clock goes with them.
// crowd: so many threads have work of the kind of both, and nothing else.
//
// At the end it tells of each function what clocked.h has.
#include <stdlib.h>
#include <string.h>

#include "tests/apps/clocked.h"

#define US 1000ll
#define THREADS_MAX 256

/* A function in a section of its own. */
#define PLACE(name, side_by_side)                                                                  \
	static struct clocked name##_clock;                                                        \
	extern const char __start_##name##_code[], __stop_##name##_code[];                         \
	__attribute__((noinline, section(#name "_code"))) static void name(int64_t cpu_ns)         \
	{                                                                                          \
		CLOCKED_WORK(&name##_clock, cpu_ns);                                               \
	}                                                                                          \
	static void tell_##name(void)                                                              \
	{                                                                                          \
		clocked_tell(#name, &name##_clock, __start_##name##_code, __stop_##name##_code,    \
			     side_by_side);                                                        \
	}

PLACE(serial_a, 1)
PLACE(serial_b, 1)
PLACE(both, 2)
PLACE(locked_a, 1)
PLACE(locked_b, 1)

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t run_ns, cycle_ns = 5000 * US;

static void *take_steps(void *is_first)
{
	for (int64_t left_ns = run_ns; left_ns > 0; left_ns -= 25000 * US) {
		if (is_first) {
			serial_a(3000 * US);
			serial_b(7000 * US);
		}
		(void)pthread_barrier_wait(&barrier);
		both(15000 * US);
		(void)pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *take_turns(void *is_first)
{
	uint32_t turn = 0;

	(void)is_first;
	for (int64_t left_ns = run_ns / 2, this_ns; left_ns > 0; left_ns -= this_ns) {
		/* the golden ratio's multiples are spread evenly */
		this_ns = cycle_ns * 8 / 10 +
			  (cycle_ns * 4 / 10 * (int64_t)(turn++ * 2654435769u) >> 32);
		(void)pthread_mutex_lock(&lock);
		locked_a(this_ns * 3 / 10);
		locked_b(this_ns * 7 / 10);
		(void)pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *crowd(void *is_first)
{
	(void)is_first;
	(void)pthread_barrier_wait(&barrier);
	both(run_ns);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	void *(*body)(void *) = !strcmp(mode, "steps")  ? take_steps
				: !strcmp(mode, "lock") ? take_turns
							: crowd;
	const int count = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 2;
	pthread_t threads[THREADS_MAX];

	if (argc < 3 || count < 1 || count > THREADS_MAX)
		return 2;
	if (argc > 4)
		cycle_ns = strtol(argv[4], NULL, 10) * US;
	run_ns = strtol(argv[2], NULL, 10) * 1000 * US;
	(void)pthread_barrier_init(&barrier, NULL, (unsigned int)count);
	for (int i = 1; i < count; i++)
		if (pthread_create(&threads[i], NULL, body, NULL) != 0)
			return 1;
	(void)body(&barrier);
	for (int i = 1; i < count; i++)
		(void)pthread_join(threads[i], NULL);
	tell_serial_a();
	tell_serial_b();
	tell_both();
	tell_locked_a();
	tell_locked_b();
	return 0;
}
