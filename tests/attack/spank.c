// SPDX-License-Identifier: BSD-3-Clause
// The plug-in for Slurm runs a prolog that hangs, fails, ends well, or looks at what it inherits.
// This program stands in for slurmstepd: it has the functions that the plug-in calls.
#include <signal.h>
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/check.h"

static struct spank_option *offered;
static char said[512];
static int said_count;
static char prolog_path[64];

spank_context_t spank_context(void)
{
	return S_CTX_REMOTE;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	(void)spank;
	offered = option;
	return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	va_list arguments;

	(void)spank;
	va_start(arguments, item);
	if (item == S_JOB_ID)
		*va_arg(arguments, uint32_t *) = 4711;
	else
		*va_arg(arguments, unsigned int *) = 1000; /* uid_t and gid_t */
	va_end(arguments);
	return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *value, int size)
{
	(void)spank;
	(void)name;
	(void)value;
	(void)size;
	return ESPANK_ENV_NOEXIST;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	(void)spank;
	(void)name;
	(void)value;
	(void)overwrite;
	return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_setenv(spank_t spank, const char *name, const char *value,
				     int overwrite)
{
	return spank_setenv(spank, name, value, overwrite);
}

void slurm_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(said, sizeof(said), format, arguments);
	va_end(arguments);
	said_count++;
}

/* Runs the callback with a prolog of this script; true: the step goes on. */
static bool goes_on(const char *script, char *limit)
{
	char prolog[80];
	char *arguments[] = { prolog, limit };
	int rc;
	int fd;

	(void)snprintf(prolog_path, sizeof(prolog_path), "/tmp/crit-spank-XXXXXX");
	fd = mkstemp(prolog_path);
	CHECK(write(fd, script, strlen(script)) == (ssize_t)strlen(script));
	(void)fchmod(fd, 0700);
	close(fd);
	(void)snprintf(prolog, sizeof(prolog), "prolog=%s", prolog_path);
	said_count = 0;
	said[0] = '\0';
	rc = slurm_spank_init_post_opt(NULL, limit ? 2 : 1, arguments);
	(void)unlink(prolog_path);
	return rc == 0;
}

static void check_hanging(void)
{
	char limit[] = "prolog_s=1";
	char pid[32] = "";
	char pid_path[80];
	FILE *file;

	/* what the prolog started ends with it */
	CHECK(goes_on("#!/bin/sh\nsleep 300 &\necho $! >$0.pid\nwait\n", limit));
	CHECK_INT_EQ(said_count, 1);
	CHECK(strstr(said, "did not end within 1 s and was killed: no collector") != NULL);
	(void)snprintf(pid_path, sizeof(pid_path), "%s.pid", prolog_path);
	file = fopen(pid_path, "r");
	CHECK(file && fgets(pid, sizeof(pid), file));
	if (file)
		(void)fclose(file);
	(void)unlink(pid_path);
	for (int i = 0; i < 500 && kill((pid_t)strtol(pid, NULL, 10), 0) == 0; i++)
		(void)nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	CHECK_INT_EQ(kill((pid_t)strtol(pid, NULL, 10), 0), -1);
}

int main(void)
{
	char nonsense[] = "prolog_s=soon";
	int inherited;

	CHECK_INT_EQ(slurm_spank_init(NULL, 0, NULL), 0);
	if (!CHECK(offered != NULL))
		return check_done();
	CHECK_INT_EQ(offered->cb(offered->val, NULL, 1), 0);
	CHECK(goes_on("#!/bin/sh\n[ \"$SLURM_JOB_ID.$SPANK_CRIT\" = 4711.1 ]\n", NULL));
	CHECK_INT_EQ(said_count, 0);
	CHECK(goes_on("#!/bin/sh\nexit 1\n", NULL));
	CHECK_INT_EQ(said_count, 1);
	CHECK(strstr(said, "cannot run /tmp/crit-spank-") != NULL);
	CHECK(goes_on("#!/bin/sh\nexit 0\n", nonsense));
	CHECK_INT_EQ(said_count, 1);
	CHECK(strstr(said, "prolog_s=soon is no number") != NULL);
	inherited = dup2(2, 50);
	CHECK(goes_on("#!/bin/sh\n[ ! -e /proc/self/fd/50 ]\n", NULL));
	CHECK_INT_EQ(said_count, 0);
	close(inherited);
	check_hanging();
	return check_done();
}
