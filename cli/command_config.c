// SPDX-License-Identifier: BSD-3-Clause
// crit config: the settings, what holds now, and where it comes from.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/console/syntax.h"
#include "core/base/setting.h"

#define WHY_BYTES 320 /* a setting is ignored */

struct config_options {
	bool is_dump;
};

static const char usage[] =
	"usage: crit config [--dump]\n"
	"Shows the settings: name, value, where the value comes from, meaning.\n"
	"  -d, --dump           for programs: name, value, source, default, set value\n"
	"  -h, --help           this text\n"
	"Exit 1: a value makes no sense, or nobody knows a variable CRIT_*.\n";

static int take_option(int option, void *user)
{
	struct config_options *options = user;

	(void)option; /* there is but one */
	options->is_dump = true;
	return CRIT_SYNTAX_GO_ON;
}

static const struct option option_names[] = {
	{ "dump", no_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const struct crit_syntax syntax = {
	.command = "crit config",
	.letters = "dh",
	.names = option_names,
	.usage = usage,
	.take = take_option,
};

/* One field of a line of --dump: what would break the line is written with a backslash. */
static void dump_field(const char *text, char end)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '\t' || *text == '\n') {
			(void)putchar('\\');
			(void)putchar(*text == '\t' ? 't' : *text == '\n' ? 'n' : '\\');
		} else {
			(void)putchar(*text);
		}
	}
	(void)putchar(end);
}

static void dump(const char *const fields[5])
{
	for (int i = 0; i < 5; i++)
		dump_field(fields[i] ? fields[i] : "", i < 4 ? '\t' : '\n');
}

static bool show_setting(enum crit_setting_name name, const struct config_options *options)
{
	static const char *const sources[CRIT_FROM_COUNT] = { "default", "environment", "ignored" };
	const struct crit_setting *row = crit_setting_row(name);
	enum crit_setting_source source;
	const char *text = crit_setting_text(name, &source);
	const char *set = getenv(row->variable);
	char why[WHY_BYTES];

	if (options->is_dump)
		dump((const char *[]){ row->variable, text, sources[source], row->otherwise, set });
	else
		printf("%-16s %-16s %-12s %s\n", row->variable, *text ? text : "-", sources[source],
		       row->purpose);
	if (crit_setting_explain(name, why, sizeof(why)))
		fprintf(stderr, "crit config: %s; see libcrit_pmpi(7)\n", why);
	return source != CRIT_FROM_NONSENSE;
}

static bool is_known(const char *variable, size_t length)
{
	for (int i = 0; i < CRIT_SETTING_COUNT; i++) {
		const char *known = crit_setting_row((enum crit_setting_name)i)->variable;

		if (strlen(known) == length && memcmp(known, variable, length) == 0)
			return true;
	}
	return false;
}

/* A misspelt setting is worse than none. */
static bool show_strangers(const struct config_options *options)
{
	bool has_none = true;

	for (char *const *entry = environ; *entry; entry++) {
		const size_t length = strcspn(*entry, "=");
		char name[64];

		if (strncmp(*entry, "CRIT_", 5) != 0 || is_known(*entry, length))
			continue;
		has_none = false;
		(void)snprintf(name, sizeof(name), "%.*s", (int)length, *entry);
		if (options->is_dump)
			dump((const char *[]){ name, "", "unknown", "",
					       *entry + length + ((*entry)[length] == '=') });
		fprintf(stderr, "crit config: there is no setting %s; see crit config\n", name);
	}
	return has_none;
}

int crit_command_config(int argc, char **argv)
{
	struct config_options options = { .is_dump = false };
	int code = crit_syntax_read(&syntax, argc, argv, &options);
	bool is_fine = true;

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (optind < argc)
		return crit_syntax_refuse(&syntax, "takes no argument:", argv[optind]);
	for (int i = 0; i < CRIT_SETTING_COUNT; i++)
		is_fine &= show_setting((enum crit_setting_name)i, &options);
	is_fine &= show_strangers(&options);
	return is_fine ? CRIT_EXIT_OK : CRIT_EXIT_FAILED;
}

void crit_command_tell_ignored(const char *command)
{
	char why[WHY_BYTES];

	for (int i = 0; i < CRIT_SETTING_COUNT; i++)
		if (crit_setting_explain((enum crit_setting_name)i, why, sizeof(why)))
			fprintf(stderr, "crit %s: %s\n", command, why);
}
