// SPDX-License-Identifier: BSD-3-Clause
// Finds the programs and libraries of crit relative to the crit binary.
#include "cli/install/installation.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Resolves the directory alone: a library keeps its plain name, which outlives its version. */
static int accept_path(const char *path, int mode, char *ret_path, size_t size)
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX], real[PATH_MAX];

	if (!slash || slash == path || access(path, mode))
		return -ENOENT;
	(void)snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path), path);
	if (!realpath(directory, real) || strlen(real) + strlen(slash) >= size)
		return -ENOENT;
	(void)snprintf(ret_path, size, "%s%s", real, slash);
	return 0;
}

static int find(const char *beside, const char *name, int mode, char ret_path[], size_t size)
{
	char directory[PATH_MAX];
	char path[2 * PATH_MAX];

	if (own_directory(directory))
		return -ENOENT;
	(void)snprintf(path, sizeof(path), "%s/%s/%s", directory, beside, name);
	return accept_path(path, mode, ret_path, size);
}

int crit_installation_program(const char *name, char *ret_path, size_t size)
{
	int rc = find(".", name, X_OK, ret_path, size);

	if (rc)
		(void)snprintf(ret_path, size, "%s", name);
	return rc;
}

int crit_installation_library(const char *name, char *ret_path, size_t size)
{
	int rc = find("../lib", name, R_OK, ret_path, size);

	return rc ? find(CRIT_LIB_FROM_BIN, name, R_OK, ret_path, size) : 0;
}

static int find_linked(const char *name, char *ret_path, size_t size)
{
	void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map = NULL;
	int rc = -ENOENT;

	if (!handle)
		return -ENOENT;
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
		rc = accept_path(map->l_name, R_OK, ret_path, size);
	(void)dlclose(handle);
	return rc;
}

int crit_installation_libomp(char *ret_path, size_t size)
{
	glob_t found;
	int rc = find_linked("libomp.so.5", ret_path, size);

	if (rc == 0 || glob("/usr/lib/llvm-*/lib/libomp.so.5", 0, NULL, &found) != 0)
		return rc;
	for (size_t i = found.gl_pathc; rc && i > 0; i--)
		rc = accept_path(found.gl_pathv[i - 1], R_OK, ret_path, size);
	globfree(&found);
	return rc;
}
