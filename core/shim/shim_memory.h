/* SPDX-License-Identifier: BSD-3-Clause */
/* The memfd that a process shares with critd. */
#ifndef CRIT_SHIM_MEMORY_H
#define CRIT_SHIM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct crit_thread_buffer_head;

#pragma GCC visibility push(hidden)

/* Makes the memfd; ret_fd is the caller's; the mapping goes to crit_process. */
int crit_memory_create(int *ret_fd);
void crit_memory_unmap(void);
struct crit_thread_buffer_head *crit_memory_buffer(uint32_t number);

/* Makes a thread buffer accessible, before its first use; once more does no harm. */
bool crit_memory_open_buffer(uint32_t number);

#pragma GCC visibility pop

#endif
