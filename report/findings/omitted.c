// SPDX-License-Identifier: BSD-3-Clause
// What the user left out of the recording, and ranks that are not in it for another reason.
#include "report/findings/omitted.h"

#include <stdio.h>
#include <string.h>

#include "report/tables/labels.h"
#include "core/base/call.h"

/* "rma, io": the groups of calls that are off, of these only those that may wait. */
static bool name_groups(const struct crit_results *results, bool is_waiting_only, char *ret_text,
			size_t size)
{
	size_t length = 0;

	*ret_text = '\0';
	for (unsigned int group = 1; group < CRIT_GROUP_COUNT; group++) {
		int added;

		if (!(results->omitted >> group & 1) ||
		    (is_waiting_only && !crit_group_may_wait(group)))
			continue;
		added = snprintf(ret_text + length, size - length, "%s%s", length ? ", " : "",
				 crit_group_name(group));
		length += added > 0 && (size_t)added < size - length ? (size_t)added : 0;
	}
	return length > 0;
}

static void find_calls(struct crit_summary *summary)
{
	char all[CRIT_SENTENCE_BYTES / 4], waiting[CRIT_SENTENCE_BYTES / 4];

	if (!name_groups(summary->results, false, all, sizeof(all)))
		return;
	if (name_groups(summary->results, true, waiting, sizeof(waiting)))
		crit_summary_add_missing(
			summary, false, "unset CRIT_CALLS",
			"all waits in calls of the groups %s, which CRIT_CALLS leaves out: they "
			"count as work, and make CMetric and the verdict wrong",
			waiting);
	crit_summary_add_missing(
		summary, false, "",
		"all calls of the groups %s, which CRIT_CALLS leaves out: they count as user time",
		all);
}

/* Ranks of world_number that the recordings hold; ret_size: how many it has. */
static size_t count_world(const struct crit_results *results, size_t first, uint32_t *ret_size)
{
	const struct crit_rank_row *ranks = results->ranks;
	size_t count = 0;

	*ret_size = 0;
	for (size_t i = first;
	     i < results->rank_count && ranks[i].world_number == ranks[first].world_number; i++) {
		count += i == first || ranks[i].rank != ranks[i - 1].rank;
		if (ranks[i].world_size > *ret_size)
			*ret_size = ranks[i].world_size;
	}
	return count;
}

static void find_ranks(struct crit_summary *summary, bool is_live)
{
	const struct crit_results *results = summary->results;
	const bool is_wanted = results->omitted & CRIT_OMITS_PROGRAMS;
	size_t missing = 0;
	size_t all = 0;

	for (size_t i = 0; i < results->rank_count; i++) {
		uint32_t size;
		size_t count;

		if (i && results->ranks[i].world_number == results->ranks[i - 1].world_number)
			continue;
		count = count_world(results, i, &size);
		missing += size > count ? size - count : 0;
		all += size > count ? size : count;
	}
	if (is_live) { /* the others may still come */
		summary->is_provisional |= missing != 0;
		return;
	}
	summary->ranks_missing = missing;
	if (missing)
		crit_summary_add_missing(
			summary, !is_wanted, "",
			"%zu of %zu ranks, %s: time in which only they work counts as all-waiting "
			"time",
			missing, all,
			is_wanted ? "left out by CRIT_INCLUDE or CRIT_EXCLUDE"
				  : "not recorded, or on a node whose recording is not here");
}

static bool has_node(const struct crit_results *results, const char *host)
{
	for (size_t i = 0; i < results->node_count; i++)
		if (strcmp(results->nodes[i].host, host) == 0)
			return true;
	return false;
}

/* Nodes a world ran on whose recordings are not among those that were read. */
static void find_nodes(struct crit_summary *summary, bool is_live)
{
	const struct crit_hosts *hosts = &summary->results->hosts;

	for (size_t i = 0; i < hosts->count; i++) {
		if (has_node(summary->results, hosts->names[i]))
			continue;
		summary->is_provisional |= is_live;
		crit_summary_add_missing(summary, true, "crit gather DIRECTORY RECORDING",
					 "node %s: its recording is not here", hosts->names[i]);
	}
}

/* Who ended the run by itself, wherever the launcher's signals came first.  False: nobody. */
static bool describe_abort(const struct crit_results *results, char *text, size_t size)
{
	const struct crit_rank_row *first = NULL;
	char name[32], others[48] = "";
	size_t count = 0;

	for (size_t i = 0; i < results->rank_call_count; i++) {
		const struct crit_rank_call_row *row = &results->rank_calls[i];

		if (row->call != CRIT_MPI_Abort || !results->ranks[row->rank_row].is_open)
			continue;
		first = first ? first : &results->ranks[row->rank_row];
		count++;
	}
	if (!first)
		return false;
	if (count > 1)
		(void)snprintf(others, sizeof(others), ", and %zu other%s,", count - 1,
			       count == 2 ? "" : "s");
	(void)snprintf(text, size, "; rank %s (%s)%s called MPI_Abort",
		       crit_rank_label(results, (int32_t)(first - results->ranks), name,
				       sizeof(name)),
		       first->program, others);
	return true;
}

/* Before MPI_Finalize, and how is known: perf events do not tell. */
static bool is_seen_to_end(const struct crit_results *results, const struct crit_rank_row *rank)
{
	return rank->is_open && rank->exit_ns &&
	       results->nodes[rank->node].kernel_half == CRIT_HALF_BPF;
}

/* The first to end is the cause, as a rule: the launcher kills the others. */
static void describe_end(const struct crit_results *results, char *text, size_t size)
{
	const struct crit_rank_row *first = NULL;
	char name[32], how[96];

	for (size_t i = 0; i < results->rank_count; i++) {
		const struct crit_rank_row *rank = &results->ranks[i];

		if (is_seen_to_end(results, rank) && (!first || rank->exit_ns < first->exit_ns))
			first = rank;
	}
	if (!first)
		return;
	if (first->exit_signal)
		(void)snprintf(how, sizeof(how), "killed by signal %u (%s)", first->exit_signal,
			       strsignal((int)first->exit_signal));
	else
		(void)snprintf(how, sizeof(how), "by itself, with status %u", first->exit_status);
	(void)snprintf(text, size, "; first rank %s (%s), %s",
		       crit_rank_label(results, (int32_t)(first - results->ranks), name,
				       sizeof(name)),
		       first->program, how);
}

/* Killed, aborted or out of time: all until then is there. */
static void find_unclosed(struct crit_summary *summary, bool is_live)
{
	const struct crit_results *results = summary->results;
	char cause[CRIT_SENTENCE_BYTES / 2] = "";
	size_t count = 0;

	for (size_t i = 0; i < results->rank_count; i++)
		count += results->ranks[i].is_open;
	if (!describe_abort(results, cause, sizeof(cause)))
		describe_end(results, cause, sizeof(cause));
	summary->is_provisional |= is_live && count;
	if (count && !is_live)
		crit_summary_add_missing(summary, false, "",
					 "the end of %zu of %zu ranks: they ended before "
					 "MPI_Finalize%s",
					 count, results->rank_count, cause);
}

void crit_omitted_find(struct crit_summary *summary, bool is_live)
{
	find_calls(summary);
	find_nodes(summary, is_live);
	find_ranks(summary, is_live);
	find_unclosed(summary, is_live);
}
