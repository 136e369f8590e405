// SPDX-License-Identifier: BSD-3-Clause
/* Turns return addresses into places in files by the memory maps critd recorded. */
#include "cli/sites.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/recording.h"
#include "core/cleanup.h"

#define MAPS_MAX (1u << 20)
#define LOW_BYTES (1ull << 32) /* what is loaded below is not position-independent */

struct crit_site_map {
	uint32_t node;
	uint32_t pid;
	uint64_t begin;
	uint64_t end;
	uint64_t base; /* where the file begins in memory */
	char *path;
};

/* The parts of one file follow each other; the first one gives the base. */
static int add_line(struct crit_sites *sites, uint32_t node, uint32_t pid, const char *line,
		    struct crit_site_map *last)
{
	struct crit_site_map map = { .node = node, .pid = pid };
	struct crit_site_map *grown;
	char permissions[5] = "";
	int path_at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*s %*u %n", &map.begin, &map.end,
		   permissions, &path_at) < 3 ||
	    path_at == 0 || line[path_at] != '/')
		return 0;
	if (!last->path || strcmp(last->path, line + path_at) != 0) {
		free(last->path);
		last->path = strdup(line + path_at);
		last->base = map.begin;
		if (!last->path)
			return -ENOMEM;
	}
	if (permissions[2] != 'x' || sites->map_count >= MAPS_MAX)
		return 0;
	map.base = last->base < LOW_BYTES ? 0 : last->base;
	map.path = strdup(last->path);
	grown = realloc(sites->maps, (sites->map_count + 1) * sizeof(*grown));
	if (grown)
		sites->maps = grown;
	if (!grown || !map.path) {
		free(map.path);
		return -ENOMEM;
	}
	sites->maps[sites->map_count++] = map;
	return 0;
}

static int add_maps(struct crit_sites *sites, uint32_t node, char *text, size_t length)
{
	struct crit_rec_maps head;
	struct crit_site_map last = { 0 };
	char *rest = NULL;
	int status = 0;

	if (length < sizeof(head))
		return 0;
	memcpy(&head, text, sizeof(head));
	text[length] = '\0';
	for (char *line = strtok_r(text + sizeof(head), "\n", &rest); line && !status;
	     line = strtok_r(NULL, "\n", &rest))
		status = add_line(sites, node, head.pid, line, &last);
	free(last.path);
	return status;
}

static int read_maps(struct crit_sites *sites, const char *path, uint32_t node,
		     struct crit_err *err)
{
	struct crit_recording *recording = NULL;
	crit_autofree char *text = malloc(CRIT_CHUNK_PAYLOAD_MAX + 1);
	int status = text ? crit_recording_open(path, &recording, err) : -ENOMEM;

	for (size_t i = 0; !status && i < recording->ref_count; i++) {
		const struct crit_chunk_ref *ref = &recording->refs[i];
		ssize_t length;

		if (ref->kind != CRIT_C_MAPS || ref->length > CRIT_CHUNK_PAYLOAD_MAX)
			continue;
		length = crit_recording_read(recording, ref, 0, text, ref->length);
		if (length > 0)
			status = add_maps(sites, node, text, (size_t)length);
	}
	if (recording)
		crit_recording_close(recording);
	return status;
}

static int compare_map(const void *a, const void *b)
{
	const struct crit_site_map *left = a;
	const struct crit_site_map *right = b;

	if (left->node != right->node)
		return left->node < right->node ? -1 : 1;
	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	return (left->begin > right->begin) - (left->begin < right->begin);
}

const char *crit_sites_find(const struct crit_sites *sites, const struct crit_call_row *site,
			    uint64_t *ret_offset)
{
	const struct crit_site_map key = { .node = site->node,
					   .pid = site->pid,
					   .begin = site->site };
	const struct crit_site_map *map;
	size_t low = 0;
	size_t high = sites->map_count;

	*ret_offset = site->site;
	while (low < high) { /* the first map that begins above the address */
		size_t middle = low + (high - low) / 2;

		if (compare_map(&sites->maps[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	map = low ? &sites->maps[low - 1] : NULL;
	if (!map || map->node != site->node || map->pid != site->pid || site->site >= map->end)
		return NULL;
	*ret_offset = site->site - map->base;
	return map->path;
}

static crit_fix weight_of(const struct crit_site_row *row)
{
	return row->stall + ((crit_fix)row->waiting_ns << 64);
}

static int compare_place(const void *a, const void *b)
{
	const struct crit_site_row *left = a;
	const struct crit_site_row *right = b;
	int order = strcmp(left->module ? left->module : "", right->module ? right->module : "");

	if (!order)
		order = (left->offset > right->offset) - (left->offset < right->offset);
	return order ? order : (left->call > right->call) - (left->call < right->call);
}

static int compare_weight(const void *a, const void *b)
{
	crit_fix left = weight_of(a);
	crit_fix right = weight_of(b);

	return left < right ? 1 : left > right ? -1 : compare_place(a, b);
}

static void join(struct crit_site_row *into, const struct crit_site_row *row)
{
	into->process_count += row->process_count;
	into->visits += row->visits;
	into->time_ns += row->time_ns;
	into->wait_ns += row->wait_ns;
	into->stall += row->stall;
	into->waiting_ns += row->waiting_ns;
}

static void merge(struct crit_sites *sites)
{
	size_t used = 0;

	qsort(sites->rows, sites->row_count, sizeof(*sites->rows), compare_place);
	for (size_t i = 0; i < sites->row_count; i++) {
		bool is_same = used && sites->rows[i].module &&
			       compare_place(&sites->rows[used - 1], &sites->rows[i]) == 0;

		if (is_same)
			join(&sites->rows[used - 1], &sites->rows[i]);
		else
			sites->rows[used++] = sites->rows[i];
	}
	sites->row_count = used;
	qsort(sites->rows, sites->row_count, sizeof(*sites->rows), compare_weight);
}

int crit_sites_init(struct crit_sites *sites, const char *const *paths, size_t path_count,
		    const struct crit_results *results, struct crit_err *err)
{
	int status = 0;

	memset(sites, 0, sizeof(*sites));
	for (size_t i = 0; i < path_count && results->site_count && !status; i++)
		status = read_maps(sites, paths[i], (uint32_t)i, err);
	if (!status && results->site_count)
		sites->rows = calloc(results->site_count, sizeof(*sites->rows));
	if (!status && results->site_count && !sites->rows)
		status = -ENOMEM;
	if (status) {
		crit_sites_fini(sites);
		return status;
	}
	if (sites->map_count)
		qsort(sites->maps, sites->map_count, sizeof(*sites->maps), compare_map);
	for (size_t i = 0; i < results->site_count; i++) {
		const struct crit_call_row *site = &results->sites[i];
		struct crit_site_row *row = &sites->rows[sites->row_count++];

		row->call = site->call;
		row->module = crit_sites_find(sites, site, &row->offset);
		row->process_count = 1;
		row->visits = site->visits;
		row->time_ns = site->time_ns;
		row->wait_ns = site->wait_ns;
		row->stall = site->run.stall[CRIT_UNIT_THREADS];
		row->waiting_ns = site->run.waiting_ns;
	}
	if (sites->row_count)
		merge(sites);
	return 0;
}

void crit_sites_fini(struct crit_sites *sites)
{
	for (size_t i = 0; i < sites->map_count; i++)
		free(sites->maps[i].path);
	free(sites->maps);
	free(sites->rows);
	memset(sites, 0, sizeof(*sites));
}

const char *crit_site_text(const char *module, uint64_t offset, char *text, size_t text_bytes)
{
	const char *slash = module ? strrchr(module, '/') : NULL;
	char place[24];
	int room;

	(void)snprintf(place, sizeof(place), "%#" PRIx64, offset);
	room = (int)text_bytes - (int)strlen(place) - 2;
	if (module && room > 0)
		(void)snprintf(text, text_bytes, "%.*s+%s", room, slash ? slash + 1 : module,
			       place);
	else
		(void)snprintf(text, text_bytes, "%s", place);
	return text;
}
