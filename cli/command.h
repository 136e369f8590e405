/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands of crit, and the words they share. */
#ifndef CRIT_COMMAND_H
#define CRIT_COMMAND_H

enum crit_exit {
	CRIT_EXIT_OK = 0,
	CRIT_EXIT_FAILED = 1,
	CRIT_EXIT_USAGE = 2,
	CRIT_EXIT_INCOMPLETE = 3,
};

/* Each gets argv from its own name on and answers the exit code of the program. */
int crit_command_run(int argc, char **argv);
int crit_command_finish(int argc, char **argv);
int crit_command_report(int argc, char **argv);
int crit_command_diff(int argc, char **argv);
int crit_command_export(int argc, char **argv);
int crit_command_verify(int argc, char **argv);
int crit_command_gather(int argc, char **argv);
int crit_command_doctor(int argc, char **argv);
int crit_command_config(int argc, char **argv);
int crit_command_env(int argc, char **argv);

#endif
