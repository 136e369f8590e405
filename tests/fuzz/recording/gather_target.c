// SPDX-License-Identifier: BSD-3-Clause
// Feeds arbitrary recordings of nodes to crit gather, and asks who reports on them.  Choices: bit 0
// leave checksums as they are, bit 1 half of the recordings are home already, else one.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/results/nodes.h"
#include "core/abi/abi_socket.h"
#include "core/client/client_key.h"
#include "tests/fuzz/recording/parts.h"
#include "tests/fuzz/recording/place.h"
#include "tests/fuzz/repair.h"
#include "tests/fuzz/target.h"

/* The report has targets of its own. */
int crit_command_finish(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static void lay_out(const struct parts *parts, size_t home_count)
{
	char host[CRIT_WORLD_BYTES];
	char name[CRIT_WORLD_BYTES + 16];

	crit_client_host(host);
	place_empty();
	place_make("home");
	place_make("other");
	for (size_t i = 0; i < parts->count; i++) {
		if (!(parts->choice & 1))
			crit_repair(parts->files[i].bytes, parts->files[i].length);
		if (i == 0)
			(void)snprintf(name, sizeof(name), "home/%s.crit", host);
		else
			(void)snprintf(name, sizeof(name), "%s/%zu.crit",
				       i < home_count ? "home" : "other", i);
		place_write(name, &parts->files[i]);
	}
}

/* Counts what ends in suffix; anything else there is a fault. */
static size_t count_in(const char *name, const char *suffix)
{
	char path[4096];
	struct dirent *entry;
	size_t count = 0;
	DIR *directory;

	(void)snprintf(path, sizeof(path), "%s/%s", place_directory(), name);
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		size_t length = strlen(entry->d_name), end = strlen(suffix);

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (length < end || strcmp(entry->d_name + length - end, suffix) != 0) {
			fprintf(stderr, "broken: left behind: %s/%s\n", name, entry->d_name);
			abort();
		}
		count++;
	}
	if (directory)
		(void)closedir(directory);
	return count;
}

static void gather(void)
{
	static FILE *nowhere;
	char command[] = "gather", home[128], other[128];
	char *arguments[] = { command, home, other, NULL };
	FILE *out = stdout, *err = stderr;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	(void)snprintf(home, sizeof(home), "%s/home", place_directory());
	(void)snprintf(other, sizeof(other), "%s/other", place_directory());
	stdout = stderr = nowhere;
	(void)crit_command_gather(3, arguments);
	(void)crit_nodes_is_reporter(home);
	crit_nodes_wait(home, 1);
	stdout = out;
	stderr = err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parts parts;
	size_t home_count;

	if (!parts_take(&parts, data, size))
		return 0;
	home_count = parts.choice & 2 ? (parts.count + 1) / 2 : 1;
	lay_out(&parts, home_count);
	gather();
	if (count_in("", "") != 2 || count_in("other", ".crit") != parts.count - home_count ||
	    count_in("home", ".crit") > parts.count) {
		fprintf(stderr, "broken: a recording came or went\n");
		abort();
	}
	free(parts.bytes);
	return 0;
}
