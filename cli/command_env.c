// SPDX-License-Identifier: BSD-3-Clause
// crit env: what a launcher or a batch script needs to preload the shim.
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/launch/child.h"
#include "cli/command.h"
#include "cli/install/installation.h"
#include "cli/console/syntax.h"
#include "core/base/cleanup.h"
#include "core/base/setting.h"

enum launcher {
	LAUNCHER_AUTO = 0,
	LAUNCHER_OPENMPI,
	LAUNCHER_MPICH,
	LAUNCHER_SLURM,
	LAUNCHER_COUNT
};

static const char *const launcher_names[LAUNCHER_COUNT] = { "auto", "openmpi", "mpich", "slurm" };

struct env_options {
	enum launcher launcher;
	bool is_export;
};

static const char usage[] =
	"usage: crit env [--mpi=NAME | --export]\n"
	"Prints the options that make a launcher preload the shim into the ranks:\n"
	"       mpirun $(crit env) -np 4 ./solver\n"
	"  -m, --mpi=NAME       openmpi, mpich, slurm, or auto: what mpirun is here\n"
	"  -e, --export         lines for a shell instead: eval \"$(crit env --export)\"\n"
	"  -h, --help           this text\n";

static int take_option(int option, void *user);

static const struct option option_names[] = {
	{ "mpi", required_argument, NULL, 'm' },
	{ "export", no_argument, NULL, 'e' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const struct crit_syntax syntax = {
	.command = "crit env",
	.letters = "m:eh",
	.names = option_names,
	.usage = usage,
	.take = take_option,
};

static int take_option(int option, void *user)
{
	struct env_options *options = user;

	if (option == 'e') {
		options->is_export = true;
		return CRIT_SYNTAX_GO_ON;
	}
	for (int i = 0; i < LAUNCHER_COUNT; i++)
		if (strcmp(optarg, launcher_names[i]) == 0) {
			options->launcher = (enum launcher)i;
			return CRIT_SYNTAX_GO_ON;
		}
	return crit_syntax_refuse(&syntax, "no launcher named", optarg);
}

/* Asks the launcher itself; MPICH's hydra serves Intel MPI and MVAPICH too. */
static enum launcher ask_version(const char *name)
{
	enum launcher launcher = LAUNCHER_AUTO;
	char command[PATH_MAX + 32];
	char line[256];
	FILE *answer;

	(void)snprintf(command, sizeof(command), "%s --version 2>/dev/null </dev/null", name);
	answer = popen(command, "re");
	if (!answer)
		return LAUNCHER_AUTO;
	while (fgets(line, sizeof(line), answer)) {
		if (launcher != LAUNCHER_AUTO)
			continue; /* to the end: the program must not meet a closed pipe */
		if (strstr(line, "Open MPI") || strstr(line, "OpenRTE") || strstr(line, "PRRTE"))
			launcher = LAUNCHER_OPENMPI;
		else if (strstr(line, "HYDRA") || strstr(line, "Intel(R) MPI"))
			launcher = LAUNCHER_MPICH;
	}
	(void)pclose(answer);
	return launcher;
}

static enum launcher find_launcher(void)
{
	static const char *const names[] = { "mpirun", "mpiexec" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (crit_child_find(names[i], path) == 0) {
			const enum launcher launcher = ask_version(names[i]);

			if (launcher != LAUNCHER_AUTO)
				return launcher;
		}
	return crit_child_find("srun", path) == 0 ? LAUNCHER_SLURM : LAUNCHER_AUTO;
}

/* Single quotes for a shell, unless the text is plain. */
static void print_quoted(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+./:,@%=";

	if (*text && !text[strspn(text, plain)]) {
		(void)fputs(text, stdout);
		return;
	}
	(void)putchar('\'');
	for (; *text; text++)
		(void)(*text == '\'' ? fputs("'\\''", stdout) : putchar(*text));
	(void)putchar('\'');
}

/* The settings that are made; PRINT gets each variable and its value. */
static void each_setting(void (*print)(const char *variable, const char *value))
{
	for (int i = 0; i < CRIT_SETTING_COUNT; i++) {
		const char *variable = crit_setting_row((enum crit_setting_name)i)->variable;
		const char *value = getenv(variable);

		if (value && i != CRIT_SETTING_HOME)
			print(variable, value);
	}
}

static void print_export(const char *variable, const char *value)
{
	printf("export %s=", variable);
	print_quoted(value);
	(void)putchar('\n');
}

/* Open MPI takes to other nodes what it is told to. */
static void print_forward(const char *variable, const char *value)
{
	(void)value;
	printf(" -x %s", variable);
}

static void print_options(enum launcher launcher, const char *preload)
{
	if (launcher == LAUNCHER_OPENMPI) {
		printf("-x LD_PRELOAD=%s", preload);
		each_setting(print_forward);
		(void)putchar('\n');
	} else if (launcher == LAUNCHER_MPICH) {
		printf("-genv LD_PRELOAD %s\n", preload);
	} else {
		printf("--export=ALL,LD_PRELOAD=%s\n", preload);
	}
}

/* The shim and what is preloaded already, separated by colons.  NULL: said why on stderr. */
static char *make_preload(void)
{
	const char *old = getenv("LD_PRELOAD");
	char path[PATH_MAX];
	char *both;

	if (crit_installation_library("libcrit_pmpi.so", path, sizeof(path))) {
		fprintf(stderr, "crit env: libcrit_pmpi.so is neither beside crit nor "
				"installed; reinstall crit\n");
		return NULL;
	}
	if (path[strcspn(path, " \t\n:,*?[")] != '\0') {
		fprintf(stderr,
			"crit env: cannot preload %s: a launcher or the linker would cut its "
			"path; install crit elsewhere\n",
			path);
		return NULL;
	}
	if (old && strstr(old, "libcrit_pmpi.so"))
		both = strdup(old);
	else if (asprintf(&both, "%s%s%s", path, old && *old ? ":" : "", old ? old : "") < 0)
		both = NULL;
	for (char *blank = both; blank && *blank; blank++)
		if (*blank == ' ')
			*blank = ':';
	return both;
}

int crit_command_env(int argc, char **argv)
{
	struct env_options options = { .launcher = LAUNCHER_AUTO };
	crit_autofree char *preload = NULL;
	int code = crit_syntax_read(&syntax, argc, argv, &options);

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (optind < argc)
		return crit_syntax_refuse(&syntax, "takes no argument:", argv[optind]);
	preload = make_preload();
	if (!preload)
		return CRIT_EXIT_FAILED;
	if (options.is_export) {
		print_export("LD_PRELOAD", preload);
		each_setting(print_export);
		return CRIT_EXIT_OK;
	}
	if (options.launcher == LAUNCHER_AUTO)
		options.launcher = find_launcher();
	if (options.launcher == LAUNCHER_AUTO) {
		fprintf(stderr, "crit env: cannot tell what launches ranks here: neither mpirun "
				"nor mpiexec nor srun is known; use --mpi=NAME or --export\n");
		return CRIT_EXIT_FAILED;
	}
	print_options(options.launcher, preload);
	return CRIT_EXIT_OK;
}
