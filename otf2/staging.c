// SPDX-License-Identifier: BSD-3-Clause
// Staging directory: made, locked, published by renames, removed.
#include "otf2/staging.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 4 /* of what is removed: an archive has one directory */
#define NAME_BYTES 32
#define LOCK_ATTEMPTS 100

static const char *const parts[] = { "traces.otf2", "traces.def", "traces" };

#define PART_COUNT (sizeof(parts) / sizeof(parts[0]))

static void empty(int directory_fd, int depth);

/* Never through a link, and whatever becomes of the name meanwhile. */
static void empty_below(int directory_fd, const char *name, int depth)
{
	int fd = openat(directory_fd, name, O_DIRECTORY | O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return;
	empty(fd, depth);
	close(fd);
}

/* Removes what is in a directory; what stays makes the rmdir above fail, which is seen. */
static void empty(int directory_fd, int depth)
{
	int fd = openat(directory_fd, ".", O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!stream && fd >= 0)
		close(fd);
	while (stream && (entry = readdir(stream))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    unlinkat(directory_fd, entry->d_name, 0) == 0 || errno != EISDIR || depth == 0)
			continue;
		empty_below(directory_fd, entry->d_name, depth - 1);
		(void)unlinkat(directory_fd, entry->d_name, AT_REMOVEDIR);
	}
	if (stream)
		(void)closedir(stream);
}

static bool is_of_archive(const char *name)
{
	size_t length = strlen(name);

	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	       (length > 4 &&
		(strcmp(name + length - 4, ".evt") == 0 || strcmp(name + length - 4, ".def") == 0));
}

/* What bears our name but is no archive's stays as it is.  Errors: -EEXIST, -errno. */
static int spare_others(const char *directory, struct crit_err *err)
{
	char path[PATH_MAX + NAME_BYTES];
	const struct dirent *entry;
	DIR *stream;
	int rc = 0;

	(void)snprintf(path, sizeof(path), "%s/traces", directory);
	stream = opendir(path);
	if (!stream && errno == ENOENT)
		return 0;
	if (!stream) {
		rc = -errno;
		return crit_err_set(err, rc, "cannot replace %.160s: %s", path, strerror(-rc));
	}
	while (!rc && (entry = readdir(stream)) != NULL) {
		if (!is_of_archive(entry->d_name))
			rc = crit_err_set(err, -EEXIST,
					  "cannot replace %.120s: it holds %.60s, which is of no "
					  "archive; export elsewhere",
					  path, entry->d_name);
	}
	closedir(stream);
	return rc;
}

/* Is the directory that is locked still the one that bears its name? */
static bool is_in_place(const struct crit_otf2_staging *staging)
{
	struct stat named, held;

	return stat(staging->path, &named) == 0 && fstat(staging->lock_fd, &held) == 0 &&
	       named.st_ino == held.st_ino && named.st_dev == held.st_dev;
}

/* Makes and locks the directory aside: 1, or 0 when its last owner removed it meanwhile. */
static int lock(struct crit_otf2_staging *staging, struct crit_err *err)
{
	const char *directory = staging->directory;
	int rc;

	if (mkdir(staging->path, 0777) && errno != EEXIST) {
		rc = -errno;
		return crit_err_set(err, rc, "cannot make a directory in %.120s: %s", directory,
				    strerror(-rc));
	}
	staging->lock_fd = open(staging->path, O_DIRECTORY | O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (staging->lock_fd < 0 && errno == ENOENT)
		return 0;
	if (staging->lock_fd < 0) {
		rc = -errno;
		return crit_err_set(err, rc, "cannot open %.160s: %s", staging->path,
				    strerror(-rc));
	}
	if (flock(staging->lock_fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		close(staging->lock_fd);
		staging->lock_fd = -1;
		return crit_err_set(err, -EBUSY,
				    "another export into %.120s is at work; wait for it",
				    directory);
	}
	if (is_in_place(staging))
		return 1;
	close(staging->lock_fd);
	staging->lock_fd = -1;
	return 0;
}

int crit_otf2_find_stage(struct crit_otf2_staging *staging, const char *directory,
			 struct crit_err *err)
{
	*staging = (struct crit_otf2_staging){ .directory = directory, .lock_fd = -1 };
	if (snprintf(staging->path, sizeof(staging->path), "%s/%s", directory, CRIT_OTF2_STAGING) >=
	    (int)sizeof(staging->path))
		return crit_err_set(err, -ENAMETOOLONG, "cannot export into %.120s: %s", directory,
				    strerror(ENAMETOOLONG));
	return 0;
}

int crit_otf2_stage(struct crit_otf2_staging *staging, const char *directory, struct crit_err *err)
{
	int rc = crit_otf2_find_stage(staging, directory, err), attempt;

	if (!rc)
		rc = spare_others(directory, err);
	for (attempt = 0; attempt < LOCK_ATTEMPTS && !rc; attempt++)
		rc = lock(staging, err);
	if (!rc)
		rc = crit_err_set(err, -EBUSY, "other exports into %.120s come and go; try again",
				  directory);
	if (rc < 0)
		return rc;
	empty(staging->lock_fd, DEPTH_MAX);
	return 0;
}

static int move(const char *from, const char *to, const char *name, const char *new_name)
{
	char old_path[PATH_MAX + NAME_BYTES], new_path[PATH_MAX + NAME_BYTES];

	(void)snprintf(old_path, sizeof(old_path), "%s/%s", from, name);
	(void)snprintf(new_path, sizeof(new_path), "%s/%s", to, new_name);
	return rename(old_path, new_path) ? -errno : 0;
}

int crit_otf2_publish(struct crit_otf2_staging *staging, struct crit_err *err)
{
	char old_name[NAME_BYTES];
	int rc = 0;

	for (size_t i = 0; i < PART_COUNT && !rc; i++) { /* the old anchor goes first */
		(void)snprintf(old_name, sizeof(old_name), "old-%s", parts[i]);
		rc = move(staging->directory, staging->path, parts[i], old_name);
		if (rc == -ENOENT)
			rc = 0;
	}
	for (size_t i = PART_COUNT; i-- > 0 && !rc;)
		rc = move(staging->path, staging->directory, parts[i], parts[i]);
	if (rc)
		return crit_err_set(err, rc, "cannot put the archive into %.120s: %s",
				    staging->directory, strerror(-rc));
	return 0;
}

void crit_otf2_unstage(struct crit_otf2_staging *staging)
{
	if (staging->lock_fd < 0)
		return;
	empty(staging->lock_fd, DEPTH_MAX);
	(void)rmdir(staging->path); /* under the lock: nobody else is in it */
	close(staging->lock_fd);
	staging->lock_fd = -1;
}
