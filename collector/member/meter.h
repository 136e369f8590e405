/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks may make critd's main thread spend on them, in CPU time and memory.  critd runs
 * outside the job's cgroup and before other users' tasks, so a rank that delivers nothing must not
 * decide what critd uses.
 *
 * Looks: reading a process's thread buffers costs CPU time, and a slot that is found pays back more
 * than its copying takes.  The balance is drawn from two allowances, the process's own and one for
 * all.  Where one is used up, the thread buffers not looked at come first the next time; a ring is
 * drained later then, by at most 0.2 s for one process of 4096 thread buffers, and a rank whose
 * ring is half full calls.
 *
 * Calls: connections, messages and ends of processes have an allowance of their own.  Where it is
 * used up, they wait.
 */
#ifndef CRIT_COLLECTOR_METER_H
#define CRIT_COLLECTOR_METER_H

#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>

#define CRIT_METER_LOOKS_AT_ONCE 32u /* between two readings of the clock */
#define CRIT_METER_DRAIN_NS 10000 /* what a call costs, found or not: a tick */
#define CRIT_METER_BUFFERS_OWN 128u /* of a process, in any case */

struct crit_allowance {
	int64_t left_ns; /* below 0: in debt */
	uint64_t filled_ns; /* when something was last added; 0: it is full */
};

struct crit_meter;

/* NULL: no memory. */
struct crit_meter *crit_meter_create(void);
void crit_meter_destroy(struct crit_meter *meter);

/* Begins to measure looks, and adds what time has brought to the allowance of all. */
void crit_meter_begin(struct crit_meter *meter, uint64_t now_ns);

/* Adds what time has brought to a process's allowance. */
void crit_meter_fill(struct crit_allowance *allowance, uint64_t now_ns);

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
void crit_meter_credit(struct crit_meter *meter, uint32_t slots);

/* A process registered for the first time: what that takes does not keep others waiting. */
void crit_meter_credit_arrival(struct crit_meter *meter, uint64_t now_ns);

/* A stream ended that held anything. */
void crit_meter_credit_stream(struct crit_meter *meter);

/* A chunk with one record was made. */
void crit_meter_chunk(struct crit_meter *meter);

/* A look was taken; some are charged together. */
void crit_meter_look(struct crit_meter *meter, struct crit_allowance *share);

/* Begins, and ends, to measure calls.  end returns false when their allowance is used up. */
void crit_meter_begin_calls(struct crit_meter *meter);
bool crit_meter_end_calls(struct crit_meter *meter, uint64_t now_ns);

/* A tick among them, of looks and of what the kernel recorded, is not charged to calls. */
void crit_meter_except_tick(struct crit_meter *meter, uint64_t begin_cpu_ns);

/* May calls be taken again? */
bool crit_meter_allows_calls(struct crit_meter *meter, uint64_t now_ns);

/* Were looks put off since this was last asked, as all together had no time left? */
bool crit_meter_was_short(struct crit_meter *meter);

/* Reading memory maps, in threads beside the main loop: what it took; may more be read? */
void crit_meter_charge_maps(struct crit_meter *meter, uint64_t cpu_ns);
bool crit_meter_allows_maps(struct crit_meter *meter, uint64_t now_ns);

/* Fills the allowance of all: at the end, which is bounded by itself. */
void crit_meter_refill(struct crit_meter *meter);

/* So much more, or less, is gathered in batches.  Is it too much? */
void crit_meter_gather(struct crit_meter *meter, ssize_t bytes);
bool crit_meter_has_gathered_much(const struct crit_meter *meter);

/* Thread buffers beyond its own that a process may have; and takes so many, or gives them back. */
uint32_t crit_meter_spare_buffers(const struct crit_meter *meter);
void crit_meter_take_buffers(struct crit_meter *meter, int32_t count);

#endif
