/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a shim says about a span beyond its call: messages, collectives, files.  Handles are MPI's,
 * as 64-bit numbers.
 */
#ifndef CRIT_SHIM_DETAIL_H
#define CRIT_SHIM_DETAIL_H

#include <stdint.h>

#include "core/abi/abi_shim.h"

struct crit_shim_sizes { /* of a collective's part in this process */
	uint64_t sent_bytes;
	uint64_t received_bytes;
};

#pragma GCC visibility push(default)

/*
 * One detail of the open span; without room it is counted as lost.  At level profile bytes go to
 * the counter of a call that is counted.  detail: enum crit_detail.  comm: handle, 0 none.
 */
void crit_shim_detail(uint32_t detail, uint64_t comm, int32_t peer, int32_t tag, uint64_t bytes,
		      uint64_t request);

/*
 * The detail of a collective call on comm.  Every such call of the process must come here, recorded
 * or not: they are counted by communicator.
 */
void crit_shim_collective(uint32_t detail, uint64_t comm, int32_t root,
			  const struct crit_shim_sizes *sizes, uint64_t request);

/* The same before the call, whose span is not folded then. */
void crit_shim_collective_first(uint32_t detail, uint64_t comm, int32_t root,
				const struct crit_shim_sizes *sizes, uint64_t request);

/* The call, by its number, returned an error; recorded where the open span is that call's. */
void crit_shim_failed(uint32_t call, int32_t answer) __attribute__((cold));

/* So many details of the open span are lost. */
void crit_shim_lose_details(uint32_t count);

#pragma GCC visibility pop

#endif
