// SPDX-License-Identifier: BSD-3-Clause
// Every switch of a CPU that a member wants is told, of hidden tasks without their names.
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
#define UNTOLD (~0u)

/* Another test may run beside this one. */
static char own_name[16];

struct takers {
	int own;
	int hidden;
	int wrong; /* a number without its name, or a name nobody may know */
};

struct watch { /* of a CPU, from one record to the next */
	bool is_on;
	__u32 came; /* 0: hidden */
	int outside; /* records of strangers alone */
	int broken; /* a hog had come, and another task left */
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

/* Waits until the member has used so many thirds of its CPU time, however many share the CPU. */
static void wait_for_thirds(pid_t member, int thirds)
{
	struct timespec used = { 0 };
	clockid_t clock = CLOCK_REALTIME;

	if (!CHECK_INT_EQ(clock_getcpuclockid(member, &clock), 0))
		return;
	while (clock_gettime(clock, &used) == 0 && used.tv_nsec < BURN_NS / 3 * thirds &&
	       used.tv_sec == 0)
		(void)usleep(LOOK_US);
}

static bool is_wrong(__u32 tid, const char *comm, pid_t own)
{
	if (!strcmp(comm, "hog-of-others"))
		return true;
	return (tid == (__u32)own) != !strcmp(comm, own_name);
}

static void count(const struct crit_kernel_preempted *taken, pid_t own, struct takers *takers)
{
	takers->wrong += is_wrong(taken->taker_tid, taken->taker_comm, own);
	takers->own += taken->taker_tid == (__u32)own && taken->taker_tgid == (__u32)own;
	takers->hidden += !taken->taker_tid && !taken->taker_tgid && !taken->taker_comm[0];
}

static void check_named(const struct crit_kernel_preempted *taken, pid_t member, bool is_taken)
{
	bool is_preempted = taken->switched.head.flags & CRIT_KF_PREEMPTED;
	bool is_watched = taken->switched.head.flags & CRIT_KF_WATCHED;

	CHECK_UINT_EQ(taken->switched.prev_tid, is_taken ? (__u32)member : 0);
	CHECK_UINT_EQ(taken->switched.next_tid, is_taken ? 0 : (__u32)member);
	CHECK_INT_EQ(is_preempted, is_taken);
	CHECK_INT_EQ(is_watched, is_taken);
	CHECK_INT_EQ(!!(taken->switched.head.flags & CRIT_KF_NEXT_MEMBER), !is_taken);
}

/* Some kernels do not tell of every switch of some tasks; of these two they do. */
static bool is_broken(const struct watch *watch, __u32 left, pid_t own)
{
	return (watch->came == (__u32)own || watch->came == 0) && left != watch->came;
}

/* While the member waits for its CPU the records of that are a chain. */
static void step_watch(struct watch *watch, const struct crit_kernel_head *record, pid_t own)
{
	const struct crit_kernel_outside *outside = (const void *)record;
	const struct crit_kernel_preempted *taken = (const void *)record;

	if (record->kind == CRIT_K_OUTSIDE) {
		CHECK(watch->is_on);
		CHECK(!is_wrong(outside->prev_tid, outside->prev_comm, own));
		CHECK(!is_wrong(outside->next_tid, outside->next_comm, own));
		watch->broken += is_broken(watch, outside->prev_tid, own);
		watch->came = outside->next_tid;
		watch->outside++;
	} else if (record->kind == CRIT_K_WAKING) {
		watch->is_on = record->flags & CRIT_KF_WATCHED;
		watch->came = UNTOLD;
	} else if (record->size == sizeof(*taken)) {
		if (watch->is_on && record->flags & CRIT_KF_NEXT_MEMBER)
			watch->broken += is_broken(watch, taken->taker_tid, own);
		watch->is_on = record->flags & CRIT_KF_WATCHED;
		watch->came = taken->taker_tid;
	}
}

static void check_recording(const struct crit_harness *harness, pid_t member, pid_t own)
{
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	struct crit_harness_recording recording;
	struct takers takers = { 0 }, givers = { 0 };
	struct watch watch = { 0 };
	bool is_taken;
	char file[192];

	(void)snprintf(file, sizeof(file), "%s/run.crit", harness->directory);
	if (!CHECK(crit_harness_read(file, &recording)))
		return;
	while ((record = crit_harness_next_kernel(&recording, &chunk, record))) {
		const struct crit_kernel_preempted *taken = (const void *)record;

		step_watch(&watch, record, own);
		if (record->kind != CRIT_K_SWITCH || record->size != sizeof(*taken))
			continue;
		is_taken = record->flags & CRIT_KF_PREV_MEMBER;
		check_named(taken, member, is_taken);
		count(taken, own, is_taken ? &takers : &givers);
	}
	/* each has its part of the CPU, in slices of a few milliseconds */
	CHECK_INT_GE(takers.own, 1);
	CHECK_INT_GE(takers.hidden, 1);
	CHECK_INT_GE(givers.own, 1);
	CHECK_INT_GE(givers.hidden, 1);
	CHECK_INT_EQ(takers.wrong + givers.wrong, 0);
	CHECK_INT_GE(watch.outside, 1);
	CHECK_INT_EQ(watch.broken, 0);
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
	wait_for_thirds(member, 1);
	(void)kill(own, SIGSTOP);
	(void)kill(foreign, SIGCONT);
	wait_for_thirds(member, 2);
	(void)kill(own, SIGCONT); /* and here in turns, past the member */
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
