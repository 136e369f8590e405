/* SPDX-License-Identifier: BSD-3-Clause */
/* The finisher's work: waits for the end of a run, writes its results and its archive. */
#ifndef CRIT_FINISHER_H
#define CRIT_FINISHER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/results/recording_set.h"
#include "core/base/err.h"
#include "core/client/client_env.h"

enum crit_finisher_phase {
	CRIT_FINISHER_REPORTING = 0, /* or waiting for that */
	CRIT_FINISHER_REPLAYING_ONCE, /* for report and archive, or for what of it came before */
	CRIT_FINISHER_EXPORTING, /* the last report is in place */
	CRIT_FINISHER_PLAYING, /* so is the archive; what waits cost is added to the report */
};

/* In memory shared with the process that watches the work. */
struct crit_finisher_state {
	int32_t phase; /* enum crit_finisher_phase */
	struct crit_err err; /* why there is no report; "" there is, or it is not ours to make */
};

struct crit_finisher {
	int directory_fd;
	int socket_fd; /* to critd; -1: none, finish at once */
	enum crit_active_rule rule;
	bool is_late; /* after the run: a finisher before us may have done it all */
	struct crit_finisher_state *state;

	/* of the work itself */
	struct crit_client_env env;
	int gather_ms; /* for other nodes' recordings */
	int recording_fd; /* of this node, or -1 */
	int lock_fd;
	struct crit_recording_set *set; /* the last results were made from */
	uint64_t written_bytes; /* of it, then */
	int last_status;
	bool has_written; /* of the window, while the run went on */
	bool has_no_window; /* another node's finisher reports */
	bool is_filmed; /* the last results tell what waits cost, as far as that is known */
	bool has_traced; /* the archive was tried together with the last results */
	bool is_provisional; /* the last results keep silent about what may still come */
};

/*
 * Does the work to its end and answers 0 or -errno.  The directory is the process's working
 * directory from here on, so it may be renamed meanwhile.  A second process that does the work
 * after one that died in it starts where that was: critd's message is taken when it is answered.
 */
int crit_finisher_work(struct crit_finisher *finisher);

/* Removes what one leaves in the directory that died at its work, unless another is at work. */
void crit_finisher_clean(const struct crit_finisher *finisher);

#endif
