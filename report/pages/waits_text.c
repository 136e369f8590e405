// SPDX-License-Identifier: BSD-3-Clause
// Prints what waits cost, and who waited for whom.
#include "report/pages/waits_text.h"

#include "core/base/call.h"
#include "core/base/line.h"
#include "report/tables/labels.h"
#include "report/tables/cause_rows.h"

#define CALL_BYTES 192
#define WHAT_BYTES (2 * CALL_BYTES + 64)
#define WHO_BYTES 64
#define WITHOUT_CPU 0.05 /* of the time it computed: said from here on */
#define WORTH_A_LINE 20 /* of those who cost more than this part of all waiting */

static const char *who_text(const struct crit_results *results, const struct crit_who *who,
			    char text[WHO_BYTES])
{
	char rank[32];

	if (who->thread != CRIT_NONE)
		return crit_thread_label(results, who->thread, text, WHO_BYTES);
	if (who->rank == CRIT_NONE)
		return "nobody of the run";
	(void)snprintf(text, WHO_BYTES, "rank %s",
		       crit_rank_label(results, (int32_t)who->rank, rank, sizeof(rank)));
	return text;
}

/* "MPI_Recv exchange solver.c:42", "a block". */
static const char *call_text(uint16_t call, const struct crit_source_location *place,
			     char text[CALL_BYTES])
{
	char where[CALL_BYTES - 48];

	if (call == CRIT_CODE_BLOCKED)
		return "a block";
	if (call == CRIT_CODE_IDLE)
		return "idle time of OpenMP";
	if (!place->offset && !place->module)
		return crit_call_name(call);
	(void)snprintf(text, CALL_BYTES, "%.40s %s", crit_call_name(call),
		       crit_source_location_text(place, where, sizeof(where)));
	return text;
}

static const char *what_text(const struct crit_cause_row *row, char text[WHAT_BYTES])
{
	char before[CALL_BYTES], after[CALL_BYTES];

	if (row->is_outside)
		return "timers, devices, other programs";
	if (!row->has_place)
		return "";
	if (!row->before_call && !row->after_call)
		return "from its begin to its end";
	if (row->is_call)
		(void)snprintf(text, WHAT_BYTES, "in %s",
			       call_text(row->before_call, &row->before, before));
	else if (!row->before_call)
		(void)snprintf(text, WHAT_BYTES, "from its begin to %s",
			       call_text(row->after_call, &row->after, after));
	else if (!row->after_call)
		(void)snprintf(text, WHAT_BYTES, "from %s to its end",
			       call_text(row->before_call, &row->before, before));
	else
		(void)snprintf(text, WHAT_BYTES, "between %s and %s",
			       call_text(row->before_call, &row->before, before),
			       call_text(row->after_call, &row->after, after));
	return text;
}

/* Whom a cost is not all to be held against. */
static void write_without_cpu(FILE *out, const struct crit_cause_table *table,
			      const struct crit_results *results, size_t rows_max)
{
	for (size_t i = 0; i < table->row_count && (!rows_max || i < rows_max); i++) {
		const struct crit_cause_row *row = &table->rows[i];
		bool is_first = row->without_cpu >= WITHOUT_CPU &&
				row->cost * WORTH_A_LINE > table->costs->waiting;
		char who[WHO_BYTES];

		for (size_t k = 0; k < i && is_first; k++)
			is_first = table->rows[k].who.rank != row->who.rank ||
				   table->rows[k].who.thread != row->who.thread;
		if (is_first)
			crit_line_print(out,
					"  %s had no CPU for %.0f%% of the time it computed: its "
					"cost is that as well\n",
					who_text(results, &row->who, who), 100 * row->without_cpu);
	}
}

static void write_causes(FILE *out, const struct crit_cause_table *table,
			 const struct crit_results *results, size_t rows_max)
{
	const double waiting = (double)table->costs->waiting;

	fputs("\nCauses: what the others waited for\n"
	      "  cost = time of all who waited for it, directly or through others; direct = of "
	      "these, of those who\n"
	      "  waited for it alone; path = on the critical path; in a call = data under way, "
	      "or no cause known\n"
	      "      cost s  share    direct s      path s  what\n",
	      out);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct crit_cause_row *row = &table->rows[i];
		char who[WHO_BYTES], room[WHAT_BYTES];
		const char *what = what_text(row, room);

		if (rows_max && i == rows_max) {
			fprintf(out, "  and %zu more; --all shows them\n", table->row_count - i);
			break;
		}
		crit_line_print(out, "%12.6f %5.1f%% %11.6f %11.6f  %s%s%s\n",
				1e-9 * (double)row->cost,
				waiting > 0 ? 100 * (double)row->cost / waiting : 0.0,
				1e-9 * (double)row->direct, 1e-9 * (double)row->path_ns,
				row->is_outside || row->who.rank != CRIT_NONE ||
						row->who.thread != CRIT_NONE
					? who_text(results, &row->who, who)
					: "all",
				*what ? ": " : "", what);
	}
}

static void write_pairs(FILE *out, const struct crit_cause_table *table,
			const struct crit_results *results, size_t rows_max)
{
	fputs("\nWho waits for whom\n"
	      "  waited = until it acted; self = of that, while it ran; impact = waited, by the "
	      "waiter and all behind it\n"
	      "    waited s      self s    impact s       waits  who\n",
	      out);
	for (size_t i = 0; i < table->pair_count; i++) {
		const struct crit_waiter_row *pair = &table->pairs[i];
		char from[WHO_BYTES], to[WHO_BYTES];

		if (rows_max && i == rows_max) {
			fprintf(out, "  and %zu more; --all shows them\n", table->pair_count - i);
			break;
		}
		crit_line_print(out, "%12.6f %11.6f %11.6f %11llu  %s for %s\n",
				1e-9 * (double)pair->raw_ns, 1e-9 * (double)pair->self_ns,
				1e-9 * (double)pair->impact, (unsigned long long)pair->count,
				who_text(results, &pair->from, from),
				who_text(results, &pair->to, to));
	}
}

void crit_waits_text_write(FILE *out, const struct crit_cause_table *table,
			   const struct crit_results *results, size_t rows_max)
{
	const struct crit_costs *costs = table->costs;

	fprintf(out, "crit waits: %llu waits, %.6f s in a window of %.6f s\n",
		(unsigned long long)costs->wait_count, 1e-9 * (double)costs->waiting,
		1e-9 * (double)costs->window_ns);
	if (costs->cycle_count)
		fprintf(out, "  %llu waits went round in circles and were cut: unknown\n",
			(unsigned long long)costs->cycle_count);
	write_causes(out, table, results, rows_max);
	write_without_cpu(out, table, results, rows_max);
	if (table->pair_count)
		write_pairs(out, table, results, rows_max);
}
