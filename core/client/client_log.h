/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines for an administrator or crit doctor: in syslog, and in logs of the user's directory. */
#ifndef CRIT_CLIENT_LOG_H
#define CRIT_CLIENT_LOG_H

/* In the directory of crit_client_socket_directory; an older one has .1 behind its name. */
#define CRIT_LOG_NAME "crit.log"
#define CRIT_CRITD_LOG_NAME "critd.log"

/*
 * Says in syslog and in crit.log why something is missing, in a line that names what it is about,
 * such as a program.  Errors: none; there is nobody left to tell.
 */
void crit_client_log(const char *what, const char *text);

/*
 * Opens a log of the user's, to append to; one that is full becomes <name>.1, in place of the one
 * before.  Answers the descriptor, the caller's, or -1.
 */
int crit_client_open_log(const char *directory, const char *name);

#endif
