// SPDX-License-Identifier: BSD-3-Clause
// Causes of waiting in words.
#include "report/causes/cause_words.h"

#include <stdio.h>
#include <string.h>

#include "analysis/symbols/system_calls.h"
#include "analysis/waits/code_keys.h"
#include "core/base/call.h"
#include "report/causes/cause_rows.h"
#include "report/causes/code_places.h"
#include "report/tables/labels.h"
#include "report/tables/location_fit.h"

#define CALL_BYTES 192
#define PLACE_COLUMNS 64
#define REGION_BYTES (CRIT_CAUSE_WHO_BYTES - CRIT_CAUSE_UNIT_BYTES)

/* "MPI_Recv exchange solver.c:42", "a block". */
static const char *call_text(uint16_t call, const struct crit_source_location *place,
			     char text[CALL_BYTES])
{
	char where[CALL_BYTES - 48], inner[CALL_BYTES];

	if (call == CRIT_CODE_BLOCKED) {
		const char *name = crit_system_call_name((int)place->offset - 1);

		(void)snprintf(text, CALL_BYTES, "a block%s%s", name ? " in " : "",
			       name ? name : "");
		return text;
	}
	if (call == CRIT_CODE_IDLE)
		return "idle time of OpenMP";
	if (call == CRIT_CODE_LOCK)
		return "the handover of a lock";
	if (crit_code_is_phase(call)) {
		(void)snprintf(text, CALL_BYTES, "%sphase %s",
			       call == CRIT_CODE_PHASE_END ? "the end of " : "", place->function);
		return text;
	}
	if (call == CRIT_CODE_REGION_END) {
		(void)snprintf(text, CALL_BYTES, "the end of %s",
			       call_text(CRIT_CONSTRUCT_PARALLEL, place, inner));
		return text;
	}
	if (!place->offset && !place->module)
		return crit_call_name(call);
	(void)snprintf(text, CALL_BYTES, "%.40s %s", crit_call_name(call),
		       crit_location_fit(place, PLACE_COLUMNS, where, sizeof(where)));
	return text;
}

/* "rank 3", wherever it is. */
static const char *write_unit(const struct crit_results *results, const struct crit_who *who,
			      char text[CRIT_CAUSE_UNIT_BYTES])
{
	char rank[32], lock[24] = "locks";

	if (who->lock && who->lock != CRIT_WHO_LOCKS)
		(void)snprintf(lock, sizeof(lock), "lock %u", who->lock);
	if (who->lock) {
		(void)snprintf(text, CRIT_CAUSE_UNIT_BYTES, "%s%s%s", lock,
			       who->rank == CRIT_NONE ? "" : " of rank ",
			       who->rank == CRIT_NONE ? ""
						      : crit_rank_label(results, (int32_t)who->rank,
									rank, sizeof(rank)));
		return text;
	}
	if (who->is_name) {
		(void)snprintf(text, CRIT_CAUSE_UNIT_BYTES, "threads %.*s", CRIT_COMM_BYTES,
			       results->threads[who->thread].name);
		return text;
	}
	if (who->thread != CRIT_NONE)
		return crit_thread_label(results, who->thread, text, CRIT_CAUSE_UNIT_BYTES);
	if (who->rank == CRIT_NONE)
		return "nobody of the run";
	(void)snprintf(text, CRIT_CAUSE_UNIT_BYTES, "rank %s",
		       crit_rank_label(results, (int32_t)who->rank, rank, sizeof(rank)));
	return text;
}

/* "in phase solve", "outside all regions". */
static const char *write_region(uint16_t call, const struct crit_source_location *place,
				char text[REGION_BYTES])
{
	char room[CALL_BYTES];

	if (!call)
		return "outside all regions";
	(void)snprintf(text, REGION_BYTES, "in %s", call_text(call, place, room));
	return text;
}

const char *crit_cause_who(const struct crit_results *results, const struct crit_who *who,
			   char text[CRIT_CAUSE_WHO_BYTES])
{
	char unit[CRIT_CAUSE_UNIT_BYTES], region[REGION_BYTES];
	const char *name = write_unit(results, who, unit);

	if (who->region)
		(void)snprintf(text, CRIT_CAUSE_WHO_BYTES, "%s %s", name,
			       write_region(who->region->call, &who->region->place, region));
	else
		(void)snprintf(text, CRIT_CAUSE_WHO_BYTES, "%s", name);
	return text;
}

/* "in smooth (solver.c)". */
static void write_function(const struct crit_source_location *place,
			   char text[CRIT_CAUSE_WHAT_BYTES])
{
	char bare[256], fitted[CALL_BYTES];
	const char *file = place->file ? place->file : place->module ? place->module : "";

	(void)crit_name_scoped(place->function, bare, sizeof(bare));
	(void)snprintf(text, CRIT_CAUSE_WHAT_BYTES, "in %s (%.64s)",
		       crit_name_fit(bare, PLACE_COLUMNS, fitted, sizeof(fitted)),
		       crit_file_name(file));
}

/* A loop of one call. */
static bool is_same_call(const struct crit_code_place *place)
{
	return place->before == place->after;
}

/* From the begin of a phase, or a parallel region, to its end. */
static bool is_whole(const struct crit_code_place *place)
{
	const struct crit_code_end *before = place->before, *after = place->after;

	if (before->call == CRIT_CONSTRUCT_PHASE && after->call == CRIT_CODE_PHASE_END)
		return strcmp(before->place.function, after->place.function) == 0;
	return before->call == CRIT_CONSTRUCT_PARALLEL && after->call == CRIT_CODE_REGION_END &&
	       crit_source_location_compare(&before->place, &after->place) == 0;
}

static const char *end_text(const struct crit_code_end *end, char text[CALL_BYTES])
{
	return call_text(end->call, &end->place, text);
}

const char *crit_code_place_text(const struct crit_code_place *place,
				 char text[CRIT_CAUSE_WHAT_BYTES])
{
	char before[CALL_BYTES], after[CALL_BYTES];

	if (place->before->is_function) {
		write_function(&place->before->place, text);
		return text;
	}
	if (place->is_region)
		return write_region(place->before->call, &place->before->place, text);
	if (!place->before->call && !place->after->call)
		return "from its begin to its end";
	if (place->is_call)
		(void)snprintf(text, CRIT_CAUSE_WHAT_BYTES, "in %s",
			       end_text(place->before, before));
	else if (is_whole(place))
		(void)snprintf(text, CRIT_CAUSE_WHAT_BYTES, "from begin to end of %s",
			       end_text(place->before, before));
	else if (!place->before->call)
		(void)snprintf(text, CRIT_CAUSE_WHAT_BYTES, "from its begin to %s",
			       end_text(place->after, after));
	else if (!place->after->call)
		(void)snprintf(text, CRIT_CAUSE_WHAT_BYTES, "from %s to its end",
			       end_text(place->before, before));
	else
		(void)snprintf(text, CRIT_CAUSE_WHAT_BYTES, "between %s and %s",
			       end_text(place->before, before),
			       is_same_call(place) ? "the next" : end_text(place->after, after));
	return text;
}

/* "a timer, device or other program that ends MPI_Recv solver.c:42". */
static const char *outside_text(const struct crit_code_place *place,
				char text[CRIT_CAUSE_WHAT_BYTES])
{
	char ended[CALL_BYTES];

	if (!place || !place->before->call)
		return "timers, devices, other programs";
	(void)snprintf(text, CRIT_CAUSE_WHAT_BYTES, "a timer, device or other program that ends %s",
		       end_text(place->before, ended));
	return text;
}

static const char *code_text(const struct crit_cause_row *row, char text[CRIT_CAUSE_WHAT_BYTES])
{
	if (row->is_outside)
		return outside_text(row->place, text);
	if (row->is_cpu)
		return "wants a CPU and has none";
	return row->place ? crit_code_place_text(row->place, text) : "";
}

const char *crit_cause_what(const struct crit_cause_row *row, char text[CRIT_CAUSE_WHAT_BYTES])
{
	char room[CRIT_CAUSE_WHAT_BYTES];
	const char *where;

	if (!row->is_blocked)
		return code_text(row, text);
	where = code_text(row, room);
	(void)snprintf(text, CRIT_CAUSE_WHAT_BYTES, "blocked %.*s", CRIT_CAUSE_WHAT_BYTES - 16,
		       *where ? where : "outside of calls");
	return text;
}

const char *crit_cause_text(const struct crit_results *results, const struct crit_cause_row *row,
			    char text[CRIT_CAUSE_BYTES])
{
	const bool is_all = !row->is_outside && row->who.rank == CRIT_NONE &&
			    row->who.thread == CRIT_NONE && !row->who.lock;
	char who[CRIT_CAUSE_UNIT_BYTES], room[CRIT_CAUSE_WHAT_BYTES];
	const char *what = crit_cause_what(row, room);

	(void)snprintf(text, CRIT_CAUSE_BYTES, "%s%s%s",
		       is_all ? "all" : write_unit(results, &row->who, who), *what ? ": " : "",
		       what);
	return text;
}

void crit_cause_cut_write(FILE *out, const struct crit_cause_table *table)
{
	if (!table->cut_count)
		return;
	fprintf(out,
		"  delay is less certain: at %llu of %llu meetings and messages that somebody "
		"waited "
		"for only a part is known of\n"
		"  what they did since the last one\n",
		(unsigned long long)table->cut_count, (unsigned long long)table->met_count);
}

const char *crit_late_text(const struct crit_results *results, const struct crit_late_row *row,
			   char text[CRIT_LATE_BYTES])
{
	char waiter[CRIT_CAUSE_BYTES], actor[CRIT_CAUSE_BYTES], bound[CRIT_CAUSE_BOUND_BYTES] = "";

	if (row->clock_bound_ns == CRIT_CLOCK_UNBOUND)
		(void)snprintf(bound, sizeof(bound), " (clocks not compared)");
	else if (row->clock_bound_ns)
		(void)snprintf(bound, sizeof(bound), " (+- %.6f)",
			       1e-9 * (double)row->clock_bound_ns);
	(void)snprintf(text, CRIT_LATE_BYTES, "%s, for %s%s",
		       crit_cause_text(results, &row->waiter, waiter),
		       crit_cause_text(results, &row->actor, actor), bound);
	return text;
}
