/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations for libotf2, where several processes write one archive.
 *
 * A process that fails tells the others before it calls the library (crit_transport_agree), so the
 * one status that the library broadcasts is always success.
 */
#ifndef CRIT_OTF2_PEER_CALLBACKS_H
#define CRIT_OTF2_PEER_CALLBACKS_H

#include <otf2/otf2.h>

#include "analysis/cluster/transport.h"

/* Sets them for an archive; peers NULL: one process writes it.  Peers are borrowed. */
OTF2_ErrorCode crit_otf2_set_collectives(OTF2_Archive *archive,
					 const struct crit_transport *transport);

#endif
