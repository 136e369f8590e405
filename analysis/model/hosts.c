// SPDX-License-Identifier: BSD-3-Clause
// Reads the NODES and RANK chunks of a recording by its chunk heads alone.
#include "analysis/model/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/array.h"
#include "core/base/chunk.h"
#include "core/base/cleanup.h"

bool crit_hosts_have(const struct crit_hosts *hosts, const char *name)
{
	for (size_t i = 0; i < hosts->count; i++)
		if (!strcmp(hosts->names[i], name))
			return true;
	return false;
}

static int add_names(struct crit_hosts *hosts, const char *bytes, size_t length)
{
	int rc = 0;

	for (size_t at = 0; !rc && at + CRIT_WORLD_BYTES <= length; at += CRIT_WORLD_BYTES) {
		const char *name = bytes + at;

		if (hosts->count >= CRIT_HOSTS_MAX || !name[0] ||
		    strnlen(name, CRIT_WORLD_BYTES) == CRIT_WORLD_BYTES || strchr(name, '/') ||
		    crit_hosts_have(hosts, name))
			continue;
		rc = crit_array_grow(&hosts->names, &hosts->capacity, hosts->count + 1,
				     sizeof(*hosts->names));
		if (!rc)
			memcpy(hosts->names[hosts->count++], name, CRIT_WORLD_BYTES);
	}
	return rc;
}

static bool read_head(int fd, off_t offset, struct crit_chunk_head *ret_head)
{
	return pread(fd, ret_head, sizeof(*ret_head), offset) == (ssize_t)sizeof(*ret_head) &&
	       crit_chunk_head_is_sane(ret_head);
}

/* The names in all chunks of a kind: in NODES they are all there is, in RANK one is the world's. */
static int add_from(struct crit_hosts *hosts, const char *path, uint32_t kind)
{
	const size_t first = kind == CRIT_C_RANK ? offsetof(struct crit_rec_rank, world) : 0;
	crit_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct crit_chunk_head head = { .kind = CRIT_C_NONE };
	char bytes[CRIT_NODES_MAX * CRIT_WORLD_BYTES];
	off_t offset = 0;
	int rc = fd < 0 ? -errno : 0;

	while (!rc && head.kind != CRIT_C_CLOSE && read_head(fd, offset, &head)) {
		if (head.kind == kind && head.length <= sizeof(bytes) &&
		    head.length >= first + CRIT_WORLD_BYTES &&
		    pread(fd, bytes, head.length, offset + (off_t)sizeof(head)) ==
			    (ssize_t)head.length &&
		    crit_chunk_is_whole(&head, bytes))
			rc = add_names(hosts, bytes + first,
				       first ? CRIT_WORLD_BYTES : head.length);
		offset += (off_t)(sizeof(head) + crit_chunk_padded(head.length));
	}
	return rc;
}

int crit_hosts_add(struct crit_hosts *hosts, const char *path)
{
	return add_from(hosts, path, CRIT_C_NODES);
}

int crit_hosts_take(struct crit_hosts *hosts, const struct crit_recording *recording)
{
	char bytes[CRIT_NODES_MAX * CRIT_WORLD_BYTES];
	int rc = 0;

	for (size_t i = 0; i < recording->ref_count && !rc; i++) {
		const struct crit_chunk_ref *ref = &recording->refs[i];

		if (ref->kind == CRIT_C_CLOSE)
			break;
		if (ref->kind == CRIT_C_NODES && ref->length <= sizeof(bytes) &&
		    crit_recording_read_struct(recording, ref, bytes, ref->length))
			rc = add_names(hosts, bytes, ref->length);
	}
	return rc;
}

int crit_worlds_add(struct crit_hosts *worlds, const char *path)
{
	return add_from(worlds, path, CRIT_C_RANK);
}

void crit_hosts_fini(struct crit_hosts *hosts)
{
	free(hosts->names);
	*hosts = (struct crit_hosts){ 0 };
}

bool crit_hosts_is_whole(const char *path)
{
	crit_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const off_t foot_bytes = (off_t)(sizeof(struct crit_chunk_head) +
					 crit_chunk_padded(sizeof(struct crit_rec_foot)));
	struct crit_chunk_head head;
	struct stat status;

	return fd >= 0 && fstat(fd, &status) == 0 && status.st_size >= foot_bytes &&
	       read_head(fd, status.st_size - foot_bytes, &head) && head.kind == CRIT_C_FOOT;
}
