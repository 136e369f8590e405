// SPDX-License-Identifier: BSD-3-Clause
// The settings: what holds when they are set to sense and nonsense; which programs and calls they
// choose; what they name the run's directory.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/abi/abi_shim.h"
#include "core/base/call.h"
#include "core/base/hash.h"
#include "core/client/client_env.h"
#include "core/client/client_output.h"
#include "core/base/setting.h"
#include "tests/lib/check.h"

static void clear(void)
{
	for (int i = 0; i < CRIT_SETTING_COUNT; i++)
		(void)unsetenv(crit_setting_row((enum crit_setting_name)i)->variable);
}

static void check_source(enum crit_setting_name name, const char *value,
			 enum crit_setting_source expected)
{
	const struct crit_setting *row = crit_setting_row(name);
	enum crit_setting_source source;
	const char *text;

	CHECK_CASE("%s=%.40s", row->variable, value);
	(void)setenv(row->variable, value, 1);
	errno = E2BIG;
	text = crit_setting_text(name, &source);
	CHECK_INT_EQ(errno, E2BIG);
	CHECK_INT_EQ(source, expected);
	CHECK_STR_EQ(text, expected == CRIT_FROM_ENVIRONMENT ? value : row->otherwise);
	(void)unsetenv(row->variable);
}

/* Every row, unset, holds its default, which makes sense by the row's own rules. */
static void check_defaults(void)
{
	for (int i = 0; i < CRIT_SETTING_COUNT; i++) {
		const struct crit_setting *row = crit_setting_row((enum crit_setting_name)i);
		enum crit_setting_source source;

		CHECK_CASE("%s", row->variable);
		CHECK_STR_EQ(crit_setting_text((enum crit_setting_name)i, &source), row->otherwise);
		CHECK_INT_EQ(source, CRIT_FROM_DEFAULT);
		CHECK(strncmp(row->variable, "CRIT_", 5) == 0);
		CHECK(i == 0 || strcmp(row[-1].variable, row->variable) < 0);
		if (*row->otherwise)
			check_source((enum crit_setting_name)i, row->otherwise,
				     CRIT_FROM_ENVIRONMENT);
	}
}

static void check_values(void)
{
	static const struct {
		enum crit_setting_name name;
		const char *value;
		enum crit_setting_source source;
	} cases[] = {
		{ CRIT_SETTING_LEVEL, "profile", CRIT_FROM_ENVIRONMENT },
		{ CRIT_SETTING_LEVEL, "prof", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_LEVEL, "trace profile", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_LEVEL, " ", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_LEVEL, "", CRIT_FROM_DEFAULT },
		{ CRIT_SETTING_ACTIVE, "kernel", CRIT_FROM_ENVIRONMENT },
		{ CRIT_SETTING_ACTIVE, "poll", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_OTF2, "no", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_SAMPLE, "0", CRIT_FROM_ENVIRONMENT },
		{ CRIT_SETTING_FINISH_S, "3600", CRIT_FROM_ENVIRONMENT },
		{ CRIT_SETTING_FINISH_S, "3601", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_FINISH_S, "-1", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_FINISH_S, "1s", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_MAX_BYTES, "1M", CRIT_FROM_ENVIRONMENT },
		{ CRIT_SETTING_MAX_BYTES, "1k", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_MAX_BYTES, "99999999999999999999", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_MAX_BYTES, "17179869184G", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_MAX_BYTES, "2GG", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_DISABLE, "yes", CRIT_FROM_ENVIRONMENT },
		{ CRIT_SETTING_CALLS, "-rma", CRIT_FROM_ENVIRONMENT },
		{ CRIT_SETTING_CALLS, "-rmb", CRIT_FROM_NONSENSE },
		{ CRIT_SETTING_CALLS, "rma,", CRIT_FROM_NONSENSE },
	};
	char longest[1026];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_source(cases[i].name, cases[i].value, cases[i].source);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 2] = '\0';
	check_source(CRIT_SETTING_DIR, longest, CRIT_FROM_NONSENSE);
	check_source(CRIT_SETTING_DIR, longest + 1, CRIT_FROM_ENVIRONMENT);
}

/* Texts of the greatest length fit whole into what a client reads them into. */
static void check_client(void)
{
	struct crit_client_env env;
	char text[1024];

	CHECK_CASE("defaults of a client");
	crit_client_env_read(&env);
	CHECK(!env.is_disabled);
	CHECK_INT_EQ(env.level, CRIT_LEVEL_TRACE);
	CHECK_INT_EQ(env.finish_s, 10);
	CHECK(!env.has_finish_s);
	CHECK(!env.is_in_run);
	CHECK_INT_EQ(env.poll_gap_ns, 2000);
	CHECK_UINT_EQ(env.max_bytes, 2ull << 30);
	CHECK_INT_EQ(env.groups_off, 0);
	CHECK_STR_EQ(env.directory, "crit-%e-%d-%k");
	CHECK_STR_EQ(env.ignored, "");
	CHECK_CASE("fields of a client");
	CHECK_INT_EQ(crit_setting_row(CRIT_SETTING_DIR)->most + 1, sizeof(env.directory));
	CHECK_INT_EQ(crit_setting_row(CRIT_SETTING_RUN)->most + 1, sizeof(env.run));
	CHECK_INT_EQ(crit_setting_row(CRIT_SETTING_SOCKET)->most + 1, sizeof(env.socket));
	memset(text, 'x', sizeof(text));
	text[crit_setting_row(CRIT_SETTING_RUN)->most] = '\0';
	(void)setenv("CRIT_RUN", text, 1);
	(void)setenv("CRIT_DISABLE", "1", 1);
	(void)setenv("CRIT_MAX_BYTES", "3m", 1);
	(void)setenv("CRIT_LEVEL", "profile", 1);
	(void)setenv("CRIT_CALLS", "-io,-group", 1);
	crit_client_env_read(&env);
	CHECK_STR_EQ(env.run, text);
	CHECK(env.is_disabled);
	CHECK_UINT_EQ(env.max_bytes, 3ull << 20);
	CHECK_INT_EQ(env.level, CRIT_LEVEL_PROFILE);
	CHECK_INT_EQ(env.groups_off, 1u << CRIT_GROUP_IO | 1u << CRIT_GROUP_GROUP);
	clear();
}

/* What a user is told of a value that is ignored. */
static void check_explanations(void)
{
	static const struct {
		enum crit_setting_name name;
		const char *value;
		const char *text; /* NULL: none, as it makes sense */
	} cases[] = {
		{ CRIT_SETTING_LEVEL, "profile", NULL },
		{ CRIT_SETTING_LEVEL, "", NULL },
		{ CRIT_SETTING_QUIET, "banana", NULL },
		{ CRIT_SETTING_LEVEL, "ban\nana",
		  "CRIT_LEVEL=ban?ana is ignored, as it is not one of: trace profile; "
		  "the default trace holds" },
		{ CRIT_SETTING_SAMPLE_HZ, "0",
		  "CRIT_SAMPLE_HZ=0 is ignored, as it is no number from 1 to 9999; "
		  "the default 199 holds" },
		{ CRIT_SETTING_CALLS, "mpi",
		  "CRIT_CALLS=mpi is ignored, as it is no list of: all environment "
		  "point_to_point request collective rma io communicator datatype group other; "
		  "the default all holds" },
	};
	struct crit_client_env env;
	char text[512];
	char longest[130];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *variable = crit_setting_row(cases[i].name)->variable;

		CHECK_CASE("explained: %s=%s", variable, cases[i].value);
		(void)setenv(variable, cases[i].value, 1);
		(void)snprintf(text, sizeof(text), "untouched");
		CHECK(crit_setting_explain(cases[i].name, text, sizeof(text)) == !!cases[i].text);
		CHECK_STR_EQ(text, cases[i].text ? cases[i].text : "untouched");
		clear();
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	(void)setenv("CRIT_RUN", longest, 1);
	CHECK(crit_setting_explain(CRIT_SETTING_RUN, text, sizeof(text)));
	CHECK(strstr(text, "xxx is ignored, as it is longer than 127 bytes; the default holds"));
	crit_client_env_read(&env);
	CHECK_STR_EQ(env.ignored, text);
	(void)setenv("CRIT_OTF2", "no", 1);
	crit_client_env_read(&env);
	CHECK_STR_EQ(env.ignored, "CRIT_OTF2=no is ignored, as it is not one of: 0 1; "
				  "the default 1 holds; 1 more: see 'crit config'");
	clear();
}

static void check_groups(void)
{
	const uint32_t all = (1u << CRIT_GROUP_COUNT) - 2;
	const uint32_t rma = 1u << CRIT_GROUP_RMA, io = 1u << CRIT_GROUP_IO;
	const struct {
		const char *list;
		int rc;
		uint32_t off;
	} cases[] = {
		{ "all", 0, 0 },
		{ "-all", 0, all },
		{ "rma", 0, all & ~rma },
		{ "rma,io", 0, all & ~rma & ~io },
		{ "-rma", 0, rma },
		{ "-rma,-io", 0, rma | io },
		{ "-rma,rma", 0, 0 },
		{ "all,-rma", 0, rma },
		{ "-all,io", 0, all & ~io },
		{ "", -EINVAL, 0 },
		{ ",", -EINVAL, 0 },
		{ "rma,,io", -EINVAL, 0 },
		{ "none", -EINVAL, 0 },
		{ "RMA", -EINVAL, 0 },
		{ "--rma", -EINVAL, 0 },
		{ "rma io", -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t off = 0;

		CHECK_CASE("groups '%s'", cases[i].list);
		CHECK_INT_EQ(crit_groups_parse(cases[i].list, &off), cases[i].rc);
		CHECK_INT_EQ(off, cases[i].off);
	}
	CHECK_CASE("groups that may wait");
	for (int group = 1; group < CRIT_GROUP_COUNT; group++)
		CHECK_MSG(crit_group_may_wait((enum crit_call_group)group) ==
				  (group != CRIT_GROUP_ENVIRONMENT &&
				   group != CRIT_GROUP_DATATYPE && group != CRIT_GROUP_GROUP &&
				   group != CRIT_GROUP_OTHER),
			  "%s", crit_group_name((enum crit_call_group)group));
}

static void check_programs(void)
{
	static const struct {
		const char *include, *exclude;
		const char *path;
		bool is_chosen;
	} cases[] = {
		{ "", "", "/bin/bash", true },
		{ "", "bash", "/bin/bash", false },
		{ "", "bas", "/bin/bash", true },
		{ "", "ba*", "/bin/bash", false },
		{ "", "*", "/bin/bash", false },
		{ "", "python3*,bash", "/bin/bash", false },
		{ "", "bash,python3*", "/bin/bash", false },
		{ "", ",,", "/bin/bash", true },
		{ "", "/bin/*", "/bin/bash", false },
		{ "", "/bin/*", "/bin/deep/bash", false },
		{ "", "/bin/*", "/usr/bin/bash", true },
		{ "", "*/bin/*", "/usr/bin/bash", false },
		{ "", "[bc]ash", "/bin/bash", false },
		{ "", "bin", "/bin/bash", true },
		{ "solver", "", "/bin/bash", false },
		{ "solver", "", "/opt/solver", true },
		{ "sol?er,other", "", "/opt/solver", true },
		{ "/opt/*", "", "/opt/solver", true },
		{ "/opt/*", "solver", "/opt/solver", false },
		{ "/opt/*", "solver", "/opt/solver2", true },
		{ "solver", "", "", false },
		{ "", "solver", "", true },
		{ "\\*", "", "/opt/*", true },
		{ "\\*", "", "/opt/a", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_CASE("include '%s' exclude '%s' of %s", cases[i].include, cases[i].exclude,
			   cases[i].path);
		(void)setenv("CRIT_INCLUDE", cases[i].include, 1);
		(void)setenv("CRIT_EXCLUDE", cases[i].exclude, 1);
		CHECK_INT_EQ(crit_client_is_chosen(cases[i].path), cases[i].is_chosen);
		CHECK_INT_EQ(crit_client_has_choice(), *cases[i].include || *cases[i].exclude);
	}
	clear();
}

/* The directory that is made for a template, below scratch; "" when none is made. */
static void make(const char *scratch, const char *template, const char *expected)
{
	const struct crit_client_output output = {
		.template = template, .exe = "/opt/bin/solver", .host = "node1", .run_key = "key"
	};
	char directory[CRIT_PATH_BYTES];
	char path[2 * CRIT_PATH_BYTES];
	int fd = -1;

	CHECK_CASE("directory %s", template);
	CHECK_INT_EQ(crit_client_make_output(&output, directory, &fd, NULL), 0);
	close(fd);
	(void)snprintf(path, sizeof(path), "%s/%s", scratch, expected);
	CHECK_STR_EQ(directory, path);
	(void)snprintf(path, sizeof(path), "%s/node1.crit", directory);
	CHECK_INT_EQ(unlink(path), 0);
	CHECK_INT_EQ(rmdir(directory), 0);
}

static void check_tokens(void)
{
	char scratch[] = "/tmp/crit-settings-XXXXXX";
	char here[CRIT_PATH_BYTES];
	char pid[32], key[32];

	CHECK(mkdtemp(scratch) && chdir(scratch) == 0 && getcwd(here, sizeof(here)));
	(void)snprintf(pid, sizeof(pid), "p-%d", (int)getpid());
	(void)snprintf(key, sizeof(key), "k-%08x", (unsigned int)crit_hash_text("key"));
	(void)unsetenv("SLURM_JOB_ID");
	(void)unsetenv("SLURM_STEP_ID");
	(void)unsetenv("LSB_JOBID");
	(void)setenv("FLUX_JOB_ID", "ab", 1);
	(void)setenv("PBS_JOBID", "17.server", 1);
	make(here, "e-%e", "e-solver");
	make(here, "h-%h", "h-node1");
	make(here, "p-%p", pid);
	make(here, "k-%k", key);
	make(here, "j-%j", "j-17.server");
	(void)setenv("PBS_JOBID", "a/b", 1); /* would be another directory */
	make(here, "j-%j", "j-ab");
	(void)setenv("SLURM_JOB_ID", "42", 1);
	make(here, "j-%j.%s", "j-42.0");
	(void)setenv("SLURM_STEP_ID", "3", 1);
	make(here, "j-%j.%s", "j-42.3");
	make(here, "a-%A_%a", "a-42_0"); /* no element of an array */
	(void)setenv("SLURM_ARRAY_JOB_ID", "40", 1);
	(void)setenv("SLURM_ARRAY_TASK_ID", "7", 1);
	make(here, "a-%A_%a-%j", "a-40_7-42");
	make(here, "100%%-%%e-%r-%", "100%-%e-%r-%");
	CHECK_INT_EQ(mkdir("kept", 0700), 0);
	CHECK_INT_EQ(close(open("kept/node1.crit", O_CREAT | O_WRONLY, 0600)), 0);
	make(here, "kept", "kept-2");
	CHECK_INT_EQ(unlink("kept/node1.crit"), 0);
	CHECK_INT_EQ(rmdir("kept"), 0);
	CHECK_INT_EQ(chdir("/"), 0);
	CHECK_INT_EQ(rmdir(here), 0);
}

/* %d in a directory of its own, since it may change between two looks. */
static void check_date(void)
{
	const struct crit_client_output output = {
		.template = "/tmp/crit-settings-%p/%d", .exe = "e", .host = "node1", .run_key = ""
	};
	char directory[CRIT_PATH_BYTES];
	const char *date;
	int fd = -1;

	CHECK_CASE("date");
	CHECK_INT_EQ(crit_client_make_output(&output, directory, &fd, NULL), 0);
	close(fd);
	date = strrchr(directory, '/') + 1;
	CHECK_INT_EQ(strlen(date), 16);
	CHECK(date[8] == 'T' && date[15] == 'Z' && strspn(date, "0123456789") == 8);
	CHECK_INT_EQ(chdir(directory), 0);
	CHECK_INT_EQ(unlink("node1.crit"), 0);
	CHECK_INT_EQ(chdir(".."), 0);
	CHECK_INT_EQ(rmdir(date), 0);
	*strrchr(directory, '/') = '\0';
	CHECK_INT_EQ(chdir("/"), 0);
	CHECK_INT_EQ(rmdir(directory), 0);
}

int main(void)
{
	clear();
	check_defaults();
	check_values();
	check_client();
	check_explanations();
	check_groups();
	check_programs();
	check_tokens();
	check_date();
	return check_done();
}
