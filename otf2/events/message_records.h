/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages, requests and collectives of MPI as event records. */
#ifndef CRIT_OTF2_MESSAGE_RECORDS_H
#define CRIT_OTF2_MESSAGE_RECORDS_H

#include <otf2/otf2.h>

#include "analysis/schema/trace.h"
#include "otf2/archive/archive_files.h"
#include "otf2/events/streams.h"

/* Does a message of this kind name a communicator, and a peer in it? */
bool crit_otf2_message_has_communicator(const struct crit_trace_message *message);
bool crit_otf2_message_has_peer(const struct crit_trace_message *message);

/* Errors: -EIO. */
int crit_otf2_message_write(struct crit_otf2_files *files, const struct crit_otf2_moment *at,
			    const struct crit_trace_message *message);

#endif
