/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks may make critd's main thread spend on them, in CPU time and memory.  critd runs
 * outside the job's cgroup and before other users' tasks, so a rank that delivers nothing must not
 * decide what critd uses.
 *
 * Looks: reading a process's stripes costs CPU time, and a slot that is found pays back more than
 * its copying takes.  The balance is drawn from two allowances, the process's own and one for all.
 * Where one is used up, the stripes not looked at come first the next time; a ring is drained later
 * then, by at most 0.2 s for one process of 4096 stripes, and a rank whose ring is half full calls.
 *
 * Calls: connections, messages and ends of processes have an allowance of their own.  Where it is
 * used up, they wait.
 */
#ifndef CRIT_COLLECTOR_METER_H
#define CRIT_COLLECTOR_METER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#define CRIT_METER_LOOKS_AT_ONCE 32u /* between two readings of the clock */
#define CRIT_METER_PROCESS_NS 15000000 /* per second */
#define CRIT_METER_PROCESS_SAVED_NS 3000000 /* at most */
#define CRIT_METER_ALL_NS 60000000 /* per second, and at most so much is saved up */
#define CRIT_METER_CALLS_NS 60000000
#define CRIT_METER_CALLS_SAVED_NS 500000000
#define CRIT_METER_ARRIVAL_NS 600000 /* paid back for a process that registers: its few calls */
#define CRIT_METER_ARRIVALS_NS 10000000
#define CRIT_METER_ARRIVALS_SAVED_NS 2500000000ll /* 4096 processes that start at once */
#define CRIT_METER_WAKE_NS 5000 /* to wake for them */
#define CRIT_METER_SLOT_NS 200 /* paid back: far more than copying it takes */
#define CRIT_METER_CHUNK_NS 8000 /* what a record of its own costs, in the writing thread too */
#define CRIT_METER_STREAM_NS 50000 /* paid back for one that held anything: its begin and end */
#define CRIT_METER_HURRY_NS 10000 /* what a call costs, found or not: a tick */
#define CRIT_METER_STRIPES_OWN 128u /* of a process, in any case */
#define CRIT_METER_STRIPES_SPARE 65536u /* for processes with more, all together */
#define CRIT_METER_GATHERED_BYTES (64u << 20) /* in batches of stripes, all together */

struct crit_allowance {
	__s64 left_ns; /* below 0: in debt */
	__u64 filled_ns; /* when something was last added; 0: it is full */
};

struct crit_meter {
	struct crit_allowance all;
	struct crit_allowance calls;
	struct crit_allowance arrivals; /* what may be paid back for them */
	__u64 cpu_ns; /* of this thread, when last read */
	__u64 calls_cpu_ns; /* likewise, when the present calls began */
	__u64 tick_ns; /* what a tick took of them */
	__s64 earned_ns; /* by slots, since then */
	__u32 looks; /* since then */
	__u32 spare_stripes; /* not taken */
	size_t gathered_bytes;
	bool was_short; /* looks were put off, as all together had no time left */
};

void crit_meter_init(struct crit_meter *meter);

/* Begins to measure looks, and adds what time has brought to the allowance of all. */
void crit_meter_begin(struct crit_meter *meter, __u64 now_ns);

/* Adds what time has brought to a process's allowance. */
void crit_meter_fill(struct crit_allowance *allowance, __u64 now_ns);

/* Charges what was spent since the last reading; to all only, where share is NULL. */
void crit_meter_settle(struct crit_meter *meter, struct crit_allowance *share);

/*
 * Charges what was spent since the last reading to nobody: a step that happens once for a window or
 * a run, and takes as long as there is to drain.
 */
void crit_meter_forgive(struct crit_meter *meter);

/* May a look be taken?  A process that called may go into debt, as far as it could save. */
bool crit_meter_allows(struct crit_meter *meter, const struct crit_allowance *share,
		       bool has_called);

/* So many slots were found. */
static inline void crit_meter_earn(struct crit_meter *meter, __u32 slots)
{
	meter->earned_ns += (__s64)slots * CRIT_METER_SLOT_NS;
}

/* A process registered for the first time: what that takes does not keep others waiting. */
void crit_meter_earn_arrival(struct crit_meter *meter, __u64 now_ns);

/* A stream ended that held anything. */
static inline void crit_meter_earn_stream(struct crit_meter *meter)
{
	meter->earned_ns += CRIT_METER_STREAM_NS;
}

/* A chunk with one record was made. */
static inline void crit_meter_chunk(struct crit_meter *meter)
{
	meter->earned_ns -= CRIT_METER_CHUNK_NS;
}

static inline void crit_meter_look(struct crit_meter *meter, struct crit_allowance *share)
{
	if (++meter->looks >= CRIT_METER_LOOKS_AT_ONCE)
		crit_meter_settle(meter, share);
}

/* Begins, and ends, to measure calls.  end returns false when their allowance is used up. */
void crit_meter_begin_calls(struct crit_meter *meter);
bool crit_meter_end_calls(struct crit_meter *meter, __u64 now_ns);

/* A tick among them, of looks and of what the kernel recorded, is not charged to calls. */
void crit_meter_except_tick(struct crit_meter *meter, __u64 begin_cpu_ns);

/* May calls be taken again? */
bool crit_meter_allows_calls(struct crit_meter *meter, __u64 now_ns);

#endif
