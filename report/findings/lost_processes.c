// SPDX-License-Identifier: BSD-3-Clause
// Names the reason of each, and the first process that was killed.
#include "report/findings/lost_processes.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 64

static const char *const reasons[CRIT_END_COUNT] = {
	[CRIT_END_UNTOLD] = "its privileges changed",
	[CRIT_END_OTHER_USER] = "it runs as another user",
	[CRIT_END_PRIVILEGES] = "it has more privileges than its user",
	[CRIT_END_UNREADABLE] = "it may not be read (execute-only)",
};

static void find_expelled(struct crit_summary *summary, const struct crit_process_end_row *row)
{
	const bool is_launcher = row->role == CRIT_THREAD_LAUNCHER;

	crit_summary_add_missing(summary, !is_launcher, is_launcher ? "" : "sudo crit run -- ...",
				 "the kernel half of %.*s (process %u)%s and of its children: %s",
				 NAME_BYTES, row->name, row->pid,
				 is_launcher ? ", a launcher," : "", reasons[row->end]);
}

/* The first one is the cause, as a rule: the launcher kills the others. */
static void find_killed(struct crit_summary *summary, const struct crit_process_end_row *first,
			size_t count)
{
	char more[64] = "";

	if (count > 1)
		(void)snprintf(more, sizeof(more), "; after it %zu more", count - 1);
	crit_summary_add_missing(summary, true, "",
				 "the rank of process %u (%.*s): killed by signal %u (%s) before "
				 "its MPI_Init returned%s",
				 first->pid, NAME_BYTES, first->name, first->signal,
				 strsignal((int)first->signal), more);
}

void crit_lost_processes_find(struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	const struct crit_process_end_row *first = NULL;
	size_t killed = 0;

	for (size_t i = 0; i < results->end_count; i++) {
		const struct crit_process_end_row *row = &results->ends[i];

		if (row->end != CRIT_END_KILLED_IN_INIT) {
			find_expelled(summary, row);
			continue;
		}
		first = first ? first : row;
		killed++;
	}
	if (first)
		find_killed(summary, first, killed);
	if (results->ends_unlisted)
		crit_summary_add_missing(summary, true, "", "the kernel half of %llu more programs",
					 (unsigned long long)results->ends_unlisted);
}
