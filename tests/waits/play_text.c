// SPDX-License-Identifier: BSD-3-Clause
// crit-waits-play: plays films that stdin describes in words, and prints their costs.
//
// A film: "film BEGIN END THREADS LAST", then "part P" for each bucket, then its entries in
// the order in which they are written, then "play":
//   until TIME NODE BUCKET | wait TIME NODE KIND NUMBER | end TIME NODE KIND NUMBER |
//   cause TIME NODE NUMBER
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/backplay.h"
#include "core/base/cleanup.h"

#define BUCKETS_MAX 64

struct text_film {
	struct crit_film *film;
	struct crit_backplay_options options;
	uint8_t parts[BUCKETS_MAX];
};

static void print_costs(const struct crit_costs *costs)
{
	for (size_t i = 0; i <= costs->bucket_count; i++) {
		const struct crit_cost *row = &costs->buckets[i];

		printf("bucket %zu %" PRId64, i, (int64_t)row->direct);
		for (int part = 0; part < CRIT_PART_COUNT; part++)
			printf(" %" PRId64 " %" PRIu64, (int64_t)row->cost[part],
			       row->path_ns[part]);
		putchar('\n');
	}
	for (size_t i = 1; i < costs->edge_count; i++) {
		const struct crit_wait_edge *edge = &costs->edges[i];

		printf("edge %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRId64, edge->from,
		       edge->to, edge->count, edge->raw_ns, (int64_t)edge->impact);
		for (int part = 0; part < CRIT_PART_COUNT; part++)
			printf(" %" PRIu64, edge->part_ns[part]);
		putchar('\n');
	}
	printf("waits %" PRIu64 " %" PRId64 " %" PRIu64 "\ndone\n", costs->wait_count,
	       (int64_t)costs->waiting, costs->cycle_count);
}

static int play(struct text_film *text)
{
	struct crit_err err = { "" };
	struct crit_costs costs = { 0 };
	int rc = crit_film_finish(text->film, &err);

	if (!rc)
		rc = crit_backplay(text->film, &text->options, &costs, &err);
	if (!rc)
		rc = crit_costs_check(&costs, &err);
	if (rc)
		fprintf(stderr, "crit-waits-play: %s\n", err.text);
	else
		print_costs(&costs);
	crit_costs_fini(&costs);
	crit_film_destroy(text->film);
	text->film = NULL;
	return rc;
}

static int begin(struct text_film *text, const char *line, const char *directory)
{
	const struct crit_film_options options = { .directory = directory, .max_bytes = 1u << 30 };
	struct crit_err err = { "" };
	int rc;

	text->options =
		(struct crit_backplay_options){ .bucket_parts = text->parts, .edges_max = 100000 };
	if (sscanf(line, "film %" SCNu64 " %" SCNu64 " %zu %" SCNu32, &text->options.begin_ns,
		   &text->options.end_ns, &text->options.thread_count,
		   &text->options.last_thread) != 4)
		return -EINVAL;
	rc = crit_film_create(&options, &text->film, &err);
	if (rc)
		fprintf(stderr, "crit-waits-play: %s\n", err.text);
	return rc;
}

/* A line of an entry, by its first word. */
static int put(struct text_film *text, const char *line)
{
	struct crit_film_entry entry = { 0 };

	if (sscanf(line, "until %" SCNu64 " %" SCNu32 " %" SCNu32, &entry.time_ns, &entry.node,
		   &entry.number) == 3)
		entry.type = CRIT_FILM_UNTIL;
	else if (sscanf(line, "wait %" SCNu64 " %" SCNu32 " %" SCNu8 " %" SCNu32, &entry.time_ns,
			&entry.node, &entry.kind, &entry.number) == 4)
		entry.type = CRIT_FILM_WAIT;
	else if (sscanf(line, "end %" SCNu64 " %" SCNu32 " %" SCNu8 " %" SCNu32, &entry.time_ns,
			&entry.node, &entry.kind, &entry.number) == 4)
		entry.type = CRIT_FILM_END;
	else if (sscanf(line, "cause %" SCNu64 " %" SCNu32 " %" SCNu32, &entry.time_ns, &entry.node,
			&entry.number) == 3)
		entry.type = CRIT_FILM_CAUSE;
	else
		return -EINVAL;
	return crit_film_put(text->film, &entry, NULL);
}

static int take(struct text_film *text, const char *line, const char *directory)
{
	unsigned part;

	if (!strncmp(line, "film ", 5) && !text->film)
		return begin(text, line, directory);
	if (!text->film)
		return -EINVAL;
	if (sscanf(line, "part %u", &part) == 1 && text->options.bucket_count < BUCKETS_MAX) {
		text->parts[text->options.bucket_count++] = (uint8_t)part;
		return 0;
	}
	return strcmp(line, "play\n") ? put(text, line) : play(text);
}

int main(int argc, char **argv)
{
	struct text_film text = { 0 };
	crit_autofree char *line = NULL;
	size_t capacity = 0;
	int rc = 0;

	if (argc != 2) {
		fputs("usage: crit-waits-play DIRECTORY <films\n", stderr);
		return 2;
	}
	while (!rc && getline(&line, &capacity, stdin) > 0) {
		rc = take(&text, line, argv[1]);
		if (rc)
			fprintf(stderr, "crit-waits-play: %s: %s", strerror(-rc), line);
	}
	crit_film_destroy(text.film);
	return rc ? 1 : 0;
}
