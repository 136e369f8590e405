// SPDX-License-Identifier: BSD-3-Clause
// Prints what waits cost, who waited for whom, and the knots of that.
#include "report/pages/waits_text.h"

#include "core/base/line.h"
#include "report/causes/cause_rows.h"
#include "report/causes/cause_words.h"
#include "report/fixes/fix_words.h"

#define MEMBERS_MAX 8 /* of a knot */
#define EXCESS_BYTES 24

static const char *excess_text(bool is_known, double ns, char text[EXCESS_BYTES])
{
	if (is_known)
		(void)snprintf(text, EXCESS_BYTES, "%11.6f", 1e-9 * ns);
	else
		(void)snprintf(text, EXCESS_BYTES, "%11s", "-");
	return text;
}

static void write_causes(FILE *out, const struct crit_cause_table *table,
			 const struct crit_results *results, size_t rows_max)
{
	fputs("\nCauses: what the others waited for\n"
	      "  cost = time of all who waited for it, directly or through others; direct = of "
	      "these, of those who\n"
	      "  waited for it alone; path = on the critical path; imbalance = of that, beyond "
	      "the mean time of that code;\n"
	      "  delay = beyond the mean of all who met, where they waited for it; in a call = "
	      "data under way, or no\n"
	      "  cause known\n"
	      "      cost s  share    direct s      path s imbalance s     delay s  what\n",
	      out);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct crit_cause_row *row = &table->rows[i];
		char what[CRIT_CAUSE_BYTES], imbalance[EXCESS_BYTES], delay[EXCESS_BYTES];

		if (rows_max && i == rows_max) {
			fprintf(out, "  and %zu more; --all shows them\n", table->row_count - i);
			break;
		}
		crit_line_print(out, "%12.6f %5.1f%% %11.6f %11.6f %s %s  %s\n",
				1e-9 * (double)row->cost, 100 * row->share,
				1e-9 * (double)row->direct, 1e-9 * (double)row->path_ns,
				excess_text(row->has_excess && !row->is_cpu, row->path_excess_ns,
					    imbalance),
				excess_text(row->has_delay, row->delay_ns, delay),
				crit_cause_text(results, row, what));
	}
	crit_cause_cut_write(out, table);
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
		char from[CRIT_CAUSE_WHO_BYTES], to[CRIT_CAUSE_WHO_BYTES];

		if (rows_max && i == rows_max) {
			fprintf(out, "  and %zu more; --all shows them\n", table->pair_count - i);
			break;
		}
		crit_line_print(out, "%12.6f %11.6f %11.6f %11llu  %s for %s\n",
				1e-9 * (double)pair->raw_ns, 1e-9 * (double)pair->self_ns,
				1e-9 * (double)pair->impact, (unsigned long long)pair->count,
				crit_cause_who(results, &pair->from, from),
				crit_cause_who(results, &pair->to, to));
	}
}

static void write_late_acts(FILE *out, const struct crit_cause_table *table,
			    const struct crit_results *results, size_t rows_max)
{
	if (!table->late_count)
		return;
	fputs("\nSingle acts that others waited for\n"
	      "  at = when it acted, from the window's begin; longest = how long the first of the "
	      "waiters waited until then\n"
	      "        at s    impact s   waiters   longest s  who waited longest, for whom\n",
	      out);
	for (size_t i = 0; i < table->late_count; i++) {
		const struct crit_late_row *row = &table->late_acts[i];
		char what[CRIT_LATE_BYTES];

		if (rows_max && i == rows_max / 2) {
			fprintf(out, "  and %zu more; --all shows them\n", table->late_count - i);
			break;
		}
		crit_line_print(out, "%12.6f %11.6f %9u %11.6f  %s\n", 1e-9 * (double)row->time_ns,
				1e-9 * (double)row->impact, row->waiters,
				1e-9 * (double)row->longest_ns, crit_late_text(results, row, what));
	}
}

/* "rank 0, rank 3", and how many more. */
static void write_members(FILE *out, const struct crit_wait_graph *graph,
			  const struct crit_results *results, size_t knot)
{
	size_t shown = 0;

	for (size_t v = 0; v < graph->vertex_count && shown < MEMBERS_MAX; v++) {
		char who[CRIT_CAUSE_WHO_BYTES];

		if (graph->vertices[v].knot == knot)
			crit_line_print(out, "%s%s", shown++ ? ", " : "",
					crit_cause_who(results, &graph->vertices[v].who, who));
	}
	if (shown < graph->knots.rows[knot].size)
		fprintf(out, " and %zu more", graph->knots.rows[knot].size - shown);
	(void)fputc('\n', out);
}

static void write_knot(FILE *out, const struct crit_wait_graph *graph,
		       const struct crit_results *results, size_t knot)
{
	const struct crit_knot *row = &graph->knots.rows[knot];

	if (row->is_component)
		fprintf(out,
			"  none of these %zu, which wait for each other, as cost and path tell: ",
			row->size);
	else
		fprintf(out, "%12.6f %11.6f  ", 1e-9 * (double)row->in_weight,
			1e-9 * (double)row->out_weight);
	write_members(out, graph, results, knot);
}

static void write_knots(FILE *out, const struct crit_wait_graph *graph,
			const struct crit_results *results, size_t rows_max)
{
	const struct crit_knots *knots = &graph->knots;
	const char *none = graph->heaviest_ns < graph->least_ns
				   ? "nobody waits so long for another one of the run"
				   : "who is waited for waits for the others as well";

	fprintf(out,
		"\nKnots: who the others wait for, and who waits little for them\n"
		"  in = impact of waiting for it; out = of its own for the others; each for one "
		"thread that waits\n"
		"  left out: pairs below %.6f s, and the least ones up to %.6f s as long as all "
		"wait for each other\n"
		"        in s       out s  who\n",
		1e-9 * (double)graph->least_ns, 1e-9 * (double)graph->most_ns);
	for (size_t i = 0; i < knots->count; i++) {
		if (rows_max && i == rows_max) {
			fprintf(out, "  and %zu more; --all shows them\n", knots->count - i);
			break;
		}
		write_knot(out, graph, results, i);
	}
	if (!knots->count)
		fprintf(out, "  none: %s\n", none);
}

void crit_waits_text_write(FILE *out, const struct crit_wait_graph *graph,
			   const struct crit_results *results, size_t rows_max)
{
	const struct crit_cause_table *table = graph->table;
	const struct crit_costs *costs = table->costs;

	fprintf(out, "crit waits: %llu waits, %.6f s in a window of %.6f s\n",
		(unsigned long long)costs->wait_count, 1e-9 * (double)costs->waiting,
		1e-9 * (double)costs->window_ns);
	if (costs->cycle_count)
		fprintf(out, "  %llu waits went round in circles and were cut: unknown\n",
			(unsigned long long)costs->cycle_count);
	crit_fix_causeless_write(out, costs);
	write_causes(out, table, results, rows_max);
	if (table->pair_count) {
		write_pairs(out, table, results, rows_max);
		write_late_acts(out, table, results, rows_max);
		write_knots(out, graph, results, rows_max);
	}
}
