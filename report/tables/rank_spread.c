// SPDX-License-Identifier: BSD-3-Clause
// Sorts the ranks by useful time, and counts them in cells.
#include "report/tables/rank_spread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/efficiency.h"

struct useful_time {
	double seconds;
	size_t row; /* of ranks */
};

static int compare(const void *left, const void *right)
{
	const struct useful_time *a = left, *b = right;
	int order = (a->seconds > b->seconds) - (a->seconds < b->seconds);

	return order ? order : (a->row < b->row) - (a->row > b->row);
}

static void count_cells(const struct useful_time *times, size_t count,
			struct crit_rank_spread *spread)
{
	double range_s = spread->most_s - spread->least_s;

	for (size_t i = 0; i < count && spread->cells > 0; i++) {
		double part = range_s > 0 ? (times[i].seconds - spread->least_s) / range_s : 0;
		int cell = (int)(part * spread->cells);

		spread->counts[cell < spread->cells ? cell : spread->cells - 1]++;
	}
}

int crit_rank_spread_of(const struct crit_results *results, int cells,
			struct crit_rank_spread *ret_spread)
{
	size_t count = results->rank_count, last = count - 1;
	struct useful_time *times;

	if (!count)
		return -ENODATA;
	times = calloc(count, sizeof(*times));
	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct crit_usage usage;

		crit_usage_of(&results->ranks[i].cells, &usage);
		times[i] = (struct useful_time){ (double)usage.useful_ns * 1e-9, i };
	}
	qsort(times, count, sizeof(*times), compare);
	*ret_spread = (struct crit_rank_spread){
		.least_row = times[0].row,
		.most_row = times[last].row,
		.least_s = times[0].seconds,
		.quartiles_s = { times[last / 4].seconds, times[last / 2].seconds,
				 times[last - last / 4].seconds },
		.most_s = times[last].seconds,
		.cells = cells < CRIT_SPREAD_CELLS_MAX ? cells : CRIT_SPREAD_CELLS_MAX,
	};
	count_cells(times, count, ret_spread);
	free(times);
	return 0;
}

const char *crit_rank_spread_histogram(const struct crit_rank_spread *spread,
				       char text[CRIT_SPREAD_CELLS_MAX + 1])
{
	size_t most = 1;

	for (int i = 0; i < spread->cells; i++)
		most = spread->counts[i] > most ? spread->counts[i] : most;
	for (int i = 0; i < spread->cells; i++)
		text[i] = spread->counts[i] ? ".:+#"[(spread->counts[i] * 4 - 1) / most] : ' ';
	text[spread->cells > 0 ? spread->cells : 0] = '\0';
	return text;
}
