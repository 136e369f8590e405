/* SPDX-License-Identifier: BSD-3-Clause */
/* Region roles and collective operations of OTF2 for MPI calls. */
#ifndef CRIT_OTF2_CALLS_H
#define CRIT_OTF2_CALLS_H

#include <otf2/otf2.h>

/* The role of a call's region. */
OTF2_RegionRole crit_otf2_role(unsigned int call);

/* The operation of a collective call; a neighbourhood one gets that of the whole communicator. */
OTF2_CollectiveOp crit_otf2_collective(unsigned int call);

#endif
