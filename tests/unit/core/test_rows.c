// SPDX-License-Identifier: BSD-3-Clause
// The presence check of ranks: each reports to one that expects it, in two steps to rank 0, and
// nobody hears too many.
#include "pmpi/rows.h"

#include "tests/lib/check.h"

static void check_size(int size, int most)
{
	const int width = crit_row_width(size);
	int *heard = calloc((size_t)size, sizeof(*heard));

	CHECK_CASE("%d ranks", size);
	for (int rank = 0; heard && rank < size; rank++) {
		int other, count = 0;

		while ((other = crit_row_reports(rank, size, width, count)) >= 0) {
			CHECK(other > rank && other < size);
			CHECK_INT_EQ(crit_row_hears(other, width), rank);
			heard[other]++;
			count++;
		}
		CHECK(count <= most);
		CHECK_INT_EQ(crit_row_hears(crit_row_hears(rank, width), width), 0);
	}
	for (int rank = 0; heard && rank < size; rank++)
		CHECK_INT_EQ(heard[rank], rank > 0);
	free(heard);
}

int main(void)
{
	for (int size = 1; size < 400; size++)
		check_size(size, size < 129 ? size - 1 : 126);
	check_size(4096, 126);
	check_size(4097, 254);
	check_size(131072, 1022);
	CHECK_INT_EQ(crit_row_width(1 << 30), 1 << 15);
	return check_done();
}
