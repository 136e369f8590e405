/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a ring of stacks as critd does. */
#ifndef CRIT_TESTS_RING_WRITER_H
#define CRIT_TESTS_RING_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "core/abi/abi_stacks.h"

struct ring_writer {
	int fd; /* a memfd */
	struct crit_stacks_head *head;
	unsigned char *bytes;
	size_t memory_bytes;
	bool has_marks; /* else as critd wrote it once */
};

/* Aborts where there is no memory. */
void ring_writer_init(struct ring_writer *writer, uint64_t ring_bytes);
void ring_writer_fini(struct ring_writer *writer);

/* So many bytes as they are, behind what was written. */
void ring_writer_put(struct ring_writer *writer, const void *bytes, size_t byte_count);

/* The entry of a copy, without its head and with its stack behind. */
void ring_writer_put_copy(struct ring_writer *writer, const struct crit_stacks_copy *copy,
			  const void *stack);
/* The same with this process's own stack, from copy->sp on. */
void ring_writer_put_stack(struct ring_writer *writer, const struct crit_stacks_copy *copy);

/* The same with the registers of who calls it, which is the innermost frame then; of process 5. */
__attribute__((always_inline)) static inline void ring_writer_put_own(struct ring_writer *writer,
								      uint32_t request)
{
	const uint64_t top = (uint64_t)getauxval(AT_RANDOM); /* above all frames */
	struct crit_stacks_copy copy = { .request = request, .pid = 5, .time_ns = 1 };

#if defined(__aarch64__)
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"
			 : "=&r"(copy.ip), "=&r"(copy.sp), "=&r"(copy.bp), "=&r"(copy.lr));
#else
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
			 : "=&r"(copy.ip), "=&r"(copy.sp), "=&r"(copy.bp));
#endif
	copy.stack_bytes = (uint32_t)(top - copy.sp < 16384 ? top - copy.sp : 16384);
	ring_writer_put_stack(writer, &copy);
}

void ring_writer_put_maps(struct ring_writer *writer, uint32_t pid, uint64_t time_ns,
			  const char *text, size_t text_bytes);
void ring_writer_end(struct ring_writer *writer);

#endif
