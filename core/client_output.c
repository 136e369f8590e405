// SPDX-License-Identifier: BSD-3-Clause
// Makes the run's directory, its recording file and its finisher, for the first process of a run.
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/cleanup.h"
#include "core/client_internal.h"

#define SAME_NAME_MAX 100

struct text {
	char *bytes;
	size_t size;
	size_t length;
};

static void append(struct text *text, const char *piece)
{
	for (; *piece && text->length + 1 < text->size; piece++)
		text->bytes[text->length++] = *piece;
	text->bytes[text->length] = '\0';
}

static const char *or_zero(const char *value)
{
	return value && *value && !strchr(value, '/') ? value : "0";
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void utc_date(char ret_date[32])
{
	const time_t now = time(NULL);
	struct tm parts;

	if (!gmtime_r(&now, &parts) || strftime(ret_date, 32, "%Y%m%dT%H%M%SZ", &parts) == 0)
		(void)crit_client_copy(ret_date, 32, "0");
}

/* %e executable, %j job, %s step, %h host, %d date, %% a percent sign; others stay. */
static void expand(const struct crit_client *client, const char *template, struct text *out)
{
	char date[32];
	char plain[3] = { 0 };

	utc_date(date);
	for (const char *c = template; *c; c++) {
		char token = *c == '%' ? c[1] : '\0';

		plain[0] = *c;
		plain[1] = '\0';
		if (token == 'e')
			append(out, base_name(client->exe));
		else if (token == 'j')
			append(out, or_zero(getenv("SLURM_JOB_ID")));
		else if (token == 's')
			append(out, or_zero(getenv("SLURM_STEP_ID")));
		else if (token == 'h')
			append(out, client->host);
		else if (token == 'd')
			append(out, date);
		else
			append(out, plain);
		c += token && strchr("ejshd%", token) != NULL;
	}
}

static int name_directory(const struct crit_client *client, const struct crit_client_env *env,
			  char ret_path[CRIT_PATH_BYTES])
{
	struct text out = { .bytes = ret_path, .size = CRIT_PATH_BYTES };
	char tail[48];
	char date[32];

	if (env->directory[0] != '/') {
		if (!getcwd(ret_path, CRIT_PATH_BYTES))
			return -errno;
		out.length = strlen(ret_path);
		if (out.length > 1)
			append(&out, "/");
	}
	if (env->directory[0]) {
		expand(client, env->directory, &out);
	} else {
		utc_date(date);
		(void)snprintf(tail, sizeof(tail), "-%s-%08x", date,
			       (unsigned int)(crit_client_hash(client->run_key) & 0xffffffff));
		append(&out, "crit-");
		append(&out, base_name(client->exe));
		append(&out, tail);
	}
	return out.length + 8 < out.size ? 0 : -ENAMETOOLONG; /* room for a number, see below */
}

static int make_directories(char *path)
{
	struct stat status;

	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST && errno != EACCES && errno != EROFS) {
			*slash = '/';
			return -errno;
		}
		*slash = '/';
	}
	if (mkdir(path, 0700) == 0) /* nobody else's business */
		return 0;
	if (errno != EEXIST || lstat(path, &status) < 0)
		return -errno;
	/* in another user's directory the results would be theirs to replace */
	return S_ISDIR(status.st_mode) && status.st_uid == geteuid() ? 0 : -EPERM;
}

static int open_recording(const char *directory, const char *host, int *ret_fd)
{
	char path[CRIT_PATH_BYTES + CRIT_WORLD_BYTES + 8];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s.crit", directory, host);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

/*
 * A directory that already holds a recording of this node belongs to an older run: take the
 * next name.
 */
int crit_client_make_output(struct crit_client *client, const struct crit_client_env *env,
			    int *ret_fd, struct crit_err *err)
{
	size_t length;
	int error = name_directory(client, env, client->directory);

	if (error < 0)
		return crit_err_set(err, error, "cannot name the run's directory: %s",
				    strerrordesc_np(-error));
	length = strlen(client->directory);
	for (int number = 2; number <= SAME_NAME_MAX; number++) {
		error = make_directories(client->directory);
		if (error == 0)
			error = open_recording(client->directory, client->host, ret_fd);
		if (error != -EEXIST)
			break;
		(void)snprintf(client->directory + length, 8, "-%d", number);
	}
	if (error < 0)
		return crit_err_set(err, error,
				    "cannot write the recording in %.180s: %s; set CRIT_DIR",
				    client->directory, strerrordesc_np(-error));
	return 0;
}

int crit_client_start_finisher(struct crit_client *client, int *ret_fd, struct crit_err *err)
{
	const char *arguments[] = { "crit",        "finish", "--directory", client->directory,
				    "--socket-fd", "3",      NULL };
	char program[CRIT_PATH_BYTES];
	int pair[2];
	int error;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return crit_err_set(err, -errno, "cannot make a socket pair: %s",
				    strerrordesc_np(errno));
	error = crit_client_find_program("crit", program, sizeof(program));
	if (error == 0)
		error = crit_client_spawn(&(struct crit_client_program){ .path = program,
									 .arguments = arguments,
									 .pass_fd = pair[1],
									 .error_fd = -1 });
	(void)close(pair[1]);
	*ret_fd = pair[0];
	/* without a finisher the recording is still worth having */
	return error == 0 ? 0
			  : crit_err_set(err, error,
					 "cannot start 'crit finish': %s; run 'crit report %.150s'",
					 strerrordesc_np(-error), client->directory);
}
