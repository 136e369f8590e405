/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs and maps of the kernel half, loaded. */
#ifndef CRIT_COLLECTOR_KERNEL_OBJECT_H
#define CRIT_COLLECTOR_KERNEL_OBJECT_H

#include <stdint.h>
#include <stdbool.h>

#include "core/abi/abi_member.h"
#include "crit.skel.h"

struct crit_kernel_object {
	struct crit_bpf *bpf; /* what libbpf loaded, or NULL */
	struct crit_light *light; /* what the kernel itself loaded, or NULL */
	struct crit_bpf__bss *bss; /* shared with the programs */
	int members_fd;
	int registered_fd;
	int records_fd;
	int cpu_rings_fd;
	int cpu_clock_fd; /* the program of the sampling clock; -1: the kernel refuses it */
};

struct crit_kernel_settings {
	struct crit_bpf__rodata rodata;
	uint32_t ring_bytes;
	uint32_t registered_count; /* processes, at most, whose threads BPF enrols */
};

/*
 * Loads everything, attaches nothing.  Ownership: object is the caller's memory, closed by
 * crit_kernel_object_close (which accepts a zeroed one), and untouched on failure.
 * Errors: -errno of the step that failed; needs CAP_BPF and CAP_PERFMON.
 * Cost: about 20 ms CPU, most of it the verifier; 14 more where libbpf reads the kernel's types.
 */
int crit_kernel_object_load(struct crit_kernel_object *object,
			    const struct crit_kernel_settings *settings);

/* Attaches the programs of the scheduler's events. */
int crit_kernel_object_attach(const struct crit_kernel_object *object);

void crit_kernel_object_close(struct crit_kernel_object *object);

#endif
