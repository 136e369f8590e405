/* SPDX-License-Identifier: BSD-3-Clause */
/* The subcommands of crit: what each is called, what --help says of it. */
#ifndef CRIT_COMMAND_H
#define CRIT_COMMAND_H

/* In the order of crit --help. */
#define CRIT_COMMANDS(command)                                                                     \
	command(run, "run a program and report what holds it up") command(                         \
		report, "print the report of a recording") command(annotate,                       \
								   "print source lines with what " \
								   "was earned there")             \
		command(waits, "print what the others waited for") command(                        \
			diff, "compare the reports of two runs") command(export,                   \
									 "write the OTF2 archive " \
									 "of a recording")         \
			command(verify, "look for faults in an OTF2 archive") command(             \
				gather, "bring recordings home that stayed on their nodes")        \
				command(doctor, "check what this machine lacks for crit") command( \
					config, "show the settings and where they come from")      \
					command(env,                                               \
						"print what a launcher needs to preload the shim") \
						command(finish, "turn a recording into a report "  \
								"(started by crit itself)")

/* cli/command_NAME.c: gets argv from its own name on and answers the exit code of the program. */
#define CRIT_COMMAND_PROTOTYPE(name, purpose) int crit_command_##name(int argc, char **argv);
CRIT_COMMANDS(CRIT_COMMAND_PROTOTYPE)

#endif
