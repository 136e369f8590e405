// SPDX-License-Identifier: BSD-3-Clause
// crit run: starts a program under crit, passes signals and exit status on, shows the report.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/launch/attach.h"
#include "cli/launch/child.h"
#include "cli/command.h"
#include "cli/launch/run_end.h"
#include "cli/install/installation.h"
#include "cli/console/syntax.h"
#include "report/tables/words.h"
#include "core/abi/abi_shim.h"
#include "core/base/cleanup.h"
#include "core/client/client.h"
#include "core/client/client_key.h"
#include "core/base/setting.h"

#define STATUS_NOT_FOUND 127
#define STATUS_NOT_EXECUTABLE 126

struct run_options {
	struct crit_client_env env;
	bool has_shim;
	bool is_quiet; /* the user's CRIT_QUIET: errors of the command alone are told */
	bool is_rank; /* a launcher has started this and others like it: they are one run */
	char libomp[PATH_MAX]; /* preloaded over the program's own OpenMP runtime; "" not */
	pid_t attach_pid; /* 0: start a program */
	char **program; /* argv */
};

enum {
	OPTION_LEVEL = 256,
	OPTION_NO_SHIM,
	OPTION_OMP,
	OPTION_NO_OTF2
};

static const char usage[] =
	"usage: crit run [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
	"       crit run [OPTION...] -p PID\n"
	"  -o, --output=DIR     directory of the run; %e program, %h host, %d date, %j job\n"
	"  -l, --level=LEVEL    trace (all spans) or profile (less to record)\n"
	"  -a, --active=RULE    default, kernel (GAPP's own) or poll-active\n"
	"  -p, --pid=PID        record a running process until it ends or Ctrl-C\n"
	"      --omp=llvm       let LLVM's OpenMP runtime stand in for GNU's, which tells less\n"
	"      --no-shim        do not preload the MPI shim\n"
	"      --no-otf2        make no OTF2 archive after the report\n"
	"  -h, --help           this text\n"
	"The exit status is the program's.\n";

static int take_option(int option, void *user);

static const struct option option_names[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "level", required_argument, NULL, 'l' },
	{ "active", required_argument, NULL, 'a' },
	{ "pid", required_argument, NULL, 'p' },
	{ "omp", required_argument, NULL, OPTION_OMP },
	{ "no-shim", no_argument, NULL, OPTION_NO_SHIM },
	{ "no-otf2", no_argument, NULL, OPTION_NO_OTF2 },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const struct crit_syntax syntax = {
	.command = "crit run",
	.letters = "+o:l:a:p:h",
	.names = option_names,
	.usage = usage,
	.take = take_option,
};

static int parse_level(struct run_options *options)
{
	if (strcmp(optarg, "trace") && strcmp(optarg, "profile"))
		return crit_syntax_refuse(&syntax, "no level named", optarg);
	options->env.level = *optarg == 't' ? CRIT_LEVEL_TRACE : CRIT_LEVEL_PROFILE;
	(void)setenv("CRIT_LEVEL", optarg, 1);
	return CRIT_SYNTAX_GO_ON;
}

static int parse_active(void)
{
	enum crit_active_rule rule;

	if (crit_rule_parse(optarg, &rule))
		return crit_syntax_refuse(&syntax, "no activity rule named", optarg);
	(void)setenv("CRIT_ACTIVE", optarg, 1); /* the finisher reads it */
	return CRIT_SYNTAX_GO_ON;
}

static int parse_pid(struct run_options *options)
{
	char *end;
	long pid = strtol(optarg, &end, 10);

	if (*end || pid < 1 || pid > INT_MAX)
		return crit_syntax_refuse(&syntax, "no process number:", optarg);
	options->attach_pid = (pid_t)pid;
	return CRIT_SYNTAX_GO_ON;
}

static int parse_omp(struct run_options *options)
{
	if (strcmp(optarg, "llvm") != 0)
		return crit_syntax_refuse(&syntax, "no OpenMP runtime named", optarg);
	if (crit_installation_libomp(options->libomp, sizeof(options->libomp)) == 0)
		return CRIT_SYNTAX_GO_ON;
	fprintf(stderr, "crit run: there is no libomp.so.5 to let stand in for GNU's "
			"libgomp; install LLVM's OpenMP runtime (Debian: libomp5)\n");
	return CRIT_EXIT_FAILED;
}

static int take_option(int option, void *user)
{
	struct run_options *options = user;

	switch (option) {
	case 'o':
		if (!*optarg)
			return crit_syntax_refuse(&syntax, "needs the name of a directory:", "-o");
		if (!crit_client_copy(options->env.directory, sizeof(options->env.directory),
				      optarg))
			return crit_syntax_refuse(&syntax,
						  "name of the directory is too long:", optarg);
		(void)setenv("CRIT_DIR", optarg, 1);
		return CRIT_SYNTAX_GO_ON;
	case 'l':
		return parse_level(options);
	case 'a':
		return parse_active();
	case 'p':
		return parse_pid(options);
	case OPTION_OMP:
		return parse_omp(options);
	case OPTION_NO_OTF2:
		(void)setenv("CRIT_OTF2", "0", 1); /* the finisher reads it */
		return CRIT_SYNTAX_GO_ON;
	default: /* OPTION_NO_SHIM */
		options->has_shim = false;
		return CRIT_SYNTAX_GO_ON;
	}
}

static int parse(int argc, char **argv, struct run_options *options)
{
	int code = crit_syntax_read(&syntax, argc, argv, options);

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	options->program = argv + optind;
	if (!*options->program && !options->attach_pid)
		return crit_syntax_refuse(&syntax, "no program", "given");
	if (*options->program && options->attach_pid)
		return crit_syntax_refuse(&syntax,
					  "a process and a program at once:", *options->program);
	return CRIT_SYNTAX_GO_ON;
}

/* Has a launcher of MPI started this, and others with it? */
static bool is_rank(void)
{
	static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
					     "SLURM_STEP_NUM_TASKS" };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const char *text = getenv(sizes[i]);

		if (text && strtol(text, NULL, 10) > 1)
			return true;
	}
	return false;
}

/* A key of its own, so that nested and neighbouring runs never mix. */
static void make_run_key(struct run_options *options)
{
	uint64_t start_ticks = 0;

	(void)crit_client_process_stat(getpid(), NULL, NULL, &start_ticks); /* 0 is unique enough */
	(void)snprintf(options->env.run, sizeof(options->env.run), "run-%d-%llu", (int)getpid(),
		       (unsigned long long)start_ticks);
	(void)setenv("CRIT_RUN", options->env.run, 1);
}

static int open_client(struct crit_client *client, const struct run_options *options,
		       const char *exe)
{
	const struct crit_client_options client_options = {
		.role = CRIT_ROLE_RUNNER,
		.env = &options->env,
		.exe = exe,
	};
	struct crit_err err = { { 0 } };
	int rc = crit_client_open(client, &client_options, &err);

	if (rc && (!options->is_quiet || options->attach_pid))
		crit_child_say_unrecorded(rc, &err);
	return rc;
}

/* Sets a variable to two lists, separated by a colon; either may be empty, or NULL. */
static void set_lists(const char *name, const char *first, const char *second)
{
	crit_autofree char *both = NULL;

	if (asprintf(&both, "%s%s%s", first ? first : "",
		     first && *first && second && *second ? ":" : "", second ? second : "") < 0) {
		both = NULL;
		return;
	}
	(void)setenv(name, both, 1);
}

/*
 * Before what is preloaded already.  Programs built by GCC with its address sanitizer refuse to run
 * where anything comes before that, for it might replace what they replace; the shims do not.
 */
static void preload(const char *path)
{
	set_lists("LD_PRELOAD", path, getenv("LD_PRELOAD"));
	set_lists("ASAN_OPTIONS", getenv("ASAN_OPTIONS"), "verify_asan_link_order=0");
}

static void set_preload(const struct run_options *options)
{
	char path[PATH_MAX];

	if (crit_installation_library("libcrit_pmpi.so", path, sizeof(path)) ||
	    strpbrk(path, " :")) {
		if (!options->is_quiet)
			fprintf(stderr,
				"crit run: no MPI calls are recorded: libcrit_pmpi.so is not "
				"beside crit, or its path has a blank or colon; reinstall crit\n");
		return;
	}
	preload(path);
}

/* The finisher's results go to this directory, whatever its name is at the end. */
static int open_directory(const struct crit_client *client)
{
	return client->is_first ? open(client->directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC) : -1;
}

static void tell_end(const struct crit_client *client, const struct run_options *options,
		     int directory_fd)
{
	const struct crit_run_end end = { .directory = client->directory,
					  .directory_fd = directory_fd,
					  .finish_ms = options->env.has_finish_s
							       ? (int)options->env.finish_s * 1000
							       : CRIT_END_BY_SIZE,
					  .is_quiet = options->is_quiet };

	if (client->is_first)
		crit_run_end_print(&end);
}

/* What no report can show. */
static void tell_unseen(const struct crit_child *child)
{
	const char *name;
	enum crit_linkage linkage = child->is_recorded && child->has_shim && !child->is_quiet
					    ? crit_child_linkage(child->program, &name)
					    : CRIT_LINKAGE_OPEN;

	if (linkage != CRIT_LINKAGE_OPEN)
		fprintf(stderr,
			"crit: %s %s: libcrit_pmpi.so cannot be loaded into it, so its MPI "
			"and OpenMP calls are not seen%s; %s\n",
			name, crit_linkage_text(linkage),
			crit_linkage_is_privileged(linkage) && geteuid() != 0
				? ", nor anything else of it, as only root may observe such a "
				  "program"
				: "",
			crit_linkage_fix(linkage));
}

static int run_program(struct run_options *options)
{
	struct crit_client client = { .fd = -1 };
	struct crit_child child = { .program = options->program,
				    .env = &options->env,
				    .is_quiet = options->is_quiet };
	crit_autoclose int directory_fd = -1;
	char exe[PATH_MAX];
	int rc = crit_child_find(options->program[0], exe);
	int wait_status;

	if (rc) {
		fprintf(stderr, "crit run: cannot run %s: %s\n", options->program[0],
			strerror(-rc));
		return rc == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
	}
	child.exe = exe;
	if (!options->env.is_disabled) {
		if (!options->is_rank)
			make_run_key(options);
		if (!options->is_quiet && !options->is_rank) /* one line: ours */
			(void)setenv("CRIT_QUIET", CRIT_QUIET_IN_RUN, 1);
		child.is_recorded = open_client(&client, options, exe) == 0;
		if (!child.is_recorded && !options->is_quiet && !options->is_rank)
			(void)unsetenv("CRIT_QUIET");
	}
	if (child.is_recorded) {
		directory_fd = open_directory(&client);
		(void)crit_client_copy(options->env.socket, sizeof(options->env.socket),
				       client.socket_path);
		(void)setenv("CRIT_SOCKET", client.socket_path, 1);
		if (options->has_shim)
			set_preload(options);
	}
	child.has_shim = options->has_shim;
	if (options->libomp[0])
		preload(options->libomp); /* first: it is the runtime, recorded or not */
	rc = crit_child_run(&child, &wait_status);
	crit_client_fini(&client);
	tell_unseen(&child);
	if (child.is_recorded && !options->is_rank) /* else rank 0 does, as without crit run */
		tell_end(&client, options, directory_fd);
	if (rc) {
		fprintf(stderr, "crit run: cannot run %s: %s\n", exe, strerror(-rc));
		return rc == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
	}
	return crit_child_end_like(wait_status);
}

static int cannot_attach(const struct run_options *options, const struct crit_err *err)
{
	fprintf(stderr, "crit run: cannot record process %d: %s\n", (int)options->attach_pid,
		err->text);
	return CRIT_EXIT_FAILED;
}

/* Says how many there are below it, if any. */
static void attach_children(struct crit_client *client, const struct run_options *options)
{
	struct crit_attached attached;
	int rc = crit_attach_children(client, options->attach_pid, &attached);

	if (rc)
		fprintf(stderr, "crit run: cannot find the processes below %d: %s\n",
			(int)options->attach_pid, strerror(-rc));
	if (options->is_quiet)
		return;
	if (attached.left_out_count > 0)
		fprintf(stderr,
			"crit run: processes below %d that are not recorded, as they belong to "
			"other users or may not be read: %u\n",
			(int)options->attach_pid, attached.left_out_count);
	if (attached.rank_count > 0)
		fprintf(stderr,
			"crit run: ranks below process %d: %u; they started without crit, so their "
			"MPI calls are not seen\n",
			(int)options->attach_pid, attached.rank_count);
}

static int attach(struct run_options *options)
{
	struct crit_client client = { .fd = -1 };
	struct crit_err err = { { 0 } };
	char link[64];
	char exe[PATH_MAX];
	ssize_t length;
	int rc;
	crit_autoclose int pidfd = crit_child_pidfd(options->attach_pid);
	crit_autoclose int directory_fd = -1;

	rc = pidfd < 0 ? crit_err_set(&err, pidfd, "%s", strerror(-pidfd))
		       : crit_attach_check(options->attach_pid, &err);
	if (rc)
		return cannot_attach(options, &err);
	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)options->attach_pid);
	length = readlink(link, exe, sizeof(exe) - 1);
	exe[length > 0 ? length : 0] = '\0';
	make_run_key(options);
	rc = open_client(&client, options, exe[0] ? exe : "process");
	if (rc)
		return CRIT_EXIT_FAILED;
	directory_fd = open_directory(&client);
	rc = crit_attach(&client, pidfd, &err);
	if (rc)
		return cannot_attach(options, &err);
	attach_children(&client, options);
	crit_child_watch(pidfd);
	crit_client_fini(&client);
	tell_end(&client, options, directory_fd);
	return CRIT_EXIT_OK;
}

static bool is_quiet(void)
{
	const char *quiet = crit_setting_text(CRIT_SETTING_QUIET, NULL);

	return strcmp(quiet, "0") != 0 && strcmp(quiet, CRIT_QUIET_IN_RUN) != 0;
}

/* What is recorded by this command is no part of a run that it is in, but what it starts is. */
static void tell_begin(const struct crit_client_env *env)
{
	if (env->is_in_run)
		fprintf(stderr,
			"crit run: this is inside another crit run, whose report leaves out "
			"the program and counts crit's own processes here; use one of the "
			"two, or set CRIT_DISABLE=1 for this one\n");
	else
		crit_command_tell_ignored("run");
}

int crit_command_run(int argc, char **argv)
{
	struct run_options options = { .has_shim = true,
				       .is_quiet = is_quiet(),
				       .is_rank = is_rank() };
	int code;

	crit_client_env_read(&options.env);
	code = parse(argc, argv, &options);
	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (!options.is_quiet && !options.is_rank && !options.env.is_disabled)
		tell_begin(&options.env);
	return options.attach_pid ? attach(&options) : run_program(&options);
}
