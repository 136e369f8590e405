/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places in the code that times are of, each of them once: what lies between two calls, a call, a
 * function's own code, a region.
 */
#ifndef CRIT_CODE_PLACES_H
#define CRIT_CODE_PLACES_H

#include "analysis/schema/results.h"
#include "analysis/symbols/symbols.h"
#include "analysis/waits/code_keys.h"
#include "core/base/call.h"

struct crit_code_end { /* of code: a call, each once */
	struct crit_source_location place;
	uint16_t call; /* 0: the begin, or the end, of a thread */
	bool is_function; /* not a call: the function that lies there, by samples */
	uint32_t number; /* its own, as they came, from 0 */
	uint32_t order; /* by what it is, from 0; once they were sorted */
};

struct crit_code_place {
	const struct crit_code_end *before, *after;
	bool is_call; /* it is in the call before */
	bool is_region; /* it is all code in the region `before`, its call 0: outside of all */
	uint32_t number; /* its own, as they came, from 0 */
	uint32_t order; /* by what it is, from 0; once they were sorted */
};

struct crit_code_places;

/*
 * Those of the buckets of a run, with an order; symbols may be NULL: bare addresses.  All are
 * borrowed, and must outlive them.  Ownership: destroy frees.  Errors: NULL, out of memory.
 */
struct crit_code_places *crit_code_places_create(const struct crit_code_key *keys,
						 size_t bucket_count,
						 const struct crit_results *results,
						 struct crit_symbols *symbols);
void crit_code_places_destroy(struct crit_code_places *places);

/*
 * The place of a bucket; of one that is outside, what it ends.  Range: up to bucket_count, which is
 * outside of all.  Ownership: borrowed, it stays where it is.
 */
const struct crit_code_place *crit_code_places_of(const struct crit_code_places *places,
						  size_t bucket);

/* That of a region; call 0: of what is outside of all.  Likewise.  Errors: NULL, out of memory. */
const struct crit_code_place *crit_code_places_region(struct crit_code_places *places,
						      uint16_t call,
						      const struct crit_source_location *place);

/*
 * That of the function with code of its own at a sampled address of a thread; NULL: none is known
 * there.  Errors: -ENOMEM.
 */
int crit_code_places_function(struct crit_code_places *places, const struct crit_thread_row *thread,
			      uint64_t address, const struct crit_code_place **ret_place);

/* Gives an order to all there are so far.  Errors: -ENOMEM. */
int crit_code_places_sort(struct crit_code_places *places);

/* The region of that number in a thread's process.  NULL: there is none. */
const struct crit_region_row *crit_code_region_row(const struct crit_results *results,
						   const struct crit_thread_row *thread,
						   uint64_t number);

/* Is such a call of a key the begin or end of a phase, whose name is its place's function? */
static inline bool crit_code_is_phase(uint16_t call)
{
	return call == CRIT_CONSTRUCT_PHASE || call == CRIT_CODE_PHASE_END;
}

/* An order, as qsort has it. */
int crit_code_call_compare(uint16_t left_call, const struct crit_source_location *left,
			   uint16_t right_call, const struct crit_source_location *right);

#endif
