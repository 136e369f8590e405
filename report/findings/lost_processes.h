/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that left the kernel half by their exec, and processes killed in MPI_Init. */
#ifndef CRIT_LOST_PROCESSES_H
#define CRIT_LOST_PROCESSES_H

#include "report/tables/summary.h"

/* Adds them to what is missing. */
void crit_lost_processes_find(struct crit_summary *summary);

#endif
