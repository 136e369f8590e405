// SPDX-License-Identifier: BSD-3-Clause
// Names the code of each bucket, and adds up what one unit has under one name.
#include "report/fixes/code_times.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "report/tables/location_fit.h"

#define CALL_BYTES 320

struct named_bucket { /* a bucket */
	struct crit_code_time time;
	uint32_t bucket;
};

int crit_code_time_compare(const struct crit_code_time *left, const struct crit_code_time *right)
{
	int order = crit_by_number(left->unit, right->unit);

	return order ? order : strcmp(left->name, right->name);
}

static int compare_named(const void *a, const void *b)
{
	const struct named_bucket *left = a, *right = b;
	int order = crit_code_time_compare(&left->time, &right->time);

	return order ? order : crit_by_number(left->bucket, right->bucket);
}

/* "MPI_Send exchange solver.c", "65535 203" of a block in a system call. */
static void write_call(const struct crit_code_end *end, char text[CALL_BYTES])
{
	const struct crit_source_location *place = &end->place;

	if (place->function)
		(void)snprintf(text, CALL_BYTES, "%u %.256s %.40s", end->call, place->function,
			       place->file ? crit_file_name(place->file) : "");
	else
		(void)snprintf(text, CALL_BYTES, "%u %.256s %" PRIu64, end->call,
			       place->module ? crit_file_name(place->module) : "", place->offset);
}

static char *name_of(const struct crit_code_place *place)
{
	char before[CALL_BYTES], after[CALL_BYTES], *name;

	write_call(place->before, before);
	write_call(place->after, after);
	return asprintf(&name, "%s, %s", before, after) < 0 ? NULL : name;
}

/* Fills the rows; takes the names of the named, which are sorted. */
static void join(struct crit_code_times *times, struct named_bucket *named, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct crit_code_time *time = &named[i].time;
		struct crit_code_time *last = times->count ? &times->rows[times->count - 1] : NULL;

		if (last && crit_code_time_compare(last, time) == 0) {
			last->ns += time->ns;
			free(time->name);
		} else {
			times->rows[times->count++] = *time;
		}
		times->bucket_rows[named[i].bucket] = (uint32_t)times->count - 1;
		times->ns += time->ns;
	}
}

static int64_t unit_of(const struct crit_results *results, const struct crit_who *who)
{
	return who->rank != CRIT_NONE ? results->ranks[who->rank].rank : (int64_t)who->thread;
}

/* Errors: -ENOMEM; what was named so far is among the named. */
static int name_buckets(const struct crit_fix_input *input, const struct crit_fix_sites *sites,
			struct named_bucket *named, size_t *ret_count)
{
	for (size_t i = 0; i < sites->part_count; i++) {
		const struct crit_fix_part *part = &sites->parts[i];
		struct named_bucket *bucket = &named[*ret_count];

		bucket->bucket = part->bucket;
		bucket->time = (struct crit_code_time){
			.unit = unit_of(input->results, &part->who),
			.name = name_of(sites->rows[part->site].place),
			.ns = (double)input->run->bucket_ns[part->bucket],
		};
		if (!bucket->time.name)
			return -ENOMEM;
		(*ret_count)++;
	}
	return 0;
}

int crit_code_times_make(const struct crit_fix_input *input, struct crit_code_times *ret_times)
{
	const size_t bucket_count = input->costs->bucket_count;
	struct crit_fix_sites sites = { 0 };
	struct named_bucket *named = NULL;
	size_t count = 0;
	int rc;

	rc = crit_fix_sites_make_calls(input, &sites);
	*ret_times = (struct crit_code_times){ 0 };
	if (!rc) {
		named = calloc(sites.part_count + 1, sizeof(*named));
		ret_times->rows = calloc(sites.part_count + 1, sizeof(*ret_times->rows));
		ret_times->bucket_rows = calloc(bucket_count + 1, sizeof(uint32_t));
		rc = named && ret_times->rows && ret_times->bucket_rows
			     ? name_buckets(input, &sites, named, &count)
			     : -ENOMEM;
	}
	if (!rc) {
		for (size_t i = 0; i < bucket_count; i++)
			ret_times->bucket_rows[i] = CRIT_NONE;
		qsort(named, count, sizeof(*named), compare_named);
		join(ret_times, named, count);
	}
	for (size_t i = 0; rc && i < count; i++)
		free(named[i].time.name);
	free(named);
	crit_fix_sites_fini(&sites);
	return rc;
}

void crit_code_times_fini(struct crit_code_times *times)
{
	for (size_t i = 0; i < times->count; i++)
		free(times->rows[i].name);
	free(times->rows);
	free(times->bucket_rows);
	*times = (struct crit_code_times){ 0 };
}
