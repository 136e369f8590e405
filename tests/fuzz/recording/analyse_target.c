// SPDX-License-Identifier: BSD-3-Clause
// Feeds arbitrary bytes to the analysis; whatever they are, the laws hold.  The last byte chooses:
// bit 0 leave checksums as they are, bit 1 the same bytes as two nodes, bits 2 and 3 the rule, bit
// 4 no sink, bit 5 the sink is told of everything, bit 6 the results are not written, bit 7 nobody
// listens to edges.
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/analyse.h"
#include "analysis/schema/event.h"
#include "core/base/err.h"
#include "tests/fuzz/repair.h"
#include "tests/fuzz/recording/strict_sink.h"
#include "tests/fuzz/recording/written.h"
#include "tests/lib/analysed.h"

static const char *put_into_memfd(const unsigned char *bytes, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, bytes, size, 0) != (ssize_t)size)
		abort();
	return path;
}

/* Keeps the largest row of a thread that an edge names. */
static int on_edge(void *user, const struct crit_event *event)
{
	const struct crit_edge *edge = event->edge;
	uint32_t *most = user;

	if (edge->waiter > *most)
		*most = edge->waiter;
	if (edge->cause > *most)
		*most = edge->cause;
	return 0;
}

static struct crit_listener edge_listener(uint32_t *most)
{
	struct crit_listener listener = { .user = most };

	for (int kind = CRIT_EDGE_NONE + 1; kind < CRIT_EDGE_KIND_COUNT; kind++)
		listener.on[CRIT_EVENT_EDGE + kind] = on_edge;
	return listener;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct crit_results *results = NULL;
	struct crit_analysis_options options;
	struct strict_sink strict;
	uint32_t most = 0;
	const struct crit_listener listener = edge_listener(&most);
	unsigned char choice = size ? data[size - 1] : 0;
	unsigned char *bytes = malloc(size + 1);
	const char *paths[2];
	const char *broken = NULL;
	struct crit_err err;

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	if (!(choice & 1))
		crit_repair(bytes, size);
	paths[0] = paths[1] = put_into_memfd(bytes, size);
	free(bytes);
	strict_sink_init(&strict, choice & 32);
	options = (struct crit_analysis_options){ .rule = (enum crit_active_rule)(choice >> 2 & 3),
						  .trace = choice & 16 ? NULL : &strict.sink,
						  .listener = choice & 128 ? NULL : &listener };
	if (crit_analyse(paths, choice & 2 ? 2 : 1, &options, &results, &err) == 0)
		broken = most && most >= results->thread_count
				 ? "an edge names no thread"
				 : crit_analysed_failed_check(results);
	if (results && !broken && !(choice & 64))
		written_check(results);
	crit_results_destroy(results);
	strict_sink_fini(&strict);
	if (broken) {
		fprintf(stderr, "broken: %s\n", broken);
		abort();
	}
	return 0;
}
