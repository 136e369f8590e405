/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process's registration with critd and its part of the window.
 *
 * What all of libcrit_core.so keeps to: nothing here exits, prints, changes errno or the signal
 * mask, allocates in a hook, or waits without a deadline.  On any trouble a thread or the whole
 * process goes silent and calls are forwarded.
 */
#ifndef CRIT_SHIM_PROCESS_H
#define CRIT_SHIM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/abi_socket.h"

#pragma GCC visibility push(default)

/*
 * Finds critd and registers the process, once; later calls only answer.  False: CRIT_DISABLE is
 * set, the program is left out, or there is no critd, so calls may bypass the shim.  Threads: any;
 * one that comes while another is starting does not wait.  Cost: up to CRIT_CLIENT_START_MS, the
 * first time.
 */
bool crit_shim_start(enum crit_flavour flavour);

/*
 * The same where the program calls MPI_Init now.  Where critd has to be started, and the program
 * has no thread but its first, it waits for nothing: calls are recorded into the process's own
 * memory, critd takes that when it is up, and crit_shim_init_returned, after MPI's function, waits
 * for its answer.  Cost: starting critd and the finisher, some 5 ms; all the rest afterwards.
 */
bool crit_shim_start_in_init(enum crit_flavour flavour);
void crit_shim_init_returned(void);

/*
 * Is the call to be recorded, as CRIT_CALLS has it?  Of use once crit_shim_start said true; an
 * unwanted call bypasses the shim.
 */
bool crit_shim_wants(uint32_t call);

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
