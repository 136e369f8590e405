/* SPDX-License-Identifier: BSD-3-Clause */
/* What one critd holds: sources, members, writer, and tables of runs and clients. */
#ifndef CRIT_COLLECTOR_SERVER_STATE_H
#define CRIT_COLLECTOR_SERVER_STATE_H

#include <stdint.h>
#include <stdbool.h>

#include "collector/member/members.h"
#include "collector/member/memory_maps.h"
#include "collector/options.h"
#include "collector/record/run.h"
#include "collector/source/sources.h"
#include "collector/system/watch.h"
#include "collector/system/workers.h"

#define CRIT_CLIENTS_MAX 4352u /* every process may hold one, and some may wait */
#define CRIT_TICK_NS 5000000u
#define CRIT_FAST_TICK_NS 2000000u /* while a thread buffer fills quickly */
#define CRIT_SLOW_TICK_NS 10000000u /* without thread buffers: the kernel's ring is larger */
#define CRIT_LONG_TICK_NS 20000000u /* where little comes */

struct crit_connection {
	int fd;
	uint32_t index;
	uint32_t pid; /* peer, in critd's pid namespace */
	int pidfd; /* of the peer, opened at accept */
	struct crit_run *run; /* NULL before HELLO */
	struct crit_client_process *process; /* NULL before REGISTER */
	uint32_t role;
	uint32_t flavour;
	uint32_t message_count;
	bool is_welcome; /* WELCOME is sent */
	bool is_in_init; /* of MPI: HELLO comes once more, after that */
	struct crit_message_in *held; /* its REGISTER, until the run records; or NULL */
	struct crit_task *inspection; /* a worker has its next message; it is not watched */
	uint64_t inspected_ns; /* since when */
	bool is_late; /* its inspection has no end: it is given up, and freed when it has one */
	bool is_over; /* to be closed after this round */
	bool is_muted; /* not watched: calls have used up their time */
	bool has_attached; /* its run ends when it goes */
	char exe[CRIT_EXE_BYTES];
};

struct crit_server {
	struct crit_options options;
	struct crit_sources *sources;
	struct crit_members *members;
	struct crit_memory_maps *maps;
	struct crit_writer writer;
	struct crit_workers *inspectors; /* of descriptors that clients pass */
	struct crit_workers *closers;
	struct crit_meter *meter;
	struct crit_run *runs; /* CRIT_RUN_SLOTS */
	struct crit_connection *clients[CRIT_CLIENTS_MAX];
	uint32_t run_next; /* to be stepped */
	uint32_t short_count; /* times in a row that looks were put off, at slow looks */
	uint32_t client_end; /* no entry from here on was ever in use */
	uint32_t run_end;
	uint32_t client_count;
	uint32_t inspected_count; /* clients that wait for a worker */
	uint32_t run_count;
	uint32_t next_number; /* of a run; never 0 */
	uint64_t refused_count;
	uint32_t unrecorded_count; /* runs that ended without a recording */
	bool has_unlisted; /* a run is not in it, and that was said */
	int listen_fd;
	int epoll_fd;
	int timer_fd;
	int signal_fd;
	int proc_fd; /* O_PATH /proc */
	int runs_fd; /* the list of the runs' directories; -1: none is wanted */
	int reserve_fd; /* given up to answer a client when there are no descriptors left */
	void (*say)(const char *text); /* one line, on stderr or to the log */
	bool is_full_told;
	bool is_busy_told;
	bool is_late_told;
	uint64_t deaf_ns; /* not 0: since when nobody is accepted: no descriptors, or no time */
	bool has_told_calls;
	bool has_muted; /* clients that are not read meanwhile */
	uint32_t tick_ns; /* of the timer, 0: it stands still */
	uint64_t fast_until_ns; /* ticks are short until then */
	uint64_t busy_until_ns; /* and long from then on */
	bool is_behind; /* a thread buffer had more than one tick takes, or a rank calls */
	bool is_stopping;
	uint64_t idle_since_ns; /* 0: busy */
	uint64_t slow_ns; /* last time slow things were done */
};

#endif
