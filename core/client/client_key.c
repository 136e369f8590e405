// SPDX-License-Identifier: BSD-3-Clause
// Which run a process belongs to, found without MPI.
#include "core/client/client_key.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/cleanup.h"

#define ANCESTORS_MAX 64

/* Fields of /proc/PID/stat after the name: state is number 0, the parent 1, the start time 19. */
static void parse_stat(char *fields, pid_t *ret_parent, uint64_t *ret_start_ticks)
{
	char *position = fields;

	for (int field = 0; field < 20 && position; field++) {
		while (*position == ' ')
			position++;
		if (field == 1 && ret_parent)
			*ret_parent = (pid_t)strtol(position, NULL, 10);
		if (field == 19 && ret_start_ticks)
			*ret_start_ticks = strtoull(position, NULL, 10);
		position = strchr(position, ' ');
	}
}

int crit_client_process_stat(pid_t pid, char ret_comm[16], pid_t *ret_parent,
			     uint64_t *ret_start_ticks)
{
	char path[32];
	char text[1024];
	crit_autoclose int fd = -1;
	char *name, *end;
	ssize_t length;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	length = read(fd, text, sizeof(text) - 1);
	if (length <= 0)
		return length < 0 ? -errno : -ENODATA;
	text[length] = '\0';
	name = strchr(text, '(');
	end = strrchr(text, ')'); /* the name may hold anything, a parenthesis too */
	if (!name || !end || end < name)
		return -EPROTO;
	*end = '\0';
	if (ret_comm)
		(void)crit_client_copy(ret_comm, 16, name + 1);
	parse_stat(end + 1, ret_parent, ret_start_ticks);
	return 0;
}

static bool is_shell_or_interpreter(const char *comm)
{
	static const char *const names[] = { "sh",   "bash",   "dash",    "zsh",  "ksh",
					     "mksh", "tcsh",   "csh",     "fish", "busybox",
					     "perl", "ruby",   "env",     "nice", "timeout",
					     "time", "stdbuf", "setpriv", "tclsh" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(comm, names[i]) == 0)
			return true;
	return strncmp(comm, "python", 6) == 0 || strncmp(comm, "lua", 3) == 0;
}

static void key_of_process(const char *kind, pid_t pid, char ret_key[CRIT_RUN_KEY_BYTES])
{
	uint64_t start_ticks = 0;

	(void)crit_client_process_stat(pid, NULL, NULL, &start_ticks); /* 0 is still a name */
	(void)snprintf(ret_key, CRIT_RUN_KEY_BYTES, "%s-%d-%" PRIu64, kind, (int)pid, start_ticks);
}

static void key_of_ancestor(char ret_key[CRIT_RUN_KEY_BYTES])
{
	pid_t pid = getppid();
	pid_t found = getpid();
	char comm[16];

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		pid_t parent = 0;

		if (crit_client_process_stat(pid, comm, &parent, NULL) < 0)
			break;
		if (!is_shell_or_interpreter(comm)) {
			found = pid;
			break;
		}
		pid = parent;
	}
	key_of_process("tree", found, ret_key);
}

/* Hydra gives ranks no job id and a session each, but one end of a socket pair its proxy made. */
static bool key_of_pmi_fd(char ret_key[CRIT_RUN_KEY_BYTES])
{
	const char *text = getenv("PMI_FD");
	struct ucred peer;
	socklen_t size = sizeof(peer);
	char *end = NULL;
	long fd;

	if (!text || !*text)
		return false;
	fd = strtol(text, &end, 10);
	if (*end || fd < 0 || fd > 1 << 20)
		return false;
	if (getsockopt((int)fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid <= 0)
		return false;
	key_of_process("pmi", peer.pid, ret_key);
	return true;
}

/*
 * "123456789" is a number whose low 16 bits count the worlds; "name@2" keeps the count behind
 * the @.
 */
static void key_of_namespace(const char *name, char ret_key[CRIT_RUN_KEY_BYTES])
{
	char *end = NULL;
	unsigned long long number = strtoull(name, &end, 10);
	const char *at = strrchr(name, '@');
	int length = at ? (int)(at - name) : (int)strnlen(name, CRIT_RUN_KEY_BYTES);

	if (end != name && *end == '\0')
		(void)snprintf(ret_key, CRIT_RUN_KEY_BYTES, "pmix-%llx", number >> 16);
	else
		(void)snprintf(ret_key, CRIT_RUN_KEY_BYTES, "pmix-%.*s",
			       length < CRIT_RUN_KEY_BYTES ? length : CRIT_RUN_KEY_BYTES, name);
}

void crit_client_run_key(const struct crit_client_env *env, char ret_key[CRIT_RUN_KEY_BYTES])
{
	const int saved_errno = errno;
	const char *job = getenv("SLURM_JOB_ID");
	const char *step = getenv("SLURM_STEP_ID");
	const char *name = getenv("PMIX_NAMESPACE");

	memset(ret_key, 0, CRIT_RUN_KEY_BYTES);
	if (env->run[0])
		(void)crit_client_copy(ret_key, CRIT_RUN_KEY_BYTES, env->run);
	else if (job && *job && step && *step)
		(void)snprintf(ret_key, CRIT_RUN_KEY_BYTES, "slurm-%.40s.%.40s", job, step);
	else if (name && *name)
		key_of_namespace(name, ret_key);
	else if (!key_of_pmi_fd(ret_key))
		key_of_ancestor(ret_key);
	errno = saved_errno;
}

void crit_client_host(char ret_host[CRIT_WORLD_BYTES])
{
	memset(ret_host, 0, CRIT_WORLD_BYTES);
	if (gethostname(ret_host, CRIT_WORLD_BYTES - 1) < 0 || !ret_host[0] ||
	    strchr(ret_host, '/'))
		(void)crit_client_copy(ret_host, CRIT_WORLD_BYTES, "node");
}

void crit_client_world_name(const char *run_key, char ret_name[CRIT_WORLD_BYTES])
{
	const char *name = getenv("PMIX_NAMESPACE");
	char launch[CRIT_RUN_KEY_BYTES];

	if (!name || !*name) /* one run may hold several launches of hydra */
		name = key_of_pmi_fd(launch) ? launch : run_key;
	(void)crit_client_copy(ret_name, CRIT_WORLD_BYTES, name);
}
