// SPDX-License-Identifier: BSD-3-Clause
// A thread that blocks is told with the system call it does so in, and its first two arguments.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/abi_blocked.h"
#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define PAUSE_NS 2000000
#define TIMES 5
#define NANOSLEEP_32 162 /* of i386 */
#define PAGE_BYTES 4096

struct told { /* by the member, of itself */
	int pipe_fd;
	__u32 word; /* of the futex */
	bool has_faults; /* that another thread serves */
	bool has_compat;
};

static struct told *told;

static const struct timespec pause_time = { 0, PAUSE_NS };

static void read_late(void)
{
	int fds[2];
	char byte;

	if (pipe(fds))
		_exit(1);
	told->pipe_fd = fds[0];
	if (fork() == 0) {
		(void)nanosleep(&pause_time, NULL);
		_exit(write(fds[1], "x", 1) == 1 ? 0 : 1);
	}
	if (read(fds[0], &byte, 1) != 1)
		_exit(1);
	(void)wait(NULL);
	close(fds[0]);
	close(fds[1]);
}

static void *serve_fault(void *argument)
{
	const int fd = *(const int *)argument;
	struct uffd_msg message;
	struct uffdio_zeropage zero = { .range = { .len = PAGE_BYTES } };

	if (read(fd, &message, sizeof(message)) != sizeof(message))
		return NULL;
	zero.range.start = message.arg.pagefault.address & ~(PAGE_BYTES - 1ull);
	(void)nanosleep(&pause_time, NULL);
	(void)ioctl(fd, UFFDIO_ZEROPAGE, &zero);
	return NULL;
}

/* Waits for a page that another thread hands over. */
static void fault_late(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	volatile char *page =
		mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register served = { .range = { (__u64)page, PAGE_BYTES },
					  .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_t thread;

	told->has_faults = fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 &&
			   ioctl(fd, UFFDIO_REGISTER, &served) == 0;
	if (!told->has_faults || pthread_create(&thread, NULL, serve_fault, &fd))
		return;
	*page = 1;
	(void)pthread_join(thread, NULL);
	close(fd);
}

#if defined(__x86_64__)
static sigjmp_buf without_entry;

static void leave_entry(int number)
{
	(void)number;
	siglongjmp(without_entry, 1);
}

/* By the entry of 32-bit programs, which the kernel may be without: it answers, or faults. */
static void sleep_compat(void)
{
	struct {
		__s32 seconds, nanoseconds;
	} *pause_32 = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long rc;

	if (pause_32 == MAP_FAILED)
		return;
	pause_32->seconds = 0;
	pause_32->nanoseconds = PAUSE_NS;
	if (sigsetjmp(without_entry, 1))
		return;
	(void)signal(SIGSEGV, leave_entry);
	__asm__ volatile("int $0x80"
			 : "=a"(rc)
			 : "0"(NANOSLEEP_32), "b"(pause_32), "c"(0)
			 : "memory", "r8", "r9", "r10", "r11");
	told->has_compat = rc == 0;
}
#else
static void sleep_compat(void)
{
}
#endif

/* The member: runs in a child, so that the test itself stays outside. */
static void member_main(const struct crit_harness *harness)
{
	struct crit_harness_client client;

	if (crit_harness_join(harness, "blocked", CRIT_ROLE_SHIM, 0, &client) ||
	    crit_harness_register(&client, CRIT_TLS_NONE, -1))
		_exit(1);
	for (int i = 0; i < TIMES; i++) {
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause_time, NULL);
		(void)poll(NULL, 0, PAUSE_NS / 1000000);
		(void)syscall(SYS_futex, &told->word, FUTEX_WAIT_PRIVATE, 0, &pause_time, NULL, 0);
		read_late();
	}
	fault_late();
	sleep_compat();
	_exit(0);
}

struct found {
	int sleeps, polls, futexes, reads, faults, compats;
	int calls; /* all with CALL */
};

static void take(const struct crit_kernel_call *call, struct found *found)
{
	const bool is_compat = call->flags & CRIT_CALL_COMPAT;

	found->calls++;
	found->compats += is_compat && call->number == NANOSLEEP_32;
	if (is_compat)
		return;
	found->faults += call->number == -1;
	found->sleeps += call->number == SYS_clock_nanosleep && call->argument == CLOCK_MONOTONIC &&
			 call->argument_2 == 0;
	found->reads += call->number == SYS_read && call->argument == (__u64)told->pipe_fd;
	found->futexes += call->number == SYS_futex && call->argument == (__u64)&told->word &&
			  call->argument_2 == FUTEX_WAIT_PRIVATE;
#if defined(SYS_poll)
	found->polls += call->number == SYS_poll && call->argument == 0;
#endif
}

static void check_recording(const char *file, __u32 member)
{
	const struct crit_chunk_head *chunk = NULL;
	const struct crit_kernel_head *record = NULL;
	struct crit_harness_recording recording;
	struct found found = { 0 };

	if (!CHECK(crit_harness_read(file, &recording)))
		return;
	while ((record = crit_harness_next_kernel(&recording, &chunk, record))) {
		const struct crit_kernel_switch *switched = (const void *)record;
		const struct crit_kernel_blocked *blocked = (const void *)record;
		const struct crit_kernel_blocked_taken *taken = (const void *)record;

		if (record->kind != CRIT_K_SWITCH)
			continue;
		if (!(record->flags & CRIT_KF_CALL)) {
			CHECK(record->size == sizeof(*switched) ||
			      record->size == sizeof(struct crit_kernel_preempted));
			continue;
		}
		CHECK(record->flags & CRIT_KF_PREV_MEMBER);
		CHECK(!(record->flags & CRIT_KF_PREEMPTED) && record->state);
		if (!CHECK(record->size == sizeof(*blocked) || record->size == sizeof(*taken)))
			continue;
		if (switched->prev_tid == member)
			take(record->size == sizeof(*taken) ? &taken->call : &blocked->call,
			     &found);
	}
	CHECK_INT_GE(found.sleeps, TIMES - 1); /* some kernels do not tell of every switch */
	CHECK_INT_GE(found.polls, TIMES - 1);
	CHECK_INT_GE(found.futexes, TIMES - 1);
	CHECK_INT_GE(found.reads, TIMES - 1);
	CHECK_INT_GE(found.faults, told->has_faults);
	CHECK_INT_GE(found.compats, told->has_compat);
	crit_harness_free(&recording);
}

static void run_case(const char *const *arguments)
{
	struct crit_harness harness;
	char file[192];
	int status = -1;
	pid_t member;

	*told = (struct told){ 0 };
	crit_harness_start(&harness, arguments);
	member = fork();
	if (member == 0)
		member_main(&harness);
	(void)waitpid(member, &status, 0);
	CHECK_INT_EQ(status, 0);
	CHECK_INT_EQ(crit_harness_stop(&harness, false), 0);
	(void)snprintf(file, sizeof(file), "%s/blocked.crit", harness.directory);
	check_recording(file, (__u32)member);
	crit_harness_clean(&harness);
}

int main(void)
{
	static const char *const variants[][4] = {
		{ "--idle-exit", "1", NULL, NULL },
		{ "--idle-exit", "1", "--no-task-storage", NULL },
	};

	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		return 1;
	crit_harness_keep_busy();
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		CHECK_CASE("%s", variants[i][2] ? variants[i][2] : "defaults");
		run_case(variants[i]);
		printf("compat %d, faults %d\n", told->has_compat, told->has_faults);
	}
	return check_done();
}
