// SPDX-License-Identifier: BSD-3-Clause
// Reads names, states and maps of processes; every path is built of numbers.
#include "collector/system/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/cleanup.h"

long crit_procfs_read_file(int proc_fd, const char *path, char *ret_text, size_t bytes)
{
	crit_autoclose int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;

	if (fd < 0)
		return -errno;
	while (used < bytes) {
		ssize_t done = read(fd, ret_text + used, bytes - used);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (done == 0)
			break;
		used += (size_t)done;
	}
	return (long)used;
}

long crit_procfs_read(int proc_fd, uint32_t pid, const char *file, char *ret_text, size_t bytes)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%u/%s", pid, file);
	return crit_procfs_read_file(proc_fd, path, ret_text, bytes);
}

/* The text after "name:" in a status file, or NULL. */
static const char *find_field(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			return line + length + 1 + strspn(line + length + 1, " \t");
	}
	return NULL;
}

static uint32_t number_field(const char *text, const char *name)
{
	const char *field = find_field(text, name);

	return field ? (uint32_t)strtoul(field, NULL, 10) : 0;
}

/* NSpid lists the number in every pid namespace, the task's own last. */
static uint32_t last_number(const char *field)
{
	uint32_t number = 0;

	while (field && *field >= '0' && *field <= '9') {
		char *end;

		number = (uint32_t)strtoul(field, &end, 10);
		field = end + strspn(end, " \t");
	}
	return number;
}

bool crit_procfs_is_asleep(const struct crit_procfs_task *task)
{
	return strchr("SDTtI", task->state) && task->state;
}

int crit_procfs_task(int proc_fd, uint32_t pid, uint32_t tid, struct crit_procfs_task *ret_task)
{
	char path[64], text[2048];
	const char *field;
	long length;

	(void)snprintf(path, sizeof(path), "%u/task/%u/status", pid, tid);
	length = crit_procfs_read_file(proc_fd, path, text, sizeof(text) - 1);
	if (length <= 0)
		return -ESRCH;
	text[length] = '\0';
	memset(ret_task, 0, sizeof(*ret_task));
	ret_task->tid = tid;
	ret_task->tgid = number_field(text, "Tgid");
	ret_task->parent_tgid = number_field(text, "PPid");
	ret_task->ns_tid = last_number(find_field(text, "NSpid"));
	field = find_field(text, "State");
	ret_task->state = field ? *field : '?';
	field = find_field(text, "Name");
	if (field) {
		size_t bytes = strcspn(field, "\n");

		if (bytes >= sizeof(ret_task->comm))
			bytes = sizeof(ret_task->comm) - 1;
		memcpy(ret_task->comm, field, bytes);
	}
	return 0;
}

/* Of a directory, all entries that are numbers. */
static int each_number(int proc_fd, const char *path, int (*visit)(void *context, uint32_t number),
		       void *context)
{
	struct dirent *entry;
	int count = 0;
	DIR *dir;
	int fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while ((entry = readdir(dir))) {
		uint32_t number = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (number == 0)
			continue;
		count++;
		if (visit(context, number))
			break;
	}
	(void)closedir(dir);
	return count;
}

int crit_procfs_each_tid(int proc_fd, uint32_t pid, int (*visit)(void *context, uint32_t tid),
			 void *context)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%u/task", pid);
	return each_number(proc_fd, path, visit, context);
}

int crit_procfs_each_pid(int proc_fd, int (*visit)(void *context, uint32_t pid), void *context)
{
	return each_number(proc_fd, ".", visit, context);
}

int crit_procfs_owner(int proc_fd, uint32_t pid, uint32_t *ret_uid)
{
	struct stat st;
	char path[16];

	(void)snprintf(path, sizeof(path), "%u", pid);
	if (fstatat(proc_fd, path, &st, 0))
		return -ESRCH;
	*ret_uid = st.st_uid;
	return 0;
}

int crit_procfs_pid_of(int proc_fd, int pidfd, uint32_t *ret_pid)
{
	char path[64], text[1024];
	const char *field;
	long length;

	(void)snprintf(path, sizeof(path), "self/fdinfo/%d", pidfd);
	length = crit_procfs_read_file(proc_fd, path, text, sizeof(text) - 1);
	if (length <= 0)
		return -EINVAL;
	text[length] = '\0';
	field = find_field(text, "Pid");
	if (!field)
		return -EINVAL;
	if (*field == '-' || *field == '0')
		return -ESRCH;
	*ret_pid = (uint32_t)strtoul(field, NULL, 10);
	return 0;
}
