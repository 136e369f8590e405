/* SPDX-License-Identifier: BSD-3-Clause */
/* The hooks of a shim: spans of MPI calls, and poll spans of those that only ask. */
#ifndef CRIT_SHIM_SPAN_H
#define CRIT_SHIM_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/abi_tag.h"

struct crit_shim_thread;

/* A call and its span class in one word. */
#define CRIT_SHIM_WHAT(call, span_class) ((uint32_t)(call) | (uint32_t)(span_class) << 16)

/*
 * Added to it by Fortran's wrappers: they know the caller, but the handles in their arguments are
 * not those of C.  The wrapper of the C function of the same call, called meanwhile, then tells
 * the details of the span.
 */
#define CRIT_SHIM_FORTRAN (1u << 31)

/* What a wrapper is to the open span, as bits. */
enum crit_shim_role {
	CRIT_SHIM_NESTED = 0, /* nothing: forward the call */
	CRIT_SHIM_OUTER = 1, /* it began the span, and ends it */
	CRIT_SHIM_CALLER = 2, /* it has the arguments of the application's own call */
	CRIT_SHIM_TRACE = 4 /* details of all kinds are wanted */
};

#pragma GCC visibility push(default)

/*
 * Begins a span, unless the caller is inside one already.  frame: __builtin_frame_address(0) of the
 * wrapper, whose return address is site.  True: this is the outermost call, end it with
 * crit_shim_leave.  Cost: level trace one clock reading; level profile none for calls that never
 * wait.
 */
bool crit_shim_enter(uint32_t what, const void *frame, const void *site);

/* Ends the span that crit_shim_enter began. */
void crit_shim_leave(void);

/*
 * The same pair for Test*, Iprobe and their like: failing calls with short gaps become one poll
 * span. is_done: the call found what it was asked about, or failed.
 */
bool crit_shim_poll_enter(uint32_t what, const void *frame, const void *site);
void crit_shim_poll_leave(bool is_done);

/*
 * A wrapper that leaves its span to the one it calls indirectly, as Fortran's MPI_Init does to that
 * of C; true: announce_end follows.  crit_shim_caller, asked there with its own frame, is the frame
 * of who announced, or its own.  Ownership: frames are borrowed until the call returns.
 */
bool crit_shim_announce(const void *frame);
void crit_shim_announce_end(void);
const void *crit_shim_caller(const void *frame);

/* The calling thread's host CLOCK_MONOTONIC. */
uint64_t crit_shim_now_ns(void);

/*
 * crit_shim_enter and crit_shim_poll_enter for calls with details.  With CRIT_SHIM_OUTER in the
 * answer the span ends by crit_shim_leave or crit_shim_poll_leave; details come before that.
 */
unsigned int crit_shim_enter_detailed(uint32_t what, const void *frame, const void *site);
unsigned int crit_shim_poll_enter_detailed(uint32_t what, const void *frame, const void *site);

#pragma GCC visibility pop

/* Inside libcrit_core.so. */
#pragma GCC visibility push(hidden)

/*
 * Inside a span already?  Frames of nested calls lie deeper.  A frame that was left by longjmp, an
 * exception or cancellation is recognised by a caller above it or by its return address
 * overwritten.
 */
bool crit_span_is_nested(struct crit_shim_thread *thread, const uintptr_t *frame);

/* Of a span that is held back: its ENTER goes out, and the span is not folded. */
void crit_span_publish_held(struct crit_shim_thread *thread);

/* Of a span that is held back and ends by now_ns: is it short?  Then it is folded, and over. */
bool crit_span_fold(struct crit_shim_thread *thread, uint64_t now_ns, uint64_t bytes);

/*
 * A thread without a buffer: its first event, or one that found none.  ret_may_tag: it has a
 * tag.
 */
bool crit_span_has_buffer(struct crit_shim_thread *thread, bool *ret_may_tag);

#pragma GCC visibility pop

#endif
