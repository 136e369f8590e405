// SPDX-License-Identifier: BSD-3-Clause
// crit gather: copies recordings that stayed on their nodes to the run, and makes the report anew.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/model/hosts.h"
#include "analysis/recording/recording.h"
#include "cli/command.h"
#include "cli/results/recording_set.h"
#include "cli/console/syntax.h"
#include "core/base/cleanup.h"
#include "core/base/line.h"
#include "core/base/regular.h"

struct home {
	char *directory;
	struct crit_hosts hosts; /* the run's */
	struct crit_hosts worlds; /* of its ranks */
	char run_key[CRIT_RUN_KEY_BYTES];
};

static const char usage[] = "usage: crit gather DIRECTORY RECORDING|DIRECTORY...\n";

static int refuse(const char *path, const char *why, const char *next)
{
	crit_line_print(stderr, "crit gather: cannot take %s: %s%s\n", path, why, next);
	return CRIT_EXIT_FAILED;
}

static int read_file_record(const char *path, struct crit_rec_file *ret_file, struct crit_err *err)
{
	struct crit_recording *recording = NULL;
	int rc = crit_recording_open(path, &recording, err);

	if (!rc) {
		*ret_file = recording->file;
		crit_recording_close(recording);
	}
	return rc;
}

/* What run the directory holds. */
static int open_home(struct home *home, const char *directory, struct crit_err *err)
{
	struct crit_recording_set *set = crit_recording_set_create(NULL);
	struct crit_rec_file file;
	int rc = crit_recording_set_add(set, directory, err);

	if (!rc)
		rc = read_file_record(crit_recording_set_paths(set)[0], &file, err);
	if (!rc)
		memcpy(home->run_key, file.run_key, sizeof(home->run_key));
	for (size_t i = 0; !rc && i < crit_recording_set_count(set); i++)
		rc = crit_hosts_add(&home->hosts, crit_recording_set_paths(set)[i]);
	for (size_t i = 0; !rc && i < crit_recording_set_count(set); i++)
		rc = crit_worlds_add(&home->worlds, crit_recording_set_paths(set)[i]);
	if (!rc)
		home->directory = strdup(crit_recording_set_directory(set));
	crit_recording_set_destroy(set);
	return rc;
}

/* A node may have recorded many runs: its name says something only where no rank is named. */
static bool is_of_run(const struct home *home, const char *path, const struct crit_rec_file *file)
{
	struct crit_hosts worlds = { 0 };
	bool is_same = file->run_key[0] && strcmp(file->run_key, home->run_key) == 0;

	(void)crit_worlds_add(&worlds, path); /* what cannot be read names none */
	for (size_t i = 0; i < worlds.count; i++)
		is_same |= crit_hosts_have(&home->worlds, worlds.names[i]);
	if (worlds.count == 0 || home->worlds.count == 0)
		is_same |= crit_hosts_have(&home->hosts, file->host);
	crit_hosts_fini(&worlds);
	return is_same;
}

/* Beside its place first, so that nobody reads half of it. */
static int copy(const char *from, const char *to)
{
	char aside[PATH_MAX + sizeof(".XXXXXX")];
	crit_autoclose int in = crit_regular_open(from, 0, NULL);
	crit_autoclose int out = -1;
	mode_t mask;
	ssize_t sent = 1;

	if (in < 0)
		return in;
	(void)snprintf(aside, sizeof(aside), "%s.XXXXXX", to); /* nobody else's, nor left by one */
	out = mkostemp(aside, O_CLOEXEC);
	if (out < 0)
		return -errno;
	mask = umask(0);
	(void)umask(mask);
	(void)fchmod(out, 0666 & ~mask); /* refused, it stays the user's alone */
	while (sent > 0)
		sent = sendfile(out, in, NULL, 1 << 30);
	if (sent == 0 && fsync(out) == 0 && link(aside, to) == 0) {
		(void)unlink(aside);
		return 0;
	}
	sent = -errno;
	(void)unlink(aside);
	return (int)sent;
}

static int take(const struct home *home, const char *path)
{
	struct crit_rec_file file;
	struct crit_err err = { { 0 } };
	char to[PATH_MAX];
	int rc = read_file_record(path, &file, &err);

	if (rc)
		return refuse(path, err.text[0] ? err.text : strerror(-rc), "");
	if (!file.host[0] || strchr(file.host, '/'))
		return refuse(path, "it names no node", "");
	if (!is_of_run(home, path, &file))
		return refuse(path, "it is of another run than ", home->directory);
	(void)snprintf(to, sizeof(to), "%s/%s.crit", home->directory, file.host);
	rc = copy(path, to);
	if (rc == -EEXIST)
		return refuse(path, "there is one already: ", to);
	if (rc)
		return refuse(path, strerror(-rc), "");
	printf("%s\n", to);
	return CRIT_EXIT_OK;
}

static int take_all(const struct home *home, const char *path)
{
	struct crit_recording_set *set = crit_recording_set_create(NULL);
	struct crit_err err = { { 0 } };
	int rc = crit_recording_set_add(set, path, &err);
	int code = CRIT_EXIT_OK;

	if (rc)
		code = refuse(path, err.text[0] ? err.text : strerror(-rc), "");
	for (size_t i = 0; i < crit_recording_set_count(set); i++)
		if (take(home, crit_recording_set_paths(set)[i]) != CRIT_EXIT_OK)
			code = CRIT_EXIT_FAILED;
	crit_recording_set_destroy(set);
	return code;
}

int crit_command_gather(int argc, char **argv)
{
	static const struct option names[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	static const struct crit_syntax syntax = {
		.command = "crit gather", .letters = "h", .names = names, .usage = usage
	};
	struct home home = { .directory = NULL };
	struct crit_err err = { { 0 } };
	int code = crit_syntax_read(&syntax, argc, argv, NULL);
	int rc;

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (argc - optind < 2)
		return crit_syntax_refuse(&syntax, "nothing to gather;",
					  "name the run's directory, then recordings of its nodes");
	code = CRIT_EXIT_OK;
	rc = open_home(&home, argv[optind], &err);
	if (rc)
		code = refuse(argv[optind], err.text[0] ? err.text : strerror(-rc), "");
	for (int i = optind + 1; !rc && i < argc; i++)
		if (take_all(&home, argv[i]) != CRIT_EXIT_OK)
			code = CRIT_EXIT_FAILED;
	if (!rc) {
		char name[] = "finish", option[] = "--directory";
		char *finish[] = { name, option, home.directory, NULL };
		int finished = crit_command_finish(3, finish);

		code = code == CRIT_EXIT_OK ? finished : code;
	}
	free(home.directory);
	crit_hosts_fini(&home.hosts);
	crit_hosts_fini(&home.worlds);
	return code;
}
