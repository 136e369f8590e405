// SPDX-License-Identifier: BSD-3-Clause
// Reads CLOCK_MONOTONIC through the cycle counter, on the hot path.
//
// clock_gettime costs two to three times what reading the counter costs.  Where the kernel
// itself keeps time by the counter, a thread may carry a reading on by cycles for a millisecond,
// with the scale seen between earlier readings: the error stays that of the readings, tens of
// nanoseconds.
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/shim/shim_clock.h"

#define ANCHOR_NS 1000000u /* an anchor serves this long */
#define FIRST_SCALE_NS 1000000u /* the first scale is taken over this time */
#define SCALE_NS 32000000u /* later ones over this */
#define BRACKET_CYCLES 200u /* a reading disturbed for longer is repeated */
#define TRIES 3
#define COMPARED 16 /* readings of each way to read the clock */

static uint64_t read_host_ns(void)
{
	return crit_clock_bend(crit_clock_ns(CLOCK_MONOTONIC) +
			       (uint64_t)crit_process.clock_offset_ns);
}

/* A clock reading and the cycles at its middle; the least disturbed of a few. */
static uint64_t read_both(uint64_t *ret_cycles)
{
	uint64_t best_bracket = UINT64_MAX;
	uint64_t best_ns = 0;

	for (int i = 0; i < TRIES && best_bracket > BRACKET_CYCLES; i++) {
		uint64_t before = crit_clock_cycles();
		uint64_t now_ns = read_host_ns();
		uint64_t bracket = crit_clock_cycles() - before;

		if (bracket < best_bracket) {
			best_bracket = bracket;
			best_ns = now_ns;
			*ret_cycles = before + bracket / 2;
		}
	}
	return best_ns;
}

static void update_scale(struct crit_clock *clock, uint64_t cycles, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - clock->base_ns;
	uint64_t passed = cycles - clock->base_cycles;

	if (!clock->base_ns) {
		clock->scale = atomic_load_explicit(&crit_process.scale, memory_order_relaxed);
	} else if (passed_ns < (clock->scale ? SCALE_NS : FIRST_SCALE_NS)) {
		return;
	} else if (passed_ns < 100u * SCALE_NS && passed >> 48 == 0 && passed > 0) {
		/* 3.2 s < 2^32 ns, so the product of the division fits */
		clock->scale = (uint64_t)(((unsigned __int128)passed_ns << 32) / passed);
		atomic_store_explicit(&crit_process.scale, clock->scale, memory_order_relaxed);
	}
	clock->base_ns = now_ns;
	clock->base_cycles = cycles;
}

uint64_t crit_clock_anchor(struct crit_clock *clock)
{
	uint64_t cycles = 0;
	uint64_t now_ns = crit_process.has_cycles ? read_both(&cycles) : read_host_ns();

	if (crit_process.has_cycles) {
		update_scale(clock, cycles, now_ns);
		clock->anchor_cycles = cycles;
		clock->anchor_ns = now_ns;
		clock->limit_cycles = clock->scale ? ((uint64_t)ANCHOR_NS << 32) / clock->scale : 0;
	}
	if (now_ns < clock->last_ns)
		now_ns = clock->last_ns;
	clock->last_ns = now_ns;
	return now_ns;
}

uint64_t crit_clock_past_ns(struct crit_clock *clock, uint64_t cycles)
{
	const uint64_t last_ns = clock->last_ns;
	uint64_t past_ns = last_ns;

	if (crit_clock_is_fresh(clock, cycles)) {
		past_ns = crit_clock_at(clock, cycles);
	} else { /* back from an anchor of now */
		const uint64_t now_ns = crit_clock_anchor(clock);
		const uint64_t passed = clock->anchor_cycles - cycles;
		const uint64_t passed_ns =
			(uint64_t)((unsigned __int128)passed * clock->scale >> 32);

		if (passed_ns < now_ns - last_ns)
			past_ns = now_ns - passed_ns;
	}
	clock->last_ns = past_ns > last_ns ? past_ns : last_ns;
	return clock->last_ns;
}

#ifdef __x86_64__
static uint64_t best_cycles(uint64_t (*read_ns)(void))
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < COMPARED; i++) {
		const uint64_t before = crit_clock_cycles();
		uint64_t passed;

		(void)read_ns();
		passed = crit_clock_cycles() - before;
		best = passed < best ? passed : best;
	}
	return best;
}

static uint64_t read_monotonic_ns(void)
{
	return crit_clock_ns(CLOCK_MONOTONIC);
}

static uint64_t ask_kernel_ns(void)
{
	struct timespec now;

	(void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

/*
 * kvm-clock is read in the process only where the host keeps the counters of all its CPUs together:
 * by the counter of whichever CPU the thread is on, and by what the host says of the first CPU's
 * (Linux, vread_pvclock(): PVCLOCK_TSC_STABLE_BIT).  Elsewhere each reading is a system call.
 */
static bool is_read_in_process(void)
{
	return 2 * best_cycles(read_monotonic_ns) < best_cycles(ask_kernel_ns);
}
#endif

static bool kernel_keeps_time_by_cycles(void)
{
#ifdef __x86_64__
	crit_autoclose int fd =
		open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		     O_RDONLY | O_CLOEXEC);
	char text[16] = { 0 };

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return false;
	return strcmp(text, "tsc\n") == 0 ||
	       (strcmp(text, "kvm-clock\n") == 0 && is_read_in_process());
#else
	return false;
#endif
}

void crit_clock_init(void)
{
	crit_process.clock_offset_ns = crit_clock_host_offset_ns();
	crit_process.has_cycles = kernel_keeps_time_by_cycles();
}
