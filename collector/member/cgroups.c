// SPDX-License-Identifier: BSD-3-Clause
// Reads cpu.max (version 2) or cpu.cfs_quota_us and cpu.cfs_period_us (version 1), level by level.
#include "collector/member/cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/system/procfs.h"
#include "core/base/cleanup.h"
#include "core/base/hash.h"

#define LEVELS_MAX 64 /* looked at on one path */
#define FRESH_NS 500000000ull
#define TEXT_BYTES 8192u
#define QUOTA_CPUS_MAX 1000000000ull /* more is no limit */

/* Is the word one of a list with commas? */
static bool is_listed(const char *list, size_t length, const char *word)
{
	const size_t bytes = strlen(word);

	while (length >= bytes) {
		const char *comma = memchr(list, ',', length);
		const size_t item = comma ? (size_t)(comma - list) : length;

		if (item == bytes && memcmp(list, word, bytes) == 0)
			return true;
		if (!comma)
			return false;
		list += item + 1;
		length -= item + 1;
	}
	return false;
}

/* Copies the word that begins at text; false when it does not fit. */
static bool copy_word(char *ret_word, size_t room, const char *text)
{
	const size_t bytes = strcspn(text, " \n");

	if (bytes >= room)
		return false;
	memcpy(ret_word, text, bytes);
	ret_word[bytes] = '\0';
	return true;
}

/* The word with this number, from 0, or "". */
static const char *find_word(const char *text, int number)
{
	for (; number > 0; number--) {
		text += strcspn(text, " \n");
		text += *text == ' ';
	}
	return text;
}

bool crit_cgroups_is_mount(const char *line, bool *ret_is_v1, char ret_root[CRIT_CGROUP_PATH_BYTES],
			   char ret_mount[CRIT_CGROUP_PATH_BYTES])
{
	const char *kind = strstr(line, " - ");
	const char *options;

	if (!kind)
		return false;
	kind += 3;
	options = find_word(kind, 2);
	if (strncmp(kind, "cgroup2 ", 8) == 0)
		*ret_is_v1 = false;
	else if (strncmp(kind, "cgroup ", 7) == 0 &&
		 is_listed(options, strcspn(options, " \n"), "cpu"))
		*ret_is_v1 = true;
	else
		return false;
	if (!copy_word(ret_root, CRIT_CGROUP_PATH_BYTES, find_word(line, 3)) ||
	    !copy_word(ret_mount, CRIT_CGROUP_PATH_BYTES, find_word(line, 4)))
		return false;
	if (strcmp(ret_root, "/") == 0)
		ret_root[0] = '\0';
	return true;
}

void crit_cgroups_open(struct crit_cgroups *cgroups)
{
	crit_autofclose FILE *file = fopen("/proc/self/mountinfo", "re");
	char root[CRIT_CGROUP_PATH_BYTES], mount[CRIT_CGROUP_PATH_BYTES];
	crit_autofree char *line = NULL;
	size_t room = 0;
	bool is_v1 = false;

	*cgroups = (struct crit_cgroups){ .fd = -1 };
	while (file && getline(&line, &room, file) > 0) {
		int fd;

		/* a controller is in one hierarchy: where version 1 has it, version 2 has not */
		if (!crit_cgroups_is_mount(line, &is_v1, root, mount) ||
		    (cgroups->fd >= 0 && (cgroups->is_v1 || !is_v1)))
			continue;
		fd = open(mount, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		crit_cgroups_close(cgroups);
		cgroups->fd = fd;
		cgroups->is_v1 = is_v1;
		memcpy(cgroups->root, root, sizeof(root));
	}
}

void crit_cgroups_close(struct crit_cgroups *cgroups)
{
	if (cgroups->fd >= 0)
		close(cgroups->fd);
	cgroups->fd = -1;
}

/* A line is NUMBER:CONTROLLERS:PATH; version 2 has number 0 and no controllers. */
bool crit_cgroups_path(const char *text, bool is_v1, char ret_path[CRIT_CGROUP_PATH_BYTES])
{
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *list = line + strcspn(line, ":\n");
		const char *path = *list == ':' ? list + 1 + strcspn(list + 1, ":\n") : list;
		size_t bytes;

		if (*path != ':')
			continue;
		if (is_v1 ? !is_listed(list + 1, (size_t)(path - list - 1), "cpu")
			  : strncmp(line, "0::", 3) != 0)
			continue;
		bytes = strcspn(++path, "\n");
		/* outside of our cgroup namespace it begins with /.. and cannot be looked up */
		if (*path != '/' || bytes >= CRIT_CGROUP_PATH_BYTES || path[bytes] != '\n' ||
		    strncmp(path, "/..", 3) == 0)
			return false;
		memcpy(ret_path, path, bytes);
		ret_path[bytes] = '\0';
		return true;
	}
	return false;
}

uint64_t crit_cgroups_quota(const char *quota, const char *period)
{
	char *end;
	const uint64_t quota_us = strtoull(quota, &end, 10);
	const uint64_t period_us = strtoull(period, NULL, 10);

	if (end == quota || *quota == '-' || period_us == 0 || period_us > 0xffffffffu ||
	    quota_us / period_us > QUOTA_CPUS_MAX)
		return CRIT_CPU_UNLIMITED;
	return quota_us / period_us * 1000000u + quota_us % period_us * 1000000u / period_us;
}

static bool read_level(const struct crit_cgroups *cgroups, const char *path, const char *file,
		       char ret_text[64])
{
	char name[CRIT_CGROUP_PATH_BYTES + 32];
	long length;

	(void)snprintf(name, sizeof(name), "%s%s%s", path, *path ? "/" : "", file);
	length = crit_procfs_read_file(cgroups->fd, name, ret_text, 63);
	ret_text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

static uint64_t limit_of(const struct crit_cgroups *cgroups, const char *path)
{
	char quota[64], period[64];

	if (!cgroups->is_v1)
		return read_level(cgroups, path, "cpu.max", quota)
			       ? crit_cgroups_quota(quota, find_word(quota, 1))
			       : CRIT_CPU_UNLIMITED;
	return read_level(cgroups, path, "cpu.cfs_quota_us", quota) &&
			       read_level(cgroups, path, "cpu.cfs_period_us", period)
		       ? crit_cgroups_quota(quota, period)
		       : CRIT_CPU_UNLIMITED;
}

static uint64_t number_of(const char *path)
{
	uint64_t number = 0;

	for (; *path; path++)
		number = crit_hash_mix(number, (uint8_t)*path);
	return number;
}

/* Reads the levels of path, which is below what is mounted, without a slash in front. */
static void read_levels(struct crit_cgroups *cgroups, char *path)
{
	cgroups->last_count = 0;
	for (int i = 0; i < LEVELS_MAX && cgroups->last_count < CRIT_CPU_LIMITS_MAX; i++) {
		const uint64_t limit = limit_of(cgroups, path);
		char *slash = strrchr(path, '/');

		if (limit != CRIT_CPU_UNLIMITED)
			cgroups->last_limits[cgroups->last_count++] =
				(struct crit_rec_cpu_limit){ number_of(path), limit };
		if (!*path)
			return;
		*(slash ? slash : path) = '\0';
	}
}

uint32_t crit_cgroups_limits(struct crit_cgroups *cgroups, int proc_fd, uint32_t pid,
			     uint64_t now_ns,
			     struct crit_rec_cpu_limit ret_limits[CRIT_CPU_LIMITS_MAX])
{
	const size_t root_bytes = strlen(cgroups->root);
	char path[CRIT_CGROUP_PATH_BYTES], text[TEXT_BYTES];
	long length;

	if (cgroups->fd < 0)
		return 0;
	length = crit_procfs_read(proc_fd, pid, "cgroup", text, sizeof(text) - 1);
	text[length > 0 ? length : 0] = '\0';
	if (!crit_cgroups_path(text, cgroups->is_v1, path) ||
	    strncmp(path, cgroups->root, root_bytes) != 0 ||
	    (path[root_bytes] != '/' && path[root_bytes] != '\0'))
		return 0;
	if (cgroups->last_ns == 0 || now_ns - cgroups->last_ns >= FRESH_NS ||
	    strcmp(path, cgroups->last_path) != 0) {
		char *below = path + root_bytes;

		memcpy(cgroups->last_path, path, sizeof(path));
		cgroups->last_ns = now_ns;
		read_levels(cgroups, below + (*below == '/'));
	}
	memcpy(ret_limits, cgroups->last_limits, cgroups->last_count * sizeof(*ret_limits));
	return cgroups->last_count;
}
