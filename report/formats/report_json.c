// SPDX-License-Identifier: BSD-3-Clause
/* report.json, schema crit-report/1: complete, sorted by key, units in the names of numbers. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "report/formats/json.h"
#include "report/formats/json_messages.h"
#include "report/formats/json_nodes.h"
#include "report/formats/json_stream.h"
#include "report/formats/process_ends.h"
#include "report/findings/openmp.h"
#include "report/formats/region_writers.h"
#include "report/formats/writers.h"
#include "core/base/call.h"

/* Groups of MPI calls the user left out. */
static json_t *calls_off_of(const struct crit_results *results)
{
	json_t *names = json_array();

	for (unsigned int group = 1; group < CRIT_GROUP_COUNT; group++)
		if (results->omitted >> group & 1)
			(void)json_array_append_new(names, json_string(crit_group_name(group)));
	return names;
}

static json_t *scheduler_of(const struct crit_job *job)
{
	json_t *scheduler = json_object();

	SET_FIELD(scheduler, "name", job->scheduler);
	SET_FIELD(scheduler, "job", job->name);
	SET_FIELD(scheduler, "step", job->step);
	SET_FIELD(scheduler, "array", job->array);
	set_count(scheduler, "restarts", job->restart_count);
	return scheduler;
}

static json_t *job_of(const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	json_t *job = json_object();
	char mpi[64];

	SET_FIELD(job, "exe", results->exe);
	SET_FIELD(job, "args", results->arguments);
	set_count(job, "ranks", results->rank_count);
	set_count(job, "ranks_missing", summary->ranks_missing);
	set(job, "calls_off", calls_off_of(results));
	set_count(job, "nodes", results->node_count);
	set_count(job, "threads", summary->app_threads);
	set_text(job, "mpi", results->has_ranks ? crit_mpi_name(results, mpi, sizeof(mpi)) : "none",
		 64);
	set_text(job, "omp", crit_openmp_name(crit_openmp_of(summary)), 32);
	if (results->job.scheduler[0])
		set(job, "scheduler", scheduler_of(&results->job));
	set_count(job, "start_unix_ns", results->start_real_ns);
	set_ns(job, "elapsed_s", results->elapsed_ns);
	set_ns(job, "window_s", results->window_ns);
	set_ns(job, "silent_s", summary->silent_ns);
	set_text(job, "mode", crit_mode_name(summary->mode), 16);
	set_text(job, "level", results->node_count ? crit_level_name(results->nodes[0].level) : "?",
		 16);
	set_text(job, "active", crit_rule_name(results->rule), 32);
	set(job, "run_id", json_sprintf("%016llx", (unsigned long long)results->run_id));
	return job;
}

static json_t *named_of(const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	const struct crit_lost_time *lost = &summary->lost;
	json_t *named = json_array();

	for (size_t i = 0; i < lost->named_count && i < CRIT_NAMED_MAX; i++) {
		size_t row = lost->named[i].row;
		json_t *unit = json_object();

		if (results->has_ranks) {
			set_count(unit, "rank", results->ranks[row].rank);
			set_count(unit, "world", results->ranks[row].world_number);
		} else {
			set_count(unit, "pid", results->threads[row].pid);
			set_count(unit, "tid", results->threads[row].tid);
		}
		set_s(unit, "work_ratio", lost->named[i].work_ratio);
		(void)json_array_append_new(named, unit);
	}
	return named;
}

static json_t *lost_time_of(const struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	const struct crit_efficiency *eff = &summary->efficiency;
	json_t *object = json_object();

	set_s(object, "units", lost->units);
	set_s(object, "useful_s", lost->useful_s);
	set_s(object, "cpus_s", lost->loss_s[CRIT_LOSS_CPUS]);
	set_s(object, "imbalance_s", lost->loss_s[CRIT_LOSS_IMBALANCE]);
	set_s(object, "all_waiting_s", lost->loss_s[CRIT_LOSS_ALL_WAITING]);
	set_s(object, "blocked_s", lost->loss_s[CRIT_LOSS_BLOCKED]);
	set_s(object, "mpi_library_s", lost->loss_s[CRIT_LOSS_LIBRARY]);
	set_s(object, "unknown_s", lost->loss_s[CRIT_LOSS_UNKNOWN]);
	set_s(object, "cpu_floor_s", lost->floor_s);
	set_s(object, "work_balance_ratio", lost->work_balance_ratio);
	set_s(object, "omp_serial_s", eff->omp_serial_ns * 1e-9);
	set_s(object, "omp_imbalance_s", eff->omp_imbalance_ns * 1e-9);
	set_s(object, "omp_scheduling_s", eff->omp_scheduling_ns * 1e-9);
	return object;
}

static json_t *verdict_of(const struct crit_summary *summary)
{
	static const char *const names[CRIT_VERDICT_COUNT] = {
		"nothing",   "incomplete",  "too_short", "even",        "cpus",
		"imbalance", "all_waiting", "blocked",   "mpi_library",
	};
	const struct crit_lost_time *lost = &summary->lost;
	json_t *verdict = json_object();

	set_text(verdict, "kind", names[summary->verdict], 16);
	SET_FIELD(verdict, "sentence", summary->sentence);
	SET_FIELD(verdict, "preempted_note", summary->preempted_note);
	SET_FIELD(verdict, "may_wait_note", summary->may_wait_note);
	set(verdict, "named", named_of(summary));
	set_count(verdict, "named_count", lost->named_count);
	set(verdict, "foreign_load", json_boolean(lost->has_foreign_load));
	set_s(verdict, "gain_s", lost->gain_s);
	set_s(verdict, "bound_s", lost->window_s - lost->gain_s);
	if (summary->has_promise)
		set_s(verdict, "promised_s", lost->gain_s);
	else
		set(verdict, "promised_s", json_null());
	set_s(verdict, "stake_s", lost->gain_s);
	set_text(verdict, "unit", crit_unit_name(summary->unit), 8);
	return verdict;
}

static json_t *laws_of(const struct crit_results *results)
{
	json_t *laws = json_array();

	for (size_t i = 0; i < results->law_count; i++) {
		const struct crit_law *law = &results->laws[i];
		json_t *row = json_object();

		set_text(row, "unit", crit_unit_name(law->unit), 8);
		set_text(row, "scope", crit_scope_name(law->scope), 8);
		if (law->scope == CRIT_SCOPE_NODE && law->node < results->node_count)
			SET_FIELD(row, "node", results->nodes[law->node].host);
		else
			set(row, "node", json_null());
		set_s(row, "cmetric_sum_s", crit_fix_seconds(law->cmetric_sum));
		set_ns(row, "active_time_s", law->active_ns);
		set_s(row, "stall_sum_s", crit_fix_seconds(law->stall_sum));
		set_s(row, "nobody_s", crit_fix_seconds(law->nobody));
		set_ns(row, "window_s", law->window_ns);
		set(row, "error_ratio", json_real(law->error_ratio));
		(void)json_array_append_new(laws, row);
	}
	return laws;
}

static json_t *losses_of(const struct crit_losses *losses)
{
	json_t *object = json_object();

	set_count(object, "kernel_records", losses->kernel_records);
	set_count(object, "shim_records", 2 * losses->shim_spans); /* a span is two slots */
	set_count(object, "shim_spans", losses->shim_spans);
	set_count(object, "unmatched_switches", losses->unmatched_switches);
	set_count(object, "tag_disagreements", losses->tag_disagreements);
	set_count(object, "tag_stale", losses->tag_stale);
	set_count(object, "late_records", losses->late_records);
	set_count(object, "corrupt_chunks", losses->corrupt_chunks);
	set_count(object, "truncated_bytes", losses->truncated_bytes);
	set_count(object, "missing_chunks", losses->missing_chunks);
	set_ns(object, "unknown_s", losses->unknown_ns);
	set_count(object, "threads_without_stripe", losses->no_stripe_threads);
	set_count(object, "refused_clients", losses->refused_clients);
	set_count(object, "records_of_threads_without_room", losses->crowded_records);
	set_count(object, "unbalanced_spans", losses->unbalanced_spans);
	set_count(object, "counters_lost", losses->counters_lost);
	set_ns(object, "folded_s", losses->folded_ns);
	return object;
}

static json_t *efficiency_of(const struct crit_efficiency *eff, const struct crit_lost_time *lost)
{
	json_t *both = json_object();
	json_t *cpu = json_object();
	json_t *wall = json_object();

	set_s(cpu, "parallel_ratio", eff->cpu_parallel);
	set_s(cpu, "omp_parallel_ratio", eff->cpu_omp_parallel);
	set_s(cpu, "omp_scheduling_ratio", eff->cpu_omp_scheduling);
	set_s(cpu, "omp_load_balance_ratio", eff->cpu_omp_balance);
	set_s(cpu, "omp_serialization_ratio", eff->cpu_omp_serialization);
	set_s(cpu, "load_balance_ratio", eff->cpu_balance);
	set_s(cpu, "load_balance_in_ratio", eff->cpu_balance_in);
	set_s(cpu, "load_balance_out_ratio", eff->cpu_balance_out);
	set_s(cpu, "oversubscription_ratio", eff->cpu_oversubscription);
	set_s(cpu, "io_ratio", eff->cpu_io);
	set_s(cpu, "communication_ratio", eff->cpu_communication);
	set_s(cpu, "balanced_window_s", lost->window_s - lost->gain_s);
	set_s(wall, "parallel_ratio", eff->wall_parallel);
	set_s(wall, "mpi_parallel_ratio", eff->wall_mpi_parallel);
	set_s(wall, "omp_parallel_ratio", eff->wall_omp_parallel);
	set_s(wall, "omp_scheduling_ratio", eff->wall_omp_scheduling);
	set_s(wall, "omp_load_balance_ratio", eff->wall_omp_balance);
	set_s(wall, "omp_serialization_ratio", eff->wall_omp_serialization);
	set_s(wall, "load_balance_ratio", eff->wall_balance);
	set_s(wall, "load_balance_in_ratio", eff->wall_balance_in);
	set_s(wall, "load_balance_out_ratio", eff->wall_balance_out);
	set_s(wall, "communication_ratio", eff->wall_communication);
	set(both, "cpu", cpu);
	set(both, "wall", wall);
	return both;
}

static json_t *rank_of(const struct crit_summary *summary, size_t index)
{
	const struct crit_results *results = summary->results;
	const struct crit_rank_row *rank = &results->ranks[index];
	json_t *row = json_object();

	set_count(row, "rank", rank->rank);
	set_count(row, "world", rank->world_number);
	SET_FIELD(row, "world_name", rank->world);
	SET_FIELD(row, "node", results->nodes[rank->node].host);
	set_count(row, "pid", rank->pid);
	if (rank->task != CRIT_TASK_NONE)
		set_count(row, "task", rank->task);
	set_count(row, "app_threads", rank->app_threads);
	set(row, "has_closed", json_boolean(!rank->is_open));
	set_s(row, "share", crit_summary_share(summary, &rank->run));
	set_s(row, "threads_cmetric_s", crit_fix_seconds(rank->run.cmetric[CRIT_UNIT_THREADS]));
	set_s(row, "threads_stall_s", crit_fix_seconds(rank->run.stall[CRIT_UNIT_THREADS]));
	crit_json_earnings(row, &rank->run, CRIT_UNIT_RANKS);
	crit_json_usage(row, &rank->cells);
	return row;
}

static json_t *cells_of(const struct crit_cells *cells)
{
	static const char *const states[CRIT_STATE_COUNT] = { "none",    "running", "runnable",
							      "blocked", "unknown", "assumed" };
	json_t *object = json_object();

	for (int s = 0; s < CRIT_STATE_COUNT; s++)
		for (int c = 0; c < CRIT_CLASS_COUNT; c++)
			if (cells->ns[s][c]) {
				char key[64];

				(void)snprintf(key, sizeof(key), "%s_%s_s", states[s],
					       c ? crit_class_name((enum crit_span_class)c)
						 : "no_shim");
				set_ns(object, key, cells->ns[s][c]);
			}
	return object;
}

static json_t *thread_of(const struct crit_summary *summary, size_t index)
{
	const struct crit_results *results = summary->results;
	const struct crit_thread_row *thread = &results->threads[index];
	json_t *row = json_object();

	set_rank(row, "rank", results, thread->rank_row);
	set_count(row, "pid", thread->pid);
	set_count(row, "tid", thread->tid);
	SET_FIELD(row, "name", thread->name);
	SET_FIELD(row, "node", results->nodes[thread->node].host);
	set_text(row, "role", crit_role_name(thread->role), 16);
	crit_json_earnings(row, &thread->run, CRIT_UNIT_THREADS);
	set_s(row, "ranks_cmetric_s", crit_fix_seconds(thread->run.cmetric[CRIT_UNIT_RANKS]));
	set_s(row, "node_cmetric_s", crit_fix_seconds(thread->node_cmetric[CRIT_UNIT_THREADS]));
	set_s(row, "node_stall_s", crit_fix_seconds(thread->node_stall[CRIT_UNIT_THREADS]));
	crit_json_usage(row, &thread->cells);
	set(row, "cells", cells_of(&thread->cells));
	set_count(row, "switches", thread->switches);
	set_count(row, "preemptions", thread->preemptions);
	set_count(row, "unmatched_switches", thread->unmatched);
	return row;
}

static bool is_construct(uint32_t call)
{
	return call >= CRIT_CALL_OMP_FIRST;
}

/* MPI calls, or constructs. */
static json_t *calls_of(const struct crit_results *results, bool has_constructs)
{
	json_t *array = json_array();

	for (size_t i = 0; i < results->call_count; i++) {
		const struct crit_call_row *call = &results->calls[i];
		json_t *row;

		if (is_construct(call->call) != has_constructs)
			continue;
		row = json_object();
		set_text(row, "name", crit_call_name(call->call), 64);
		set_count(row, "visits", call->visits);
		set_count(row, "folded_visits", call->folded_visits);
		set_count(row, "polled_calls", call->polled_calls);
		set_ns(row, "folded_s", call->folded_ns);
		set_ns(row, "time_s", call->time_ns);
		set_ns(row, "wait_s", call->wait_ns);
		crit_json_earnings(row, &call->run, CRIT_UNIT_THREADS);
		if (!has_constructs)
			crit_json_call_traffic(row, results, call);
		set_rank(row, "top_active_rank", results, call->top_rank_row);
		(void)json_array_append_new(array, row);
	}
	return array;
}

/* All ranks' calls from one place in one file are one site. */
static json_t *sites_of(const struct crit_sites *sites, bool has_constructs)
{
	json_t *array = json_array();

	for (size_t i = 0; sites && i < sites->row_count; i++) {
		const struct crit_site_row *site = &sites->rows[i];
		json_t *row;

		if (is_construct(site->call) != has_constructs)
			continue;
		row = json_object();
		set_text(row, "name", crit_call_name(site->call), 64);
		set_place(row, &site->place);
		set_count(row, "processes", site->process_count);
		set_count(row, "visits", site->visits);
		set_ns(row, "time_s", site->time_ns);
		set_ns(row, "wait_s", site->wait_ns);
		set_s(row, "stall_s", crit_fix_seconds(site->stall));
		set_ns(row, "waiting_s", site->waiting_ns);
		(void)json_array_append_new(array, row);
	}
	return array;
}

static json_t *missing_of(const struct crit_summary *summary)
{
	json_t *array = json_array();

	for (size_t i = 0; i < summary->missing_count; i++) {
		json_t *row = json_object();

		SET_FIELD(row, "what", summary->missing[i].what);
		SET_FIELD(row, "mend", summary->missing[i].mend);
		set(row, "is_incomplete", json_boolean(summary->missing[i].is_incomplete));
		(void)json_array_append_new(array, row);
	}
	return array;
}

static void put_rows(struct crit_json_stream *stream, const char *key,
		     const struct crit_summary *summary, size_t count,
		     json_t *(*row_of)(const struct crit_summary *summary, size_t index))
{
	crit_json_stream_begin_rows(stream, key);
	for (size_t i = 0; i < count; i++)
		crit_json_stream_row(stream, row_of(summary, i));
	crit_json_stream_end_rows(stream);
}

/* Sorted by key.  What grows with the threads goes out row by row. */
static void put_members(struct crit_json_stream *stream, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	crit_json_stream_member(stream, "efficiency",
				efficiency_of(&summary->efficiency, &summary->lost));
	crit_json_stream_member(stream, "is_complete", json_boolean(!summary->is_incomplete));
	crit_json_stream_member(stream, "job", job_of(summary));
	crit_json_stream_member(stream, "laws", laws_of(results));
	crit_json_stream_member(stream, "losses", losses_of(&results->losses));
	crit_json_stream_member(stream, "lost_time", lost_time_of(summary));
	crit_json_stream_member(stream, "messages", crit_json_messages(summary));
	crit_json_stream_member(stream, "missing", missing_of(summary));
	crit_json_stream_member(stream, "mpi_calls", calls_of(results, false));
	crit_json_stream_member(stream, "mpi_sites", sites_of(summary->sites, false));
	crit_json_stream_member(stream, "nodes", crit_json_nodes(summary));
	crit_json_stream_member(stream, "omp_construct_sites", sites_of(summary->sites, true));
	crit_json_stream_member(stream, "omp_constructs", calls_of(results, true));
	put_rows(stream, "phases", summary, summary->regions.phase_count, crit_json_phase);
	put_rows(stream, "preemptions", summary, results->rival_count, crit_json_preemption);
	crit_json_stream_member(stream, "process_ends", crit_json_process_ends(results));
	put_rows(stream, "ranks", summary, results->rank_count, rank_of);
	put_rows(stream, "regions", summary, summary->regions.row_count, crit_json_region);
	crit_json_stream_member(stream, "schema", json_string("crit-report/1"));
	put_rows(stream, "threads", summary, results->thread_count, thread_of);
	crit_json_stream_member(stream, "verdict", verdict_of(summary));
}

int crit_write_json(FILE *out, const struct crit_summary *summary)
{
	struct crit_json_stream *stream = malloc(sizeof(*stream));
	int status;

	if (!stream)
		return -ENOMEM;
	crit_json_stream_begin(stream, out);
	put_members(stream, summary);
	status = crit_json_stream_end(stream);
	free(stream);
	return status;
}
