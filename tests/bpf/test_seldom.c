// SPDX-License-Identifier: BSD-3-Clause
// While little comes critd looks seldom, and a program that begins then is looked at in time.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define PROGRAMS 15
#define FOUND_LEAST 8 /* virtual machines lose some */
#define QUIET_MS 300
#define LOOK_NS 5000000u /* from waking to the next look, when maps are read */
#define SELDOM_NS 10000000u /* at least, in the mean, where little comes: 20 ms and some events */

static void sleep_ms(long ms)
{
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	(void)nanosleep(&pause, NULL);
}

/* How often critd's main loop has waited so far; 0: unknown. */
static unsigned long waits_of(pid_t critd)
{
	unsigned long waits = 0;
	char line[256];
	FILE *in;

	(void)snprintf(line, sizeof(line), "/proc/%d/task/%d/status", critd, critd);
	in = fopen(line, "re");
	while (in && fgets(line, sizeof(line), in))
		(void)sscanf(line, "voluntary_ctxt_switches: %lu", &waits);
	if (in)
		(void)fclose(in);
	return waits;
}

static void run_programs(void)
{
	for (int i = 0; i < PROGRAMS; i++) {
		pid_t program = fork();

		if (program == 0) {
			(void)execl("/bin/sleep", "sleep", "0.1", NULL);
			_exit(2);
		}
		(void)waitpid(program, NULL, 0);
		sleep_ms(QUIET_MS + 3 * i); /* at any time between two looks */
	}
}

static pid_t start_member(const struct crit_harness *harness)
{
	pid_t member = fork();

	if (member == 0) {
		struct crit_harness_client client;

		if (crit_harness_join(harness, "seldom", CRIT_ROLE_ROOT, 0, &client) ||
		    crit_harness_register(&client, CRIT_TLS_NONE, -1))
			_exit(1);
		sleep_ms(2000);
		run_programs();
		_exit(0);
	}
	return member;
}

static void check_seldom(pid_t critd)
{
	unsigned long waits;
	uint64_t begin_ns;

	CHECK_CASE("nothing comes");
	sleep_ms(700); /* it has registered */
	begin_ns = crit_clock_ns(CLOCK_MONOTONIC);
	waits = waits_of(critd);
	CHECK_INT_GT(waits, 0);
	sleep_ms(1000);
	waits = waits_of(critd) - waits;
	CHECK_INT_GT(waits, 0);
	CHECK_INT_LE(waits, (crit_clock_ns(CLOCK_MONOTONIC) - begin_ns) / SELDOM_NS);
}

/* When the maps of a process were first read after that time; 0: never. */
static __u64 read_after(const struct crit_harness_recording *recording, __u32 pid, __u64 time_ns)
{
	const struct crit_chunk_head *head = NULL;

	while ((head = crit_harness_next(recording, head))) {
		const struct crit_rec_maps *maps = (const void *)(head + 1);

		if (head->kind == CRIT_C_MAPS && maps->pid == pid && maps->time_ns >= time_ns)
			return maps->time_ns;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const __u64 one = *(const __u64 *)a, other = *(const __u64 *)b;

	return one < other ? -1 : one > other;
}

/* From each exec to the first look at its maps. */
static void check_maps(const struct crit_harness_recording *recording)
{
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	__u64 delays_ns[PROGRAMS];
	size_t count = 0;

	CHECK_CASE("programs begin");
	while ((record = crit_harness_next_kernel(recording, &chunk, record))) {
		const struct crit_kernel_exec *exec = (const void *)record;
		__u64 read_ns;

		if (record->kind != CRIT_K_EXEC || count == PROGRAMS)
			continue;
		read_ns = read_after(recording, exec->tgid, record->time_ns);
		if (read_ns)
			delays_ns[count++] = read_ns - record->time_ns;
	}
	if (!CHECK_INT_GE(count, FOUND_LEAST))
		return;
	qsort(delays_ns, count, sizeof(*delays_ns), compare);
	CHECK_INT_LE(delays_ns[count / 4], LOOK_NS * 3 / 2); /* a busy machine delays some */
}

int main(void)
{
	const char *const arguments[] = { "--idle-exit", "1", NULL };
	struct crit_harness_recording recording;
	struct crit_harness harness;
	char file[192];
	pid_t member;
	int status;

	crit_harness_start(&harness, arguments);
	member = start_member(&harness);
	check_seldom(harness.critd);
	CHECK(waitpid(member, &status, 0) == member && status == 0);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	(void)snprintf(file, sizeof(file), "%s/seldom.crit", harness.directory);
	if (CHECK(crit_harness_read(file, &recording)) && CHECK(recording.is_whole))
		check_maps(&recording);
	crit_harness_free(&recording);
	crit_harness_clean(&harness);
	return check_done();
}
