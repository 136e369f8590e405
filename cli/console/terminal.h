/* SPDX-License-Identifier: BSD-3-Clause */
/* How wide a page may be. */
#ifndef CRIT_TERMINAL_H
#define CRIT_TERMINAL_H

/* Columns of COLUMNS, else of the terminal on that descriptor; 0 where there is neither. */
int crit_terminal_columns(int fd);

#endif
