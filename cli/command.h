/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands of crit: what each is called, what --help says of it. */
#ifndef CRIT_COMMAND_H
#define CRIT_COMMAND_H

/* In the order of crit --help: its function, its name, its purpose. */
// clang-format off
#define CRIT_COMMANDS(command)                                                                     \
	command(run, "run", "run a program and report what holds it up")                           \
	command(report, "report", "print the report of a recording")                               \
	command(annotate, "annotate", "print source lines with what was earned there")             \
	command(waits, "waits", "print what the others waited for")                                \
	command(what_if, "what-if", "print what a change of the program would gain")               \
	command(diff, "diff", "compare the reports of two runs")                                   \
	command(export, "export", "write the OTF2 archive of a recording")                         \
	command(verify, "verify", "look for faults in an OTF2 archive")                            \
	command(gather, "gather", "bring recordings home that stayed on their nodes")              \
	command(doctor, "doctor", "check what this machine lacks for crit")                        \
	command(config, "config", "show the settings and where they come from")                    \
	command(env, "env", "print what a launcher needs to preload the shim")                     \
	command(finish, "finish", "turn a recording into a report (started by crit itself)")
// clang-format on

/* cli/command_NAME.c: gets argv from its own name on and answers the exit code of the program. */
#define CRIT_COMMAND_PROTOTYPE(id, name, purpose) int crit_command_##id(int argc, char **argv);
CRIT_COMMANDS(CRIT_COMMAND_PROTOTYPE)

/* Says on stderr in the name of a command which settings make no sense, a line for each. */
void crit_command_tell_ignored(const char *command);

#endif
