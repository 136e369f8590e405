// SPDX-License-Identifier: BSD-3-Clause
/* Looks for programs and libraries beside crit itself and where install put them. */
#include "cli/place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CRIT_BIN_DIR
#define CRIT_BIN_DIR "/usr/local/bin"
#endif
#ifndef CRIT_LIB_DIR
#define CRIT_LIB_DIR "/usr/local/lib"
#endif

/* The directory this program lies in, without a slash at its end. */
static int own_directory(char ret_path[PATH_MAX])
{
	char *slash;

	if (!realpath("/proc/self/exe", ret_path))
		return -errno;
	slash = strrchr(ret_path, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

static int accept_path(const char *path, int mode, char *ret_path, size_t size)
{
	char real[PATH_MAX];

	if (!realpath(path, real) || access(real, mode) || strlen(real) >= size)
		return -ENOENT;
	memcpy(ret_path, real, strlen(real) + 1);
	return 0;
}

static int find(const char *beside, const char *installed, const char *name, int mode,
		char ret_path[], size_t size)
{
	char directory[PATH_MAX];
	char path[2 * PATH_MAX];

	if (own_directory(directory) == 0) {
		(void)snprintf(path, sizeof(path), "%s/%s/%s", directory, beside, name);
		if (accept_path(path, mode, ret_path, size) == 0)
			return 0;
	}
	(void)snprintf(path, sizeof(path), "%s/%s", installed, name);
	return accept_path(path, mode, ret_path, size);
}

int crit_place_program(const char *name, char *ret_path, size_t size)
{
	int status = find(".", CRIT_BIN_DIR, name, X_OK, ret_path, size);

	if (status)
		(void)snprintf(ret_path, size, "%s", name);
	return status;
}

int crit_place_library(const char *name, char *ret_path, size_t size)
{
	return find("../lib", CRIT_LIB_DIR, name, R_OK, ret_path, size);
}
