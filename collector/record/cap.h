/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bound of a recording's size.  With a quarter of it left, where what thread buffers still
 * hold counts as used, trace falls back to profile.  From there on what is left shall always last
 * as long as the run has lasted.  Each time an eighth of it is used, that is judged anew, and tau
 * rises where the ranks' slots use it too fast: what is left goes as 1 / age then, and the run's
 * end finds room.
 */
#ifndef CRIT_COLLECTOR_CAP_H
#define CRIT_COLLECTOR_CAP_H

#include <stdint.h>
#include <stdbool.h>

struct crit_cap {
	uint64_t max_bytes;
	uint64_t used_bytes; /* by the file */
	uint64_t slot_bytes; /* of these, by ranks' slots */
	uint64_t held_bytes; /* still in thread buffers, as of the last look at each */
	uint64_t begin_ns;
	/* the step since the level, or tau, was last judged */
	uint64_t step_bytes; /* used when it began */
	uint64_t step_slot_bytes;
	uint64_t step_ns;
	uint64_t threshold_bytes; /* used when it ends */
	bool is_near; /* trace was to fall back */
};

enum crit_cap_verdict {
	CRIT_CAP_ROOM = 0,
	CRIT_CAP_NEAR = 1, /* fall back to profile; told once */
	CRIT_CAP_FAST = 2, /* record fewer slots; never told before NEAR */
	CRIT_CAP_FULL = 3 /* end the recording */
};

/* max_bytes 0 is the default, 2 GiB. */
void crit_cap_init(struct crit_cap *cap, uint64_t max_bytes, uint64_t now_ns);

/* So many bytes more are in the file, slot_bytes of them slots. */
enum crit_cap_verdict crit_cap_take(struct crit_cap *cap, uint64_t bytes, uint64_t slot_bytes,
				    uint64_t now_ns);

/* Is there room for a record that is not gathered into batches?  A batch always leaves some. */
static inline bool crit_cap_has_room(const struct crit_cap *cap, uint64_t bytes)
{
	return cap->used_bytes + bytes <= cap->max_bytes;
}

#endif
