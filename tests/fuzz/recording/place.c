// SPDX-License-Identifier: BSD-3-Clause
// Lays out files below /dev/shm, and sweeps them away.
#include "tests/fuzz/recording/place.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_FDS 8

static char directory[] = "/dev/shm/crit-fuzz-XXXXXX";

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	return walk->level > 0 ? remove(path) : 0;
}

void place_empty(void)
{
	if (nftw(place_directory(), remove_one, DEPTH_FDS, FTW_DEPTH | FTW_PHYS))
		abort();
}

static void remove_all(void)
{
	place_empty();
	(void)rmdir(directory);
}

const char *place_directory(void)
{
	static bool is_made;

	if (!is_made && (!mkdtemp(directory) || atexit(remove_all)))
		abort();
	is_made = true;
	return directory;
}

static void join(const char *name, char ret_path[4096])
{
	(void)snprintf(ret_path, 4096, "%s/%s", place_directory(), name);
}

void place_make(const char *name)
{
	char path[4096];

	join(name, path);
	if (mkdir(path, 0700) && errno != EEXIST)
		abort();
}

void place_write(const char *name, const struct input *file)
{
	char path[4096];
	int fd;

	join(name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, file->bytes, file->length) != (ssize_t)file->length)
		abort();
	close(fd);
}
