/* SPDX-License-Identifier: BSD-3-Clause */
/* The definitions and properties of a whole archive. */
#ifndef CRIT_OTF2_GLOBAL_DEFINITIONS_H
#define CRIT_OTF2_GLOBAL_DEFINITIONS_H

#include <stdbool.h>

#include "otf2/archive_parts.h"

struct crit_otf2_claims { /* what an archive says of itself */
	bool are_messages_whole, are_teams_whole, are_locks_whole;
	bool has_losses;
	bool is_cut; /* it ends before the window does */
};

/* Writes them; run as at the beginning of the replay.  Errors: -ENOMEM, -EIO, -ENOSPC. */
int crit_otf2_define(struct crit_otf2_parts *parts, const struct crit_otf2_options *options,
		     const struct crit_results *run, const struct crit_otf2_claims *claims);

#endif
