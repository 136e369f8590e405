// SPDX-License-Identifier: BSD-3-Clause
// Who takes the CPU of a member that wants to keep it: named when the user may know, else hidden.
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define FOREIGN_UID 65534
#define BURN_NS 300000000
#define LOOK_US 5000

/* Another test may run beside this one. */
static char own_name[16];

struct takers {
	int own;
	int hidden;
	int wrong; /* a number without its name, or a name nobody may know */
};

static void pin(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		_exit(2);
}

static void burn(long cpu_ns)
{
	struct timespec now;

	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while (now.tv_sec == 0 && now.tv_nsec < cpu_ns);
}

/* Ready, but stopped. */
static pid_t start_hog(const char *name, uid_t uid)
{
	pid_t hog = fork();

	if (hog) {
		CHECK_INT_EQ(waitpid(hog, NULL, WUNTRACED), hog);
		return hog;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin();
	if (uid && setresuid(uid, uid, uid))
		_exit(2);
	(void)prctl(PR_SET_NAME, name);
	(void)raise(SIGSTOP);
	for (;;)
		burn(BURN_NS);
}

static pid_t start_member(const struct crit_harness *harness)
{
	pid_t member = fork();

	if (member == 0) {
		struct crit_harness_client client;

		pin();
		if (crit_harness_join(harness, "run", CRIT_ROLE_ROOT, 0, &client) ||
		    crit_harness_register(&client, CRIT_TLS_NONE, -1))
			_exit(1);
		burn(BURN_NS);
		_exit(0);
	}
	return member;
}

/* Waits until the member has used half of its CPU time, however many share the CPU. */
static void wait_for_half(pid_t member)
{
	struct timespec used = { 0 };
	clockid_t clock = CLOCK_REALTIME;

	if (!CHECK_INT_EQ(clock_getcpuclockid(member, &clock), 0))
		return;
	while (clock_gettime(clock, &used) == 0 && used.tv_nsec < BURN_NS / 2 && used.tv_sec == 0)
		(void)usleep(LOOK_US);
}

static void count(const struct crit_kernel_taken *taken, pid_t own, struct takers *takers)
{
	bool is_own = taken->taker_tid == (__u32)own;

	if (!strcmp(taken->taker_comm, "hog-of-others"))
		takers->wrong++;
	if (is_own != !strcmp(taken->taker_comm, own_name))
		takers->wrong++;
	takers->own += is_own && taken->taker_tgid == (__u32)own;
	takers->hidden += !taken->taker_tid && !taken->taker_tgid && !taken->taker_comm[0];
}

static void check_recording(const struct crit_harness *harness, pid_t member, pid_t own)
{
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	struct crit_harness_recording recording;
	struct takers takers = { 0 }, givers = { 0 };
	bool is_taken;
	char file[192];

	(void)snprintf(file, sizeof(file), "%s/run.crit", harness->directory);
	if (!CHECK(crit_harness_read(file, &recording)))
		return;
	while ((record = crit_harness_next_kernel(&recording, &chunk, record))) {
		const struct crit_kernel_taken *taken = (const void *)record;

		if (record->kind != CRIT_K_SWITCH || record->size != sizeof(*taken))
			continue;
		is_taken = record->flags & CRIT_KF_PREV_MEMBER;
		CHECK_UINT_EQ(taken->switched.prev_tid, is_taken ? (__u32)member : 0);
		CHECK_UINT_EQ(taken->switched.next_tid, is_taken ? 0 : (__u32)member);
		CHECK_INT_EQ(!!(record->flags & CRIT_KF_PREEMPTED), is_taken);
		CHECK_INT_EQ(!!(record->flags & CRIT_KF_NEXT_MEMBER), !is_taken);
		count(taken, own, is_taken ? &takers : &givers);
	}
	/* each has half of the CPU, in slices of a few milliseconds, unless others want it, too */
	CHECK_INT_GE(takers.own, 1);
	CHECK_INT_GE(takers.hidden, 1);
	CHECK_INT_GE(givers.own, 1);
	CHECK_INT_GE(givers.hidden, 1);
	CHECK_INT_EQ(takers.wrong + givers.wrong, 0);
	crit_harness_free(&recording);
}

int main(void)
{
	struct crit_harness harness;
	pid_t own, foreign, member;
	int status = -1;

	(void)snprintf(own_name, sizeof(own_name), "hog-%d", (int)getpid());
	own = start_hog(own_name, 0);
	foreign = start_hog("hog-of-others", FOREIGN_UID);

	/* one after the other: three that take turns may do so in one order for ever */
	crit_harness_start(&harness, NULL);
	(void)kill(own, SIGCONT);
	member = start_member(&harness);
	wait_for_half(member);
	(void)kill(own, SIGSTOP);
	(void)kill(foreign, SIGCONT);
	(void)waitpid(member, &status, 0);
	CHECK_INT_EQ(status, 0);
	(void)kill(own, SIGKILL);
	(void)kill(foreign, SIGKILL);
	(void)waitpid(own, NULL, 0);
	(void)waitpid(foreign, NULL, 0);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	check_recording(&harness, member, own);
	crit_harness_clean(&harness);
	return check_done();
}
