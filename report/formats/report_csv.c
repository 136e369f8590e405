// SPDX-License-Identifier: BSD-3-Clause
/* ranks.csv, threads.csv and regions.csv: heads with units, RFC 4180 quoting. */
#include <string.h>

#include "report/formats/region_writers.h"
#include "report/formats/writers.h"
#include "core/base/cleanup.h"
#include "core/base/line.h"

void crit_csv_quote(FILE *out, const char *text, size_t text_bytes)
{
	crit_autofree char *plain = strndup(text, text_bytes);

	if (plain)
		crit_line_tame(plain, strlen(plain), false);
	(void)fputc('"', out);
	for (const char *at = plain ? plain : ""; *at; at++) {
		if (*at == '"')
			(void)fputc('"', out);
		(void)fputc(*at, out);
	}
	(void)fputc('"', out);
}

static void write_s(FILE *out, double value_s)
{
	(void)fprintf(out, ",%.9f", value_s);
}

static void write_ns(FILE *out, uint64_t value_ns)
{
	(void)fprintf(out, ",%llu.%09llu", (unsigned long long)(value_ns / 1000000000u),
		      (unsigned long long)(value_ns % 1000000000u));
}

static void write_usage(FILE *out, const struct crit_cells *cells)
{
	struct crit_usage usage;

	crit_usage_of(cells, &usage);
	write_ns(out, usage.useful_ns);
	write_ns(out, usage.mpi_ns);
	write_ns(out, usage.mpi_wait_ns);
	write_ns(out, usage.mpi_may_wait_ns);
	write_ns(out, usage.omp_wait_ns);
	for (int s = CRIT_STATE_RUNNING; s < CRIT_STATE_COUNT; s++)
		write_ns(out, crit_cells_state(cells, (enum crit_kernel_state)s));
	write_ns(out, usage.setup_ns);
	write_ns(out, usage.life_ns);
}

#define USAGE_HEAD                                                                                 \
	"useful_s,mpi_s,mpi_wait_s,mpi_may_wait_s,omp_wait_s,running_s,runnable_s,blocked_s,"      \
	"unknown_s,assumed_s,setup_s,life_s\n"

void crit_write_ranks_csv(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	(void)fprintf(out,
		      "rank,world,node,pid,cmetric_s,stall_s,share,threads_cmetric_s,waited_for_s,"
		      "waiting_s," USAGE_HEAD);
	for (size_t i = 0; i < results->rank_count; i++) {
		const struct crit_rank_row *rank = &results->ranks[i];
		const char *host = results->nodes[rank->node].host;

		(void)fprintf(out, "%u,%u,", rank->rank, rank->world_number);
		crit_csv_quote(out, host, sizeof(results->nodes[0].host));
		(void)fprintf(out, ",%u", rank->pid);
		write_s(out, crit_fix_seconds(rank->run.cmetric[CRIT_UNIT_RANKS]));
		write_s(out, crit_fix_seconds(rank->run.stall[CRIT_UNIT_RANKS]));
		write_s(out, crit_summary_share(summary, &rank->run));
		write_s(out, crit_fix_seconds(rank->run.cmetric[CRIT_UNIT_THREADS]));
		write_s(out, crit_fix_seconds(rank->run.waited_for));
		write_ns(out, rank->run.waiting_ns);
		write_usage(out, &rank->cells);
		(void)fputc('\n', out);
	}
}

void crit_write_threads_csv(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	(void)fprintf(
		out,
		"rank,pid,tid,name,role,node,cmetric_s,stall_s,waited_for_s,waiting_s,switches,"
		"preemptions,unmatched," USAGE_HEAD);
	for (size_t i = 0; i < results->thread_count; i++) {
		const struct crit_thread_row *thread = &results->threads[i];
		char name[32];
		const char *rank = thread->rank_row < 0
					   ? ""
					   : crit_summary_rank_name(results, thread->rank_row, name,
								    sizeof(name));

		(void)fprintf(out, "%s,%u,%u,", rank, thread->pid, thread->tid);
		crit_csv_quote(out, thread->name, sizeof(thread->name));
		(void)fprintf(out, ",%s,", crit_role_name(thread->role));
		crit_csv_quote(out, results->nodes[thread->node].host,
			       sizeof(results->nodes[0].host));
		write_s(out, crit_fix_seconds(thread->run.cmetric[CRIT_UNIT_THREADS]));
		write_s(out, crit_fix_seconds(thread->run.stall[CRIT_UNIT_THREADS]));
		write_s(out, crit_fix_seconds(thread->run.waited_for));
		write_ns(out, thread->run.waiting_ns);
		(void)fprintf(out, ",%llu,%llu,%llu", (unsigned long long)thread->switches,
			      (unsigned long long)thread->preemptions,
			      (unsigned long long)thread->unmatched);
		write_usage(out, &thread->cells);
		(void)fputc('\n', out);
	}
}

static void write_text(FILE *out, const char *text)
{
	crit_csv_quote(out, text ? text : "", SIZE_MAX);
}

static void write_share(FILE *out, const struct crit_results *results,
			const struct crit_region_share *share)
{
	const struct crit_thread_row *thread = &results->threads[share->thread];
	const struct crit_region_sum *sum = &share->sum;
	char name[32];

	(void)fprintf(out, ",%s,%u,%u,",
		      thread->rank_row < 0 ? ""
					   : crit_summary_rank_name(results, thread->rank_row, name,
								    sizeof(name)),
		      thread->pid, thread->tid);
	crit_csv_quote(out, thread->name, sizeof(thread->name));
	(void)fprintf(out, ",%llu", (unsigned long long)sum->visits);
	write_s(out, crit_fix_seconds(sum->run.cmetric[CRIT_UNIT_THREADS]));
	write_s(out, crit_fix_seconds(sum->run.stall[CRIT_UNIT_THREADS]));
	write_s(out, crit_fix_seconds(sum->run.waited_for));
	write_ns(out, sum->run.waiting_ns);
	write_ns(out, sum->time_ns);
	write_ns(out, sum->useful_ns);
	write_ns(out, sum->omp_wait_ns);
	write_ns(out, sum->mpi_ns);
	(void)fputc('\n', out);
}

void crit_write_regions_csv(FILE *out, const struct crit_summary *summary)
{
	const struct crit_region_table *table = &summary->regions;

	(void)fprintf(out, "region,kind,function,file,line,rank,pid,tid,name,visits,cmetric_s,"
			   "stall_s,waited_for_s,waiting_s,time_s,useful_s,omp_wait_s,mpi_s\n");
	for (size_t i = 0; i < table->row_count; i++) {
		const struct crit_region_line *line = &table->rows[table->order[i]];
		char path[4 * CRIT_REGION_TEXT];

		for (size_t j = 0; j < line->share_count; j++) {
			write_text(out, crit_region_path(table, line, path, sizeof(path)));
			(void)fprintf(out, ",%s,", crit_region_kind(line));
			write_text(out, line->place.function);
			(void)fputc(',', out);
			write_text(out, line->place.file);
			(void)fprintf(out, ",%u", line->place.line);
			write_share(out, summary->results, &table->shares[line->first_share + j]);
		}
	}
}
