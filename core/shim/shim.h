/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libcrit_core.so: what all shims of a process share: tag word, stripes, clock, registration.
 *
 * The oath: nothing here exits, prints, changes errno or the signal mask, allocates in a hook,
 * or waits without a deadline.  On any trouble a thread or the whole process goes silent and
 * calls are forwarded.
 */
#ifndef CRIT_SHIM_H
#define CRIT_SHIM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/abi_socket.h"
#include "core/abi/abi_tag.h"

#pragma GCC visibility push(default)

/* A call and its span class in one word. */
#define CRIT_SHIM_WHAT(call, span_class) ((uint32_t)(call) | (uint32_t)(span_class) << 16)

/*
 * Added to it by Fortran's wrappers: they know the caller, but the handles in their arguments are
 * not those of C.  The wrapper of the C function of the same call, called meanwhile, then tells
 * the details of the span.
 */
#define CRIT_SHIM_FORTRAN (1u << 31)

/*
 * Finds critd and registers the process, once; later calls only answer.  False: CRIT_DISABLE is
 * set, the program is left out, or there is no critd, so calls may bypass the shim.  Threads: any;
 * one that comes while another is starting does not wait.  Cost: up to CRIT_CLIENT_START_MS, the
 * first time.
 */
bool crit_shim_start(enum crit_flavour flavour);

/*
 * Is the call to be recorded, as CRIT_CALLS has it?  Of use once crit_shim_start said true; an
 * unwanted call bypasses the shim.
 */
bool crit_shim_wants(uint32_t call);

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
 * The process's part of the window begins now: sends RANK with rank, size, world, library and
 * thread_level from message (borrowed; the rest is filled in).
 */
void crit_shim_open_window(struct crit_message_rank *message);

/* The process's part of the window ended at close_ns: sends CLOSE; or it goes on after all. */
void crit_shim_close_window(uint64_t close_ns);
void crit_shim_reopen_window(void);

/* Sends CLOCK: time, offset, bound and reference from message (borrowed). */
void crit_shim_tell_clock(struct crit_message_clock *message);

/* Sends NODES: count and hosts from message (borrowed). */
void crit_shim_tell_nodes(struct crit_message_nodes *message);

/* The name of this process's node, or "" where it is not recorded.  Borrowed, lives for ever. */
const char *crit_shim_host(void);

/* Not recorded, though it should be: no critd, no directory, refused. */
bool crit_shim_has_failed(void);

/* Did this process make the run's directory?  Of processes that failed each counts as the first. */
bool crit_shim_is_first(void);

/*
 * Waits for the report, at most CRIT_FINISH_S, and says on standard error in one line where it is,
 * that it follows, or why there is none; see core/client/notice.h for what keeps it silent.
 */
void crit_shim_conclude(void);

/* The run's directory, absolute, or "".  Borrowed, lives for ever. */
const char *crit_shim_directory(void);

/* A name all ranks of one launch on this node share, also where one run holds several launches. */
void crit_shim_name_world(char ret_name[CRIT_WORLD_BYTES]);

/*
 * Moves this node's recording into another directory, if this process made it; the descriptors
 * critd holds stay valid.  False: nothing moved.
 */
bool crit_shim_move_recording(const char *directory);

#pragma GCC visibility pop

#endif
