/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of messages and collectives in report.txt. */
#ifndef CRIT_MESSAGE_TEXT_H
#define CRIT_MESSAGE_TEXT_H

#include <stdio.h>

#include "report/tables/summary.h"

void crit_message_text_write(FILE *out, const struct crit_summary *summary);

#endif
