// SPDX-License-Identifier: BSD-3-Clause
/* Regions, phases and preemptions in report.json. */
#include "report/formats/json.h"
#include "report/formats/region_writers.h"

static void set_sum(json_t *row, const struct crit_region_sum *sum)
{
	set_s(row, "cmetric_s", crit_fix_seconds(sum->run.cmetric[CRIT_UNIT_THREADS]));
	set_s(row, "stall_s", crit_fix_seconds(sum->run.stall[CRIT_UNIT_THREADS]));
	set_s(row, "waited_for_s", crit_fix_seconds(sum->run.waited_for));
	set_ns(row, "waiting_s", sum->run.waiting_ns);
	set_ns(row, "time_s", sum->time_ns);
	set_ns(row, "useful_s", sum->useful_ns);
	set_ns(row, "omp_wait_s", sum->omp_wait_ns);
	set_ns(row, "mpi_s", sum->mpi_ns);
}

json_t *crit_json_imbalance(const struct crit_imbalance *imbalance, const char *slowest)
{
	json_t *object = json_object();

	set_count(object, "count", imbalance->count);
	set_s(object, "max_s", imbalance->max_s);
	set_s(object, "mean_s", imbalance->mean_s);
	set_s(object, "percent", imbalance->percent);
	set_s(object, "variation_ratio", imbalance->variation_ratio);
	set_optional(object, "slowest", imbalance->slowest < 0 ? NULL : slowest);
	return object;
}

static void set_thread(json_t *row, const struct crit_results *results, size_t index)
{
	const struct crit_thread_row *thread = &results->threads[index];

	set_rank(row, "rank", results, thread->rank_row);
	SET_FIELD(row, "node", results->nodes[thread->node].host);
	set_count(row, "pid", thread->pid);
	set_count(row, "tid", thread->tid);
	SET_FIELD(row, "name", thread->name);
}

static json_t *threads_of(const struct crit_summary *summary, const struct crit_region_line *line)
{
	json_t *threads = json_array();

	for (size_t i = 0; i < line->share_count; i++) {
		const struct crit_region_share *share =
			&summary->regions.shares[line->first_share + i];
		json_t *row = json_object();

		set_thread(row, summary->results, share->thread);
		set_count(row, "visits", share->sum.visits);
		set_sum(row, &share->sum);
		(void)json_array_append_new(threads, row);
	}
	return threads;
}

static json_t *line_of(const struct crit_summary *summary, const struct crit_region_line *line)
{
	const struct crit_results *results = summary->results;
	json_t *row = json_object();
	char text[4 * CRIT_REGION_TEXT];
	char rank[32];

	set_text(row, "name", crit_region_name(line, text, sizeof(text)), sizeof(text));
	set_text(row, "path", crit_region_path(&summary->regions, line, text, sizeof(text)),
		 sizeof(text));
	set_text(row, "kind", crit_region_kind(line), 16);
	set_place(row, &line->place);
	set_count(row, "processes", line->process_count);
	set_count(row, "team_max", line->team_max);
	set_count(row, "visits", line->visits);
	set_ns(row, "elapsed_s", line->elapsed_ns);
	set_ns(row, "omp_scheduling_s", line->scheduling_ns);
	set_ns(row, "omp_imbalance_s", line->imbalance_ns);
	set_ns(row, "omp_runnable_s", line->runnable_ns);
	set_sum(row, &line->sum);
	set(row, "imbalance",
	    crit_json_imbalance(&line->threads,
				crit_thread_label(results, (size_t)line->threads.slowest, text,
						  sizeof(text))));
	(void)snprintf(text, sizeof(text), "rank %s",
		       crit_summary_rank_name(results, line->ranks.slowest, rank, sizeof(rank)));
	set(row, "imbalance_ranks", crit_json_imbalance(&line->ranks, text));
	set(row, "threads", threads_of(summary, line));
	return row;
}

json_t *crit_json_region(const struct crit_summary *summary, size_t index)
{
	return line_of(summary, &summary->regions.rows[summary->regions.order[index]]);
}

json_t *crit_json_phase(const struct crit_summary *summary, size_t index)
{
	return line_of(summary, &summary->regions.phases[index]);
}

json_t *crit_json_preemption(const struct crit_summary *summary, size_t index)
{
	static const char *const kinds[CRIT_RIVAL_COUNT] = { "member", "stranger", "hidden",
							     "idle",   "others",   "unknown" };
	const struct crit_results *results = summary->results;
	const struct crit_rival_row *rival = &results->rivals[index];
	json_t *row = json_object();
	char text[128];

	set_thread(row, results, rival->thread);
	set_text(row, "kind", kinds[rival->kind], 16);
	set_text(row, "by", crit_rival_label(results, rival, text, sizeof(text)), sizeof(text));
	set_count(row, "count", rival->count);
	set_ns(row, "lost_s", rival->lost_ns);
	return row;
}
