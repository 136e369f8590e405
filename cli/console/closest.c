// SPDX-License-Identifier: BSD-3-Clause
// Edit distance with swaps of neighbours (optimal string alignment), for names of a few letters.
#include "cli/console/closest.h"

#include <stdint.h>
#include <string.h>

#define LENGTH_MAX 32

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t crit_closest_distance(const char *left, const char *right)
{
	size_t rows[LENGTH_MAX + 1][LENGTH_MAX + 1];
	size_t m = strlen(left), n = strlen(right);

	if (m > LENGTH_MAX || n > LENGTH_MAX)
		return SIZE_MAX;
	for (size_t i = 0; i <= m; i++)
		rows[i][0] = i;
	for (size_t j = 0; j <= n; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= m; i++)
		for (size_t j = 1; j <= n; j++) {
			rows[i][j] = smaller(rows[i - 1][j] + 1, rows[i][j - 1] + 1);
			rows[i][j] = smaller(rows[i][j],
					     rows[i - 1][j - 1] + (left[i - 1] != right[j - 1]));
			if (i > 1 && j > 1 && left[i - 1] == right[j - 2] &&
			    left[i - 2] == right[j - 1])
				rows[i][j] = smaller(rows[i][j], rows[i - 2][j - 2] + 1);
		}
	return rows[m][n];
}

void crit_closest_init(struct crit_closest *closest, const char *wanted)
{
	size_t length = strlen(wanted);

	/* one fault in a short name, two in a longer one */
	*closest = (struct crit_closest){ .wanted = wanted,
					  .distance = length < 3   ? 1
						      : length < 6 ? 2
								   : 3 };
}

void crit_closest_try(struct crit_closest *closest, const char *name)
{
	size_t distance = crit_closest_distance(closest->wanted, name);

	if (distance >= closest->distance)
		return;
	closest->distance = distance;
	closest->name = name;
}
