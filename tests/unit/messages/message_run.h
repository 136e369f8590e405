/* SPDX-License-Identifier: BSD-3-Clause */
/* Hand-made runs of up to four ranks on one node: tests add them span by span. */
#ifndef CRIT_TESTS_MESSAGE_RUN_H
#define CRIT_TESTS_MESSAGE_RUN_H

#include <stdlib.h>
#include <string.h>

#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"

#define T0 1000000000ull
#define US 1000ull
#define END (T0 + 100000 * US)
#define RANKS_MAX 4

struct run {
	struct crit_maker *m;
	uint32_t streams[RANKS_MAX];
	uint32_t ranks, level;
	uint16_t flavour; /* 0: MPICH */
};

static inline void begin(struct run *run, const struct crit_maker_options *options)
{
	run->m = crit_maker_create(options);
	crit_maker_file(run->m, (struct crit_rec_file){ .host = "node0",
							.cpu_count = 4,
							.level = run->level,
							.kernel_status = -1,
							.start_mono_ns = T0,
							.start_real_ns = T0 });
	for (uint32_t i = 0; i < run->ranks; i++)
		run->streams[i] =
			crit_act_open(run->m, (struct crit_act_rank){ .pid = 100 + i,
								      .rank = i,
								      .size = run->ranks,
								      .flavour = run->flavour,
								      .begin_ns = T0 });
}

static inline struct crit_results *finish(struct run *run)
{
	for (uint32_t i = 0; i < run->ranks; i++)
		crit_act_shut(run->m, 100 + i, run->streams[i], END, END + US);
	crit_maker_window(run->m, END);
	return crit_analysed_finish(&run->m, 1, CRIT_ACTIVE_DEFAULT);
}

static inline void enter(struct run *run, uint32_t rank, uint64_t at_us, uint32_t call)
{
	crit_maker_enter(run->m, run->streams[rank], T0 + at_us * US, call);
}

static inline void leave(struct run *run, uint32_t rank, uint64_t at_us, uint32_t call)
{
	crit_maker_leave(run->m, run->streams[rank], T0 + at_us * US, call);
}

static inline void detail(struct run *run, uint32_t rank, struct crit_slot_detail what)
{
	crit_maker_detail(run->m, run->streams[rank], what);
}

/* A span of 1 us that does one thing. */
static inline void act(struct run *run, uint32_t rank, uint64_t at_us, uint32_t call,
		       struct crit_slot_detail what)
{
	enter(run, rank, at_us, call);
	detail(run, rank, what);
	leave(run, rank, at_us + 1, call);
}

static inline const struct crit_traffic_row *traffic(const struct crit_results *r, uint32_t call)
{
	static const struct crit_traffic_row none;

	for (size_t i = 0; i < r->messages.traffic_count; i++) {
		if (r->messages.traffic[i].call == call)
			return &r->messages.traffic[i];
	}
	return &none;
}

static inline const struct crit_pair_row *pair(const struct crit_results *r, uint32_t from,
					       uint32_t to)
{
	static const struct crit_pair_row none;

	for (size_t i = 0; i < r->messages.pair_count; i++) {
		if (r->messages.pairs[i].from_row == from && r->messages.pairs[i].to_row == to)
			return &r->messages.pairs[i];
	}
	return &none;
}

static inline void check_pair(const struct crit_results *r, uint32_t from, uint32_t to,
			      uint64_t count, uint64_t bytes)
{
	CHECK_UINT_EQ(pair(r, from, to)->sent_count, count);
	CHECK_UINT_EQ(pair(r, from, to)->sent_bytes, bytes);
	CHECK_UINT_EQ(pair(r, from, to)->received_count, count);
	CHECK_UINT_EQ(pair(r, from, to)->received_bytes, bytes);
}

static inline void check_no_losses(const struct crit_results *r)
{
	static const struct crit_message_losses none;

	CHECK_INT_EQ(memcmp(&r->messages.losses, &none, sizeof(none)), 0);
	CHECK(r->messages.is_whole);
}

#endif
