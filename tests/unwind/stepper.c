// SPDX-License-Identifier: BSD-3-Clause
// A call leaves the address behind itself on the stack and goes elsewhere; what else jumps is seen
// by the stack pointer, which rises above the return addresses of the frames that are left.
#include "tests/unwind/stepper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "tests/lib/check.h"

#define MAPS_BYTES (1u << 18)
#define INSTRUCTION_BYTES_MAX 15
#define INT3 0xcc

struct stepper {
	pid_t pid;
	struct crit_unwinder *unwinder;
	struct crit_unwind_maps maps;
	struct user_regs_struct registers;
	unsigned char code[2]; /* of the instruction to come */
	unsigned char stack[CRIT_UNWIND_STACK_BYTES_MAX];
	size_t depth;
	struct stepper_call calls[STEPPER_DEPTH_MAX];
};

static size_t read_memory(pid_t pid, uint64_t address, void *bytes, size_t count)
{
	/* in pages: a read ends where one is missing */
	struct iovec here = { bytes, count };
	struct iovec there[CRIT_UNWIND_STACK_BYTES_MAX / 4096 + 2];
	size_t piece_count = 0;
	ssize_t read;

	while (count) {
		size_t piece = 4096 - address % 4096;

		piece = piece < count ? piece : count;
		// NOLINTNEXTLINE(performance-no-int-to-ptr): of another process
		there[piece_count++] = (struct iovec){ (void *)address, piece };
		address += piece;
		count -= piece;
	}
	read = process_vm_readv(pid, &here, 1, there, piece_count, 0);
	return read > 0 ? (size_t)read : 0;
}

static void read_maps(struct stepper *stepper)
{
	static char text[MAPS_BYTES];
	char path[64];
	size_t used = 0;
	ssize_t count = 1;
	crit_autoclose int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)stepper->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && count > 0) {
		count = read(fd, text + used, sizeof(text) - used);
		used += count > 0 ? (size_t)count : 0;
	}
	crit_unwind_maps_fini(&stepper->maps);
	CHECK_INT_EQ(crit_unwind_maps_add(&stepper->maps, crit_unwinder_files(stepper->unwinder),
					  text, used),
		     0);
}

static void push(struct stepper *stepper, uint64_t slot, uint64_t pc, bool is_exact)
{
	if (CHECK(stepper->depth < STEPPER_DEPTH_MAX))
		stepper->calls[stepper->depth++] = (struct stepper_call){ slot, pc, is_exact };
}

static bool may_change_maps(const struct stepper *stepper)
{
	static const unsigned long long calls[] = { SYS_mmap, SYS_munmap, SYS_mprotect,
						    SYS_mremap };
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (memcmp(stepper->code, "\x0f\x05", 2) == 0 && stepper->registers.rax == calls[i])
			return true;
	return false;
}

/* One instruction, or up to a handler's first one.  False: the program has ended. */
static bool step(struct stepper *stepper, int *signal, int *ret_status)
{
	const struct user_regs_struct before = stepper->registers;
	const bool is_handled = *signal != 0;
	const bool is_mapping = !is_handled && may_change_maps(stepper);
	const struct user_regs_struct *after = &stepper->registers;
	uint64_t top = 0;

	if (ptrace(PTRACE_SINGLESTEP, stepper->pid, NULL, (void *)(intptr_t)*signal) ||
	    waitpid(stepper->pid, ret_status, 0) != stepper->pid || !WIFSTOPPED(*ret_status))
		return false;
	*signal = WSTOPSIG(*ret_status) == SIGTRAP ? 0 : WSTOPSIG(*ret_status);
	if (ptrace(PTRACE_GETREGS, stepper->pid, NULL, &stepper->registers))
		return false;
	if (is_mapping)
		read_maps(stepper);
	(void)read_memory(stepper->pid, after->rsp, &top, sizeof(top));
	while (stepper->depth && stepper->calls[stepper->depth - 1].slot < after->rsp)
		stepper->depth--;
	if (is_handled && after->rsp < before.rsp && after->rip != before.rip) {
		push(stepper, before.rsp - 1, before.rip, true);
		push(stepper, after->rsp, top, false);
	} else if (after->rsp == before.rsp - sizeof(top) && top > before.rip &&
		   top - before.rip <= INSTRUCTION_BYTES_MAX && after->rip != top) {
		push(stepper, after->rsp, top, false);
	}
	return true;
}

static void run_child(char *const *command)
{
	(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execv(command[0], command);
	_exit(127);
}

static struct crit_unwind_copy take_copy(struct stepper *stepper)
{
	const struct user_regs_struct *registers = &stepper->registers;
	struct crit_unwind_copy copy = { .pc = registers->rip,
					 .sp = registers->rsp,
					 .bp = registers->rbp,
					 .stack = stepper->stack };

	copy.stack_bytes =
		read_memory(stepper->pid, copy.sp, stepper->stack, sizeof(stepper->stack));
	return copy;
}

/* Those are never left between the marks. */
static void take_callers(struct stepper *stepper)
{
	static struct crit_unwind_chain chain;
	const struct crit_unwind_copy copy = take_copy(stepper);

	read_maps(stepper);
	crit_unwind(stepper->unwinder, &stepper->maps, &copy, &chain);
	CHECK_UINT_EQ(chain.end, CRIT_UNWIND_COMPLETE);
	CHECK_INT_GE(chain.frame_count, 3); /* main, two of libc or one, _start */
	for (uint32_t i = chain.frame_count; i-- > 1;) {
		const struct crit_unwind_frame *frame = &chain.frames[i];
		uint64_t base = 0;

		for (size_t j = 0; j < stepper->maps.mapping_count; j++)
			if (stepper->maps.mappings[j].file == frame->file)
				base = stepper->maps.mappings[j].base;
		push(stepper, UINT64_MAX, base + frame->offset + 1, false);
	}
}

static void step_through(struct stepper *stepper, stepper_told *told, void *user, int *ret_status)
{
	int signal = 0;

	do {
		struct stepper_state state = { .copy = take_copy(stepper),
					       .maps = &stepper->maps,
					       .depth = stepper->depth,
					       .calls = stepper->calls };

		(void)read_memory(stepper->pid, state.copy.pc, stepper->code,
				  sizeof(stepper->code));
		if (stepper->code[0] == INT3)
			break;
		told(&state, user);
	} while (step(stepper, &signal, ret_status));
	CHECK(WIFSTOPPED(*ret_status));
}

int stepper_run(char *const *command, struct crit_unwinder *unwinder, stepper_told *told,
		void *user)
{
	static struct stepper stepper;
	int status = 0;

	memset(&stepper, 0, sizeof(stepper));
	stepper.unwinder = unwinder;
	stepper.pid = fork();
	if (stepper.pid == 0)
		run_child(command);
	if (stepper.pid < 0 || waitpid(stepper.pid, &status, 0) < 0)
		return -errno;
	if (!WIFSTOPPED(status) || ptrace(PTRACE_CONT, stepper.pid, NULL, NULL) ||
	    waitpid(stepper.pid, &status, 0) < 0 || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_GETREGS, stepper.pid, NULL, &stepper.registers))
		return -ECHILD;
	take_callers(&stepper);
	step_through(&stepper, told, user, &status);
	(void)kill(stepper.pid, SIGKILL);
	(void)waitpid(stepper.pid, &status, 0);
	crit_unwind_maps_fini(&stepper.maps);
	return 0;
}
