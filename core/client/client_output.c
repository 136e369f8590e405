// SPDX-License-Identifier: BSD-3-Clause
// Makes the run's directory, its recording file and its finisher, for the first process of a run.
#include "core/client/client_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/base/hash.h"
#include "core/base/line.h"
#include "core/client/client_env.h"
#include "core/client/client_job.h"
#include "core/client/client_spawn.h"

#define SAME_NAME_MAX 100

struct output_path {
	char *bytes;
	size_t size;
	size_t length;
};

static void append(struct output_path *text, const char *piece)
{
	for (; *piece && text->length + 1 < text->size; piece++)
		text->bytes[text->length++] = *piece;
	text->bytes[text->length] = '\0';
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

/*
 * Appends what %<token> stands for with a scheduler: job, step, an array's own job and its
 * element; false when it stands for nothing.
 */
static bool append_job_token(struct output_path *out, char token)
{
	struct crit_job job;
	char *element;
	const char *word;

	(void)crit_client_job(&job); /* all is "" where there is none */
	element = strrchr(job.array, '_');
	if (element)
		*element++ = '\0';
	switch (token) {
	case 'A':
		word = element ? job.array : job.name;
		break;
	case 'a':
		word = element ? element : "";
		break;
	case 'j':
		word = job.name;
		break;
	case 's':
		word = job.step;
		break;
	default:
		return false;
	}
	append(out, *word ? word : "0");
	return true;
}

/* The same for all tokens. */
static bool append_token(struct output_path *out, char token,
			 const struct crit_client_output *output)
{
	size_t begin;
	char word[32];

	switch (token) {
	case 'e':
		begin = out->length;
		append(out, base_name(output->exe));
		crit_line_tame(out->bytes + begin, out->length - begin, false);
		return true;
	case 'h':
		append(out, output->host);
		return true;
	case 'd':
		utc_date(word);
		break;
	case 'k':
		(void)snprintf(word, sizeof(word), "%08x",
			       (unsigned int)(crit_hash_text(output->run_key) & 0xffffffff));
		break;
	case 'p':
		(void)snprintf(word, sizeof(word), "%d", (int)getpid());
		break;
	case '%':
		(void)snprintf(word, sizeof(word), "%%");
		break;
	default:
		return append_job_token(out, token);
	}
	append(out, word);
	return true;
}

/* Other letters behind a percent sign stay as they are. */
static void expand(const struct crit_client_output *output, struct output_path *out)
{
	for (const char *c = output->template; *c; c++) {
		const char plain[2] = { *c, '\0' };

		if (*c == '%' && append_token(out, c[1], output))
			c++;
		else
			append(out, plain);
	}
}

static int name_directory(const struct crit_client_output *output, char ret_path[CRIT_PATH_BYTES])
{
	struct output_path out = { .bytes = ret_path, .size = CRIT_PATH_BYTES };

	if (*output->template != '/') {
		if (!getcwd(ret_path, CRIT_PATH_BYTES))
			return -errno;
		out.length = strlen(ret_path);
		if (out.length > 1)
			append(&out, "/");
	}
	expand(output, &out);
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
	if (mkdir(path, 0777) == 0) /* who may read it is the user's choice, by umask */
		return 0;
	if (errno != EEXIST || lstat(path, &status) < 0)
		return -errno;
	/* in another user's directory the results would be theirs to replace */
	if (!S_ISDIR(status.st_mode))
		return -ENOTDIR;
	return status.st_uid == geteuid() ? 0 : -EPERM;
}

static int open_recording(const char *directory, const char *host, int *ret_fd)
{
	char path[CRIT_PATH_BYTES + CRIT_WORLD_BYTES + 8];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s.crit", directory, host);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

/*
 * A directory that already holds a recording of this node belongs to an older run: take the
 * next name.  A report may be of an earlier launch of this run, on other nodes.
 */
int crit_client_make_output(const struct crit_client_output *output,
			    char ret_directory[CRIT_PATH_BYTES], int *ret_fd, struct crit_err *err)
{
	size_t length;
	int error = name_directory(output, ret_directory);

	if (error < 0)
		return crit_err_set(err, error, "cannot name the run's directory: %s",
				    strerrordesc_np(-error));
	length = strlen(ret_directory);
	for (int number = 2; number <= SAME_NAME_MAX; number++) {
		error = make_directories(ret_directory);
		if (error == 0)
			error = open_recording(ret_directory, output->host, ret_fd);
		if (error != -EEXIST)
			break;
		(void)snprintf(ret_directory + length, 8, "-%d", number);
	}
	if (error < 0)
		return crit_err_set(err, error,
				    "cannot write the recording in %.180s: %s; set CRIT_DIR",
				    ret_directory, strerrordesc_np(-error));
	return 0;
}

int crit_client_start_finisher(const char *directory, int *ret_fd, struct crit_err *err)
{
	const char *arguments[] = { "crit",        "finish", "--directory", directory,
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
	close(pair[1]);
	*ret_fd = pair[0];
	/* without a finisher the recording is still worth having */
	return error == 0 ? 0
			  : crit_err_set(err, error,
					 "cannot start 'crit finish': %s; run 'crit report %.150s'",
					 strerrordesc_np(-error), directory);
}
