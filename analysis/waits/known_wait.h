/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait of a thread, while more may be told of it; and the sums of those of which nothing was. */
#ifndef CRIT_KNOWN_WAIT_H
#define CRIT_KNOWN_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRIT_FILMING_WAITS 64u
#define CRIT_FILMED_CALLS 1024u /* all numbers of calls and constructs are below */

struct crit_known_wait {
	uint64_t begin_ns, end_ns; /* UINT64_MAX: it goes on */
	uint64_t
		next_ns; /* when the thread asked again, in the same way and without another call */
	uint32_t number;
	uint16_t call;
	bool has_cause : 1;
	bool has_act : 1; /* it needs one that was told, whenever that was */
	bool is_told : 1; /* an edge was, that its own call ended with */
	bool is_free : 1; /* counted as one of a free order */
};

/* Waits that need no act of another thread, as far as is told; ns by call, 0: idle workers. */
struct crit_actless_waits {
	uint64_t call_ns[CRIT_FILMED_CALLS];
};

/* No more is told of a wait, which ended, or is cut. */
static inline void crit_known_wait_forget(const struct crit_known_wait *wait, uint64_t end_ns,
					  struct crit_actless_waits *actless)
{
	const size_t call = wait->call < CRIT_FILMED_CALLS ? wait->call : 0;

	if (!wait->has_act && end_ns > wait->begin_ns)
		actless->call_ns[call] += end_ns - wait->begin_ns;
}

#endif
