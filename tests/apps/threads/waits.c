// SPDX-License-Identifier: BSD-3-Clause
// Threads that are blocked for known times, in known system calls, called by known functions.
// usage: waits sleeps|locks|storm MILLISECONDS
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
#define MS 1000000

static int to_other[2], to_main[2];
static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER, lock_b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int64_t released_ns; /* with the lock */
static atomic_bool is_over;

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void pause_ms(long ms)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = ms * MS }, NULL);
}

static char get(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		exit(1);
	return byte;
}

static void put(int fd, char byte)
{
	if (write(fd, &byte, 1) != 1)
		exit(1);
}

KEEP static void g(void)
{
	pause_ms(40);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

/* For 60 ms, whatever else runs. */
KEEP static void h(int timer)
{
	const struct itimerspec once = { .it_value = { .tv_nsec = 60 * MS } };
	uint64_t count;

	if (timerfd_settime(timer, 0, &once, NULL) || read(timer, &count, sizeof(count)) < 0)
		exit(1);
}

/* Never blocks before it is over. */
static void *spin(void *unused)
{
	(void)unused;
	while (!is_over)
		;
	return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), void *argument, const char *name)
{
	if (pthread_create(thread, NULL, run, argument))
		exit(1);
	(void)pthread_setname_np(*thread, name);
}

static void sleeps(long ms)
{
	const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	const long rounds = ms / 100;
	pthread_t spinner;

	start(&spinner, spin, NULL, "spinner");
	for (long i = 0; i < rounds; i++) {
		g();
		h(timer);
	}
	is_over = true;
	(void)pthread_join(spinner, NULL);
	printf("g %ld\nh %ld\n", rounds * 40 * MS, rounds * 60 * MS);
}

static void hold(pthread_mutex_t *lock, long ms)
{
	(void)pthread_mutex_lock(lock);
	(void)pthread_barrier_wait(&barrier);
	pause_ms(ms);
	released_ns = now_ns(CLOCK_MONOTONIC);
	(void)pthread_mutex_unlock(lock);
}

static void *hold_both(void *rounds)
{
	for (long i = (long)rounds; i > 0; i--) {
		hold(&lock_a, 12);
		hold(&lock_b, 36);
	}
	return NULL;
}

/* Until it was released: what a thread needs to get its CPU then is not blocked time. */
KEEP static int64_t wait_for(pthread_mutex_t *lock)
{
	int64_t begin_ns;

	(void)pthread_barrier_wait(&barrier);
	begin_ns = now_ns(CLOCK_MONOTONIC);
	(void)pthread_mutex_lock(lock);
	begin_ns = released_ns - begin_ns;
	(void)pthread_mutex_unlock(lock);
	return begin_ns;
}

KEEP static int64_t want_a(void)
{
	const int64_t ns = wait_for(&lock_a);

	__asm__ volatile("" ::: "memory");
	return ns;
}

KEEP static int64_t want_b(void)
{
	const int64_t ns = wait_for(&lock_b);

	__asm__ volatile("" ::: "memory");
	return ns;
}

/* Another thread holds one lock, then the other, three times as long. */
static void locks(long ms)
{
	int64_t for_a_ns = 0, for_b_ns = 0;
	pthread_t holder;

	(void)pthread_barrier_init(&barrier, NULL, 2);
	start(&holder, hold_both, (void *)(ms / 48), "holder");
	for (long i = ms / 48; i > 0; i--) {
		for_a_ns += want_a();
		for_b_ns += want_b();
	}
	(void)pthread_join(holder, NULL);
	printf("want_a %lld\nwant_b %lld\n", (long long)for_a_ns, (long long)for_b_ns);
}

static void *answer(void *unused)
{
	char byte;

	(void)unused;
	do {
		byte = get(to_other[0]);
		put(to_main[1], byte);
	} while (byte != 'q');
	return NULL;
}

/* Two threads that wait for each other all the time. */
static void storm(long ms)
{
	const int64_t end_ns = now_ns(CLOCK_MONOTONIC) + ms * MS;
	pthread_t other;
	char byte;

	start(&other, answer, NULL, "other");
	do {
		byte = now_ns(CLOCK_MONOTONIC) > end_ns ? 'q' : 'x';
		put(to_other[1], byte);
	} while (get(to_main[0]) != 'q');
	(void)pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	if (argc < 3 || pipe(to_other) || pipe(to_main))
		return 2;
	if (strcmp(argv[1], "sleeps") == 0)
		sleeps(atol(argv[2]));
	else if (strcmp(argv[1], "locks") == 0)
		locks(atol(argv[2]));
	else
		storm(atol(argv[2]));
	return 0;
}
