// SPDX-License-Identifier: BSD-3-Clause
// Blocks of entries in a file without a name: written forwards, read backwards.
#include "analysis/waits/film/film.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FILE_SYSTEMS_FAR                                                                           \
	0xff534d42u, 0xfe534d42u, 0x0bd00bd0u, 0x47504653u, 0x19830326u, 0x65735546u, 0x00c36400u

_Static_assert(sizeof(struct crit_film_entry) == CRIT_FILM_ENTRY_BYTES, "entry");
_Static_assert(sizeof(struct crit_film_block) == CRIT_FILM_BLOCK_BYTES, "block");

static bool is_in_memory(uint32_t type)
{
	return type == TMPFS_MAGIC || type == RAMFS_MAGIC;
}

/* Others reach it as well, so it is slower than a disk and may be in use by all ranks. */
static bool is_far(uint32_t type)
{
	static const uint32_t types[] = { NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC, AFS_SUPER_MAGIC,
					  CODA_SUPER_MAGIC, V9FS_MAGIC,      FILE_SYSTEMS_FAR };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i] == type)
			return true;
	}
	return false;
}

static bool is_local_disk(const char *directory, uint64_t bytes)
{
	struct statfs fs;

	return directory && *directory && !statfs(directory, &fs) &&
	       !is_in_memory((uint32_t)fs.f_type) && !is_far((uint32_t)fs.f_type) &&
	       (uint64_t)fs.f_bavail >= bytes / (uint64_t)fs.f_bsize;
}

/* A file without a name; where the file system has no such, one whose name is removed at once. */
static int open_unnamed(const char *directory)
{
	char path[4096];
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd >= 0 ? fd : -errno;
	if (snprintf(path, sizeof(path), "%s/.waits-XXXXXX", directory) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	(void)unlink(path); /* else it stays, which harms nobody */
	return fd;
}

int crit_film_create(const struct crit_film_options *options, struct crit_film **ret_film,
		     struct crit_err *err)
{
	const char *given = getenv("TMPDIR");
	const char *directory = given && *given ? given : "/var/tmp";
	struct crit_film *film;
	struct statfs fs;
	int fd;

	if (!is_local_disk(directory, options->max_bytes))
		directory = options->directory;
	fd = open_unnamed(directory);
	if (fd < 0)
		return crit_err_set(err, fd, "cannot make a file for the waits in %s: %s",
				    directory, strerror(-fd));
	if (!fstatfs(fd, &fs) && is_in_memory((uint32_t)fs.f_type)) {
		close(fd);
		return crit_err_set(err, -EOPNOTSUPP,
				    "no disk for the file of the waits: %s lies in memory; "
				    "set TMPDIR to a directory on a disk",
				    directory);
	}
	film = calloc(1, sizeof(*film));
	if (!film) {
		close(fd);
		return crit_err_set(err, -ENOMEM, "out of memory");
	}
	film->fd = fd;
	film->max_bytes = options->max_bytes;
	*ret_film = film;
	return 0;
}

void crit_film_destroy(struct crit_film *film)
{
	if (!film)
		return;
	close(film->fd);
	free(film);
}

uint64_t crit_film_entry_count(const struct crit_film *film)
{
	return film->entry_count;
}

static int fail(struct crit_film *film, int code, struct crit_err *err)
{
	film->failure = code;
	film->block.count = 0;
	return crit_err_set(err, code, "cannot write the file of the waits: %s", strerror(-code));
}

static int write_block(struct crit_film *film, struct crit_err *err)
{
	const char *bytes = (const char *)&film->block;
	const uint64_t at = film->blocks * CRIT_FILM_BLOCK_BYTES;

	if (at + CRIT_FILM_BLOCK_BYTES > film->max_bytes) {
		film->failure = -EFBIG;
		film->block.count = 0;
		return crit_err_set(err, -EFBIG, "the waits are more than the %llu bytes for them",
				    (unsigned long long)film->max_bytes);
	}
	for (size_t done = 0; done < CRIT_FILM_BLOCK_BYTES;) {
		ssize_t n = pwrite(film->fd, bytes + done, CRIT_FILM_BLOCK_BYTES - done,
				   (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(film, n < 0 ? -errno : -ENOSPC, err);
		done += (size_t)n;
	}
	film->blocks++;
	film->block.count = 0;
	return 0;
}

int crit_film_put_in_next(struct crit_film *film, const struct crit_film_entry *entry,
			  struct crit_err *err)
{
	int rc = film->failure;

	if (!rc && film->block.count)
		rc = write_block(film, err);
	if (rc)
		return rc;
	crit_film_append(film, entry);
	return 0;
}

int crit_film_finish(struct crit_film *film, struct crit_err *err)
{
	int rc = film->failure;

	if (!rc && film->block.count)
		rc = write_block(film, err);
	film->block.count = 0;
	film->written = film->blocks;
	return rc;
}

void crit_film_rewind(struct crit_film *film)
{
	film->block.count = 0;
	film->blocks = film->written;
}

int crit_film_read_block(struct crit_film *film)
{
	char *bytes = (char *)&film->block;
	const uint64_t at = (film->blocks - 1) * CRIT_FILM_BLOCK_BYTES;

	if (!film->blocks)
		return 0;
	for (size_t done = 0; done < CRIT_FILM_BLOCK_BYTES;) {
		ssize_t n = pread(film->fd, bytes + done, CRIT_FILM_BLOCK_BYTES - done,
				  (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		done += (size_t)n;
	}
	film->blocks--;
	return film->block.count && film->block.count <= CRIT_FILM_BLOCK_ENTRIES ? 1 : -EPROTO;
}
