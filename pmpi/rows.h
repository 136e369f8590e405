/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communication pattern of the presence check: ranks report to the first of their row, these to
 * rank 0.
 */
#ifndef CRIT_PMPI_ROWS_H
#define CRIT_PMPI_ROWS_H

#define CRIT_ROW_MIN 64 /* fewer ranks than this are one row */

/* Ranks of a row, such that there are no more rows than that. */
static inline int crit_row_width(int size)
{
	int width = CRIT_ROW_MIN;

	while (width < size / width)
		width *= 2;
	return width;
}

/* Who hears this rank; rank 0 reports to nobody. */
static inline int crit_row_hears(int rank, int width)
{
	return rank % width ? rank - rank % width : 0;
}

/* The rank that reports to this one as its i-th, from 0; -1: there are no more. */
static inline int crit_row_reports(int rank, int size, int width, int i)
{
	int other;

	if (rank % width)
		return -1;
	if (i < width - 1)
		other = rank + 1 + i;
	else
		other = rank ? size : (i - width + 2) * width;
	return other < size ? other : -1;
}

#endif
