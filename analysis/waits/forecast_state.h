/* SPDX-License-Identifier: BSD-3-Clause */
/* A forecast at work: where each thread is, what is due, and the entries of one time. */
#ifndef CRIT_FORECAST_STATE_H
#define CRIT_FORECAST_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/film/film_moments.h"
#include "analysis/waits/forecast.h"
#include "analysis/waits/forwards/pending_acts.h"
#include "analysis/waits/forwards/thread_queues.h"
#include "analysis/waits/locks/lock_orders.h"

struct timeline { /* of a thread */
	uint64_t base_ns; /* the time for which its times are known, as recorded */
	uint32_t bucket;
	uint32_t ahead, taken; /* its own entries of the present time; of these, taken */
	uint32_t wakers; /* at the present time, before it goes on */
	bool is_waiting, is_queued, is_asleep;
};

struct crit_forecast_need { /* of an entry of the present time; what it has none of is undefined */
	uint32_t row; /* of the acts that it adds to or ends */
	uint32_t object; /* of those that the object needs which acts; CRIT_NONE: there is none */
	uint32_t turn; /* among the thread's own entries */
	bool is_taken;
};

struct moment_traits { /* of entries of one time, of which some act */
	uint32_t nodes, chains; /* all bits of nodes; of each one's node and number at once */
	uint64_t ended, acted; /* waits that end, and those that acts are for: their last bits */
	bool has_last; /* the last comes to an object */
};

struct forecasting {
	const struct crit_forecast_options *options;
	struct crit_forecast *result;
	int error;
	struct timeline *threads;
	struct crit_thread_queues *queues; /* of each thread; NULL: no scenario changes any */
	uint64_t *transfers; /* of each scenario all bits; of one without transfer none */
	bool is_large; /* the times are more than a core's cache holds */
	bool *is_changed; /* of each bucket, in any scenario */
	uint64_t *times_ns; /* of each thread, in each scenario, at its base */
	struct crit_pending_acts acts;
	struct crit_lock_orders lock_orders;
	struct crit_lock_turn *turns; /* of a lock's next owner, as recorded and in each scenario */
	struct crit_film_moments moments;
	struct crit_film_entry *now; /* entries of the present time */
	size_t count;
	struct moment_traits traits; /* of these */
	struct crit_forecast_need *needs; /* of each, where it may need another */
	size_t need_capacity;
	uint64_t *ended; /* a set of waits that end now */
	size_t ended_capacity;
};

static inline uint64_t *times_of(const struct forecasting *forecasting, uint32_t thread)
{
	return &forecasting->times_ns[thread * forecasting->options->scenario_count];
}

static inline bool is_object(uint32_t node)
{
	return node & CRIT_FILM_OBJECT;
}

/* Of the acts that an object needs; those of waits have their numbers. */
static inline uint64_t key_of(uint32_t name)
{
	return is_object(name) ? 1ull << 32 | name : name;
}

static inline bool crit_forecast_is_act(const struct crit_film_entry *entry)
{
	return entry->type == CRIT_FILM_CAUSE || entry->type == CRIT_FILM_NEED ||
	       entry->type == CRIT_FILM_ARRIVAL;
}

/* What a thread does that needs nothing but the thread, and is not the end of a wait. */
void crit_forecast_take_own(struct forecasting *forecasting, const struct crit_film_entry *entry);

/* It wants a CPU from here on, or has one. */
void crit_forecast_take_cpu(struct forecasting *forecasting, const struct crit_film_entry *entry);

/* The end of a wait, with the row of the acts that it needs; CRIT_NONE: it needs none. */
void crit_forecast_take_end(struct forecasting *forecasting, const struct crit_film_entry *end,
			    uint32_t row);

/*
 * The wait or object of a row needs what a thread, or all that came to an object, did until now.
 * object: the row of that; CRIT_NONE: nobody came.
 */
void crit_forecast_take_act(struct forecasting *forecasting, const struct crit_film_entry *entry,
			    uint32_t row, uint32_t object);

/*
 * Of one time, where no end of a wait needs an act of that time: what threads do, each in its turn,
 * and then the acts of threads and those of objects, which have come by then.  Errors: -ENOMEM.
 */
void crit_forecast_take_owns(struct forecasting *forecasting);
int crit_forecast_take_acts(struct forecasting *forecasting);

/* The thread begins when its creator makes it. */
void crit_forecast_take_birth(struct forecasting *forecasting, const struct crit_film_entry *entry);

/* From the begin of its sleep, its base, on the thread waited for who wakes it now. */
void crit_forecast_take_woken(struct forecasting *forecasting, const struct crit_film_entry *entry);

#endif
