// SPDX-License-Identifier: BSD-3-Clause
// Follows the callers of a function upward, where samples agree on them.
#include "report/findings/verdict_path.h"

#include <stdio.h>
#include <string.h>

#include "core/base/array.h"
#include "report/tables/location_fit.h"
#include "report/tables/thread_kinds.h"

#define FRAMES_MAX 3u
#define LEAST_SAMPLES 30u
#define STANDARD_ERRORS 2
#define NAME_BYTES 64
#define NAME_COLUMNS 24

struct chain { /* of a sample: innermost first, of whole names */
	const char *names[FRAMES_MAX];
	size_t count;
};

struct follower {
	const struct crit_summary *summary;
	const struct crit_verdict_place *place;
	struct chain agreed; /* so far */
	struct chain callers; /* the same without what is inlined at the line */
};

static bool is_first_frame(const char *function)
{
	return strcmp(function, "main") == 0 || strcmp(function, "MAIN__") == 0;
}

/* False: nothing is to follow. */
static bool push(struct chain *chain, const char *function)
{
	if (!function || chain->count == FRAMES_MAX)
		return false;
	chain->names[chain->count++] = function;
	return chain->count < FRAMES_MAX && !is_first_frame(function);
}

/* With what was inlined there, from level first on.  False: nothing is to follow. */
static bool push_place(struct chain *chain, const struct crit_source_location *place)
{
	if (!place->module || crit_thread_kinds_is_runtime(place->module))
		return false;
	if (!place->frame_count)
		return push(chain, place->function);
	for (uint32_t i = 0; i < place->frame_count; i++)
		if (!push(chain, place->frames[i].function))
			return false;
	return true;
}

static bool is_of_unit(const struct crit_summary *summary, size_t unit_row, uint32_t thread)
{
	return summary->unit == CRIT_UNIT_RANKS
		       ? summary->results->threads[thread].rank_row == (int32_t)unit_row
		       : thread == unit_row;
}

/* Is a sample in the function, itself or in what was inlined there? */
static bool is_in(const struct follower *follower, const struct crit_sample_row *row)
{
	const struct crit_region_finder *finder = &follower->summary->finder;
	const struct crit_thread_row *thread = &follower->summary->results->threads[row->thread];
	const struct crit_source_location *wanted = &follower->place->function->place;
	struct crit_source_location place = { 0 };
	const char *outer;

	if (!is_of_unit(follower->summary, follower->place->unit_row, row->thread))
		return false;
	finder->find(finder->user, thread->node, thread->pid, row->address, &place);
	outer = place.frame_count ? place.frames[place.frame_count - 1].function : place.function;
	return place.module && outer && strcmp(place.module, wanted->module) == 0 &&
	       strcmp(outer, wanted->function) == 0;
}

/* Who called it, by the path of a sample. */
static struct chain callers_of(const struct follower *follower, uint32_t path)
{
	const struct crit_sample_results *samples = &follower->summary->results->samples;
	const struct crit_region_finder *finder = &follower->summary->finder;
	struct chain chain = { .count = 0 };
	bool has_more = finder->find_in_file != NULL;

	for (; has_more && path >= CRIT_PATH_FIRST; path = samples->paths[path].parent) {
		const struct crit_path_row *row = &samples->paths[path];
		struct crit_source_location place = { 0 };

		if (row->file == CRIT_NONE)
			break;
		place.module = samples->path_files[row->file];
		finder->find_in_file(finder->user, place.module, row->offset, &place);
		has_more = push_place(&chain, &place);
	}
	return chain;
}

static bool begins_so(const struct chain *chain, const struct chain *with)
{
	for (size_t i = 0; i < with->count; i++)
		if (i >= chain->count || strcmp(chain->names[i], with->names[i]) != 0)
			return false;
	return true;
}

static void add(struct crit_hot_row *sum, const struct crit_sample_row *row)
{
	sum->cmetric += row->cmetric;
	sum->samples += row->count;
	for (uint32_t i = 0; i < CRIT_SAMPLE_BATCHES; i++)
		sum->batches_s[i] += (double)row->error_s[i];
	if (sum->one_sample_s < (double)row->one_sample_s)
		sum->one_sample_s = (double)row->one_sample_s;
}

/*
 * The next caller that most CMetric comes from, if one has more than half; "" a path that ends.
 * Source: Boyer and Moore's majority vote, by CMetric.
 */
static const char *majority_of(const struct follower *follower)
{
	const struct crit_sample_results *samples = &follower->summary->results->samples;
	const size_t depth = follower->callers.count;
	const char *candidate = "";
	crit_fix lead = 0;

	for (size_t i = 0; i < samples->row_count; i++) {
		const struct crit_sample_row *row = &samples->rows[i];
		const char *name = "";
		struct chain chain;

		if (!is_in(follower, row))
			continue;
		chain = callers_of(follower, row->path);
		if (begins_so(&chain, &follower->callers) && chain.count > depth)
			name = chain.names[depth];
		if (strcmp(name, candidate) == 0) {
			lead += row->cmetric;
		} else if (row->cmetric > lead) {
			lead = row->cmetric - lead;
			candidate = name;
		} else {
			lead -= row->cmetric;
		}
	}
	return candidate;
}

/* Does more than half of the function's CMetric come by these callers, beyond chance? */
static bool is_agreed(const struct follower *follower, const struct chain *callers)
{
	const struct crit_sample_results *samples = &follower->summary->results->samples;
	struct crit_hot_row sum = { 0 };
	double error_s;

	for (size_t i = 0; i < samples->row_count; i++) {
		const struct crit_sample_row *row = &samples->rows[i];
		struct chain chain;

		if (!is_in(follower, row))
			continue;
		chain = callers_of(follower, row->path);
		if (begins_so(&chain, callers))
			add(&sum, row);
	}
	error_s = crit_hot_error_s(&sum, 0, &sum, samples->batch_count);
	return sum.samples >= LEAST_SAMPLES &&
	       crit_fix_seconds(sum.cmetric) - STANDARD_ERRORS * error_s >
		       crit_fix_seconds(follower->place->function->cmetric) / 2;
}

/* One caller more.  False: nothing is to follow. */
static bool agree(struct follower *follower)
{
	struct chain callers = follower->callers;
	const char *caller = majority_of(follower);

	if (!*caller)
		return false;
	callers.names[callers.count++] = caller;
	if (!is_agreed(follower, &callers))
		return false;
	follower->callers = callers;
	return push(&follower->agreed, caller);
}

void crit_verdict_path(const struct crit_summary *summary, const struct crit_verdict_place *place,
		       char *text, size_t text_bytes)
{
	struct follower follower = { .summary = summary, .place = place };
	bool has_more;
	char name[NAME_BYTES], fit[NAME_BYTES];
	size_t used = 0;

	text[0] = '\0';
	if (!summary->finder.find)
		return;
	has_more = push_place(&follower.agreed,
			      place->line ? &place->line->place
					  : &(const struct crit_source_location){
						    .module = place->function->place.module,
						    .function = place->function->place.function });
	while (has_more)
		has_more = agree(&follower);
	if (follower.agreed.count < 2)
		return;
	for (size_t i = follower.agreed.count; i-- && used < text_bytes;)
		used += (size_t)snprintf(
			text + used, text_bytes - used, "%s%s%s",
			i + 1 == follower.agreed.count ? " (" : " > ",
			crit_name_fit(crit_name_bare(follower.agreed.names[i], name, sizeof(name)),
				      NAME_COLUMNS, fit, sizeof(fit)),
			i ? "" : ")");
}
