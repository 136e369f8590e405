// SPDX-License-Identifier: BSD-3-Clause
// Reads /proc for parents, not the lists of children: not every kernel has these.
#include "cli/launch/process_tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/array.h"
#include "core/base/cleanup.h"

#define PASSES 8
#define TIDS (1u << 22) /* PID_MAX_LIMIT */

struct born { /* a process and its parent */
	pid_t pid;
	pid_t parent;
};

struct tree {
	uint64_t *known; /* a bit for each number */
	struct born *born;
	size_t count;
	size_t capacity;
	int visited;
};

pid_t crit_process_tree_parent(const char *stat)
{
	const char *name_end = strrchr(stat, ')'); /* the name may hold any character */
	int parent = 0;

	if (!name_end || sscanf(name_end, ") %*c %d", &parent) != 1)
		return 0;
	return parent > 0 ? parent : 0;
}

long crit_process_tree_rank(const char *environment, size_t bytes)
{
	static const char *const names[] = { "PMIX_RANK=", "PMI_RANK=", "OMPI_COMM_WORLD_RANK=" };
	const char *const end = environment + bytes;
	const char *next;

	for (const char *entry = environment; entry < end; entry = next + 1) {
		next = memchr(entry, '\0', (size_t)(end - entry));
		if (!next) /* cut */
			break;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const size_t length = strlen(names[i]);
			long rank;
			char *rest;

			if (strncmp(entry, names[i], length) != 0)
				continue;
			rank = strtol(entry + length, &rest, 10);
			if (rest != entry + length && !*rest && rank >= 0)
				return rank;
		}
	}
	return -1;
}

static pid_t read_parent(pid_t pid)
{
	crit_autofclose FILE *in = NULL;
	char text[512];
	size_t length;

	(void)snprintf(text, sizeof(text), "/proc/%d/stat", (int)pid);
	in = fopen(text, "re");
	length = in ? fread(text, 1, sizeof(text) - 1, in) : 0;
	text[length] = '\0';
	return crit_process_tree_parent(text);
}

static bool is_known(const struct tree *tree, pid_t pid)
{
	return (uint32_t)pid < TIDS && tree->known[pid / 64] >> (pid % 64) & 1;
}

static void learn(struct tree *tree, pid_t pid)
{
	if ((uint32_t)pid < TIDS)
		tree->known[pid / 64] |= 1ull << (pid % 64);
}

/* All processes that there are, but for this one, and so none below it. */
static int read_born(struct tree *tree)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	int rc = dir ? 0 : -errno;

	tree->count = 0;
	while (!rc && (entry = readdir(dir))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || pid == getpid())
			continue;
		rc = crit_array_grow(&tree->born, &tree->capacity, tree->count + 1,
				     sizeof(*tree->born));
		if (!rc)
			tree->born[tree->count++] = (struct born){ pid, read_parent(pid) };
	}
	if (dir)
		(void)closedir(dir);
	return rc;
}

/* Returns whether there were any whose parent is known. */
static bool visit_children(struct tree *tree, void (*visit)(void *context, pid_t pid),
			   void *context)
{
	bool has_new = false;

	for (size_t i = 0; i < tree->count && tree->visited < CRIT_TREE_MAX; i++) {
		const struct born *born = &tree->born[i];

		if (is_known(tree, born->pid) || !is_known(tree, born->parent))
			continue;
		learn(tree, born->pid);
		visit(context, born->pid);
		tree->visited++;
		has_new = true;
	}
	return has_new;
}

int crit_process_tree_walk(pid_t root, void (*visit)(void *context, pid_t pid), void *context)
{
	struct tree tree = { .known = calloc(TIDS / 64, sizeof(*tree.known)) };
	bool has_new = true;
	int rc = tree.known ? 0 : -ENOMEM;

	if (!rc)
		learn(&tree, root);
	for (int pass = 0; !rc && has_new && pass < PASSES; pass++) {
		has_new = false;
		rc = read_born(&tree);
		while (!rc && visit_children(&tree, visit, context))
			has_new = true;
	}
	free(tree.known);
	free(tree.born);
	return rc;
}
