// SPDX-License-Identifier: BSD-3-Clause
// crit: hands over to a subcommand.
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/console/closest.h"
#include "cli/command.h"
#include "cli/console/std_files.h"
#include "cli/console/syntax.h"
#include "cli/results/archive.h"
#include "core/abi/abi_recording.h"
#include "core/base/line.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *purpose;
} commands[] = {
#define ROW(id, name, purpose) { name, crit_command_##id, purpose },
	CRIT_COMMANDS(ROW)
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *out)
{
	fprintf(out,
		"usage: crit COMMAND [OPTION...] [ARGUMENT...]\n\n"
		"crit finds what serialises a parallel job: which rank, thread, MPI call.\n\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  crit %-8s %s\n", commands[i].name, commands[i].purpose);
	fprintf(out,
		"\n  crit --version, crit --help, crit COMMAND --help\n"
		"\nexit: 0 ok, 1 failed, 2 usage, 3 incomplete result; crit run: the program's\n");
}

static void refuse(const char *name)
{
	struct crit_closest closest;

	crit_closest_init(&closest, name);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		crit_closest_try(&closest, commands[i].name);
	crit_line_print(stderr, "crit: no command named %s;%s%s%s see crit --help\n", name,
			closest.name ? " did you mean crit " : "", closest.name ? closest.name : "",
			closest.name ? "?" : "");
}

/* crit finish has no reader: what starts it tells. */
static bool tells_ignored(int (*run)(int argc, char **argv))
{
	return run == crit_command_run || run == crit_command_config || run == crit_command_finish;
}

static int run(const char *name, int argc, char **argv)
{
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		print_help(stdout);
		return CRIT_EXIT_OK;
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		printf("crit %s (recording version %d, "
		       "report schema crit-report/2, %s, %s)\n",
		       CRIT_VERSION, (int)CRIT_RECORDING_VERSION,
		       crit_archive_is_built() ? "OTF2" : "built without OTF2",
		       CRIT_HAS_OMPT ? "OMPT" : "built without OMPT");
		return CRIT_EXIT_OK;
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(name, commands[i].name) != 0)
			continue;
		if (!tells_ignored(commands[i].run))
			crit_command_tell_ignored(name);
		return commands[i].run(argc - 1, argv + 1);
	}
	if (*name)
		refuse(name);
	else
		print_help(stderr);
	return CRIT_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	crit_std_files_take();
	return crit_std_files_end(name, run(name, argc, argv));
}
