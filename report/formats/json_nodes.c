// SPDX-License-Identifier: BSD-3-Clause
/* Nodes in report.json: what their ranks did, what was recorded there, how well it is known. */
#include "report/formats/json_nodes.h"

#include "report/formats/json.h"
#include "report/formats/region_writers.h"
#include "report/formats/writers.h"

void crit_json_usage(json_t *row, const struct crit_cells *cells)
{
	struct crit_usage usage;

	crit_usage_of(cells, &usage);
	set_ns(row, "useful_s", usage.useful_ns);
	set_ns(row, "mpi_s", usage.mpi_ns);
	set_ns(row, "mpi_wait_s", usage.mpi_wait_ns);
	set_ns(row, "mpi_may_wait_s", usage.mpi_may_wait_ns);
	set_ns(row, "omp_wait_s", usage.omp_wait_ns);
	set_ns(row, "setup_s", usage.setup_ns);
	set_ns(row, "life_s", usage.life_ns);
	set_ns(row, "running_s", crit_cells_state(cells, CRIT_STATE_RUNNING));
	set_ns(row, "runnable_s", crit_cells_state(cells, CRIT_STATE_RUNNABLE));
	set_ns(row, "blocked_s", crit_cells_state(cells, CRIT_STATE_BLOCKED));
	set_ns(row, "unknown_s", crit_cells_state(cells, CRIT_STATE_UNKNOWN));
	set_ns(row, "assumed_s", crit_cells_state(cells, CRIT_STATE_ASSUMED));
}

void crit_json_earnings(json_t *row, const struct crit_earnings *run, enum crit_unit unit)
{
	set_s(row, "cmetric_s", crit_fix_seconds(run->cmetric[unit]));
	set_s(row, "stall_s", crit_fix_seconds(run->stall[unit]));
	set_s(row, "waited_for_s", crit_fix_seconds(run->waited_for));
	set_ns(row, "waiting_s", run->waiting_ns);
}

static void set_clock(json_t *row, const struct crit_node_row *node)
{
	static const char *const kinds[CRIT_CLOCK_KIND_COUNT] = {
		"none", "reference", "compared", "compared_once", "same", "wall",
	};

	set_text(row, "clock", kinds[node->clock_kind], 16);
	set_s(row, "clock_offset_s", (double)node->clock_offset_ns * 1e-9);
	set_s(row, "clock_drift_ppm", (double)node->clock_drift_ppb * 1e-3);
	set_s(row, "clock_shift_s", (double)node->clock_shift_ns * 1e-9);
	if (node->clock_bound_ns == CRIT_CLOCK_UNBOUND)
		set(row, "clock_bound_s", json_null());
	else
		set_ns(row, "clock_bound_s", node->clock_bound_ns);
}

static json_t *losses_of(const struct crit_node_row *node)
{
	json_t *object = json_object();

	set_count(object, "kernel_records", node->lost_kernel_records);
	set_count(object, "shim_spans", node->lost_spans);
	set_count(object, "corrupt_chunks", node->corrupt_chunks);
	set_count(object, "truncated_bytes", node->truncated_bytes);
	set_count(object, "missing_chunks", node->missing_chunks);
	return object;
}

static void set_sum(json_t *row, const struct crit_summary *summary,
		    const struct crit_node_sum *sum)
{
	char text[CRIT_REGION_TEXT] = "";

	set_count(row, "ranks", sum->ranks);
	set_count(row, "app_threads", sum->app_threads);
	set_s(row, "share", crit_summary_share(summary, &sum->run));
	set_s(row, "threads_cmetric_s", crit_fix_seconds(sum->run.cmetric[CRIT_UNIT_THREADS]));
	set_s(row, "threads_stall_s", crit_fix_seconds(sum->run.stall[CRIT_UNIT_THREADS]));
	crit_json_earnings(row, &sum->run, summary->unit);
	crit_json_usage(row, &sum->cells);
	crit_node_slowest(summary, sum, text, sizeof(text));
	set(row, "imbalance", crit_json_imbalance(&sum->useful, text));
}

/* Into the window; less than 0 before it, 0 never. */
static double after_s(const struct crit_results *results, uint64_t time_ns)
{
	return time_ns ? (double)(int64_t)(time_ns - results->window_begin_ns) * 1e-9 : 0;
}

static json_t *node_of(const struct crit_summary *summary, size_t index)
{
	const struct crit_node_row *node = &summary->results->nodes[index];
	json_t *row = json_object();

	SET_FIELD(row, "host", node->host);
	SET_FIELD(row, "kernel_release", node->kernel_release);
	set_count(row, "cpus", node->cpu_count);
	if (node->usable_cpus > 0)
		set_s(row, "usable_cpus", node->usable_cpus);
	else
		set(row, "usable_cpus", json_null());
	set(row, "kernel_status", json_integer(node->kernel_status));
	set_text(row, "kernel_half", crit_half_name(node->kernel_half), 16);
	set_text(row, "level", crit_level_name(node->level), 16);
	set_s(row, "fallback_s", after_s(summary->results, node->fallback_ns));
	set_s(row, "cap_s", after_s(summary->results, node->cap_ns));
	set(row, "output_error", json_integer(node->output_error));
	set(row, "has_foot", json_boolean(node->has_foot));
	set_count(row, "kernel_records", node->kernel_record_count);
	set_count(row, "shim_slots", node->slot_count);
	set_count(row, "recording_bytes", node->recording_bytes);
	set_ns(row, "critd_cpu_s", node->critd_cpu_ns);
	set(row, "losses", losses_of(node));
	set_clock(row, node);
	set_sum(row, summary, &summary->node_sums[index]);
	return row;
}

json_t *crit_json_nodes(const struct crit_summary *summary)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < summary->results->node_count; i++)
		(void)json_array_append_new(nodes, node_of(summary, i));
	return nodes;
}
