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

#define ENTRIES_MAX (CRIT_FILM_BLOCK_BYTES / CRIT_FILM_ENTRY_BYTES - 1)
#define TIME_BITS 48 /* signed, from the block's first entry: 39 hours either way */
#define FILE_SYSTEMS_FAR                                                                           \
	0xff534d42u, 0xfe534d42u, 0x0bd00bd0u, 0x47504653u, 0x19830326u, 0x65735546u, 0x00c36400u

struct packed_entry {
	uint64_t word; /* time, kind, type */
	uint32_t node;
	uint32_t number;
};

struct block {
	uint64_t base_ns;
	uint32_t count;
	uint32_t reserved;
	struct packed_entry entries[ENTRIES_MAX];
};

_Static_assert(sizeof(struct packed_entry) == CRIT_FILM_ENTRY_BYTES, "entry");
_Static_assert(sizeof(struct block) == CRIT_FILM_BLOCK_BYTES, "block");

struct crit_film {
	int fd;
	int failure; /* the first, 0: none */
	uint64_t max_bytes;
	uint64_t blocks; /* in the file; when reading: before the one in memory */
	uint64_t written; /* blocks of a film that is finished */
	uint64_t entry_count;
	struct block block;
};

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
	return crit_err_set(err, code, "cannot write the file of the waits: %s", strerror(-code));
}

static int write_block(struct crit_film *film, struct crit_err *err)
{
	const char *bytes = (const char *)&film->block;
	const uint64_t at = film->blocks * CRIT_FILM_BLOCK_BYTES;

	if (at + CRIT_FILM_BLOCK_BYTES > film->max_bytes) {
		film->failure = -EFBIG;
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

static bool is_near(uint64_t time_ns, uint64_t base_ns)
{
	const int64_t distance = (int64_t)(time_ns - base_ns);

	return distance >= -(1ll << (TIME_BITS - 1)) && distance < 1ll << (TIME_BITS - 1);
}

int crit_film_put(struct crit_film *film, const struct crit_film_entry *entry, struct crit_err *err)
{
	struct block *block = &film->block;

	if (film->failure)
		return film->failure;
	if (block->count == ENTRIES_MAX ||
	    (block->count && !is_near(entry->time_ns, block->base_ns))) {
		int rc = write_block(film, err);

		if (rc)
			return rc;
	}
	if (!block->count)
		block->base_ns = entry->time_ns;
	block->entries[block->count++] = (struct packed_entry){
		.word = ((entry->time_ns - block->base_ns) & ((1ull << TIME_BITS) - 1)) |
			(uint64_t)entry->kind << TIME_BITS | (uint64_t)entry->type << 56,
		.node = entry->node,
		.number = entry->number,
	};
	film->entry_count++;
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

/* The block before, into memory. */
static int read_block(struct crit_film *film)
{
	char *bytes = (char *)&film->block;
	const uint64_t at = (film->blocks - 1) * CRIT_FILM_BLOCK_BYTES;

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
	return film->block.count && film->block.count <= ENTRIES_MAX ? 0 : -EPROTO;
}

static struct crit_film_entry entry_of(const struct block *block, uint32_t i)
{
	const struct packed_entry *packed = &block->entries[i];

	return (struct crit_film_entry){
		.time_ns =
			block->base_ns +
			(uint64_t)((int64_t)(packed->word << (64 - TIME_BITS)) >> (64 - TIME_BITS)),
		.node = packed->node,
		.number = packed->number,
		.type = (uint8_t)(packed->word >> 56),
		.kind = (uint8_t)(packed->word >> TIME_BITS),
	};
}

int crit_film_back(struct crit_film *film, struct crit_film_entry *ret_entry)
{
	struct block *block = &film->block;

	if (!block->count) {
		int rc = film->blocks ? read_block(film) : 0;

		if (rc || !block->count)
			return rc;
	}
	*ret_entry = entry_of(block, --block->count);
	return 1;
}

bool crit_film_soon(const struct crit_film *film, uint32_t more, struct crit_film_entry *ret_entry)
{
	if (more >= film->block.count)
		return false;
	*ret_entry = entry_of(&film->block, film->block.count - 1 - more);
	return true;
}
