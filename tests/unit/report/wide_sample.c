// SPDX-License-Identifier: BSD-3-Clause
// Fills the results of a run of any number of ranks, by the definitions of docs/metric.md.
#include "tests/unit/report/wide_sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/abi_shim.h"
#include "core/abi/abi_socket.h"
#include "core/base/call.h"
#include "report/findings/summarise.h"

#define MS 1000000ull
#define RANKS_PER_NODE 32
#define LATEST_MS 1000
#define WINDOW_MS 1050
#define REGION_SITE 1
#define REDUCE_SITE 2
#define WAITALL_SITE 3
#define PLACES 4

static const struct crit_source_location places[WIDE_LANGUAGE_COUNT][PLACES] = {
	[WIDE_CXX] = {
		{ 0 },
		{ .module = "/opt/bin/heat",
		  .function = "void physics::detail::Solver<double, std::allocator<double> >::"
			      "smooth<(physics::Order)2>(physics::Grid<double> const&) const",
		  .file = "/src/physics/solver.hpp",
		  .line = 134 },
		{ .module = "/opt/bin/heat",
		  .function = "physics::detail::Solver<double, std::allocator<double> >::"
			      "reduceOverSubdomains<main(int, char**)::{lambda(double)#1}>",
		  .file = "/src/physics/reduce_over_subdomains.hpp",
		  .line = 1417 },
		{ .module = "/opt/bin/heat",
		  .function = "(anonymous namespace)::Halo::operator()(int) const",
		  .file = "/src/halo.cc",
		  .line = 29 },
	},
	[WIDE_FORTRAN] = {
		{ 0 },
		{ .module = "/opt/bin/ocean",
		  .function = "relax_pressure_with_red_black_ordering",
		  .file = "/src/solver/pressure.f90",
		  .line = 77 },
		{ .module = "/opt/bin/ocean",
		  .function = "__ghost_exchange_MOD_exchange_ghost_cells",
		  .file = "/src/parallel/ghost_cell_exchange_of_all_fields.f90",
		  .line = 134 },
		{ .module = "/opt/bin/ocean",
		  .function = "__ghost_exchange_MOD_finish",
		  .function_offset = 0x2c4,
		  .offset = 0x51c4 },
	},
};

static void find_place(void *user, uint32_t node, uint32_t pid, uint64_t address,
		       struct crit_source_location *ret_place)
{
	(void)node;
	(void)pid;
	*ret_place = ((const struct crit_source_location *)user)[address % PLACES];
}

static uint64_t work_ms(uint32_t rank, uint32_t rank_count)
{
	return rank == rank_count / 3 ? LATEST_MS : 500 + (rank * 37 + 5) % 101 * 2;
}

static crit_fix fix_ms(double ms)
{
	return (crit_fix)(ms * (double)MS) << 64;
}

struct worker {
	uint64_t work_ms;
	uint32_t rank;
};

static int compare_workers(const void *left, const void *right)
{
	const struct worker *a = left, *b = right;

	return (a->work_ms > b->work_ms) - (a->work_ms < b->work_ms);
}

/* The integrals over the intervals between one rank's end of work and the next one's. */
static int fill_integrals(struct crit_results *results)
{
	uint32_t count = (uint32_t)results->rank_count;
	struct worker *workers = calloc(count, sizeof(*workers));
	double cmetric_ms = 0, blame_ms = 0, silent_ms = WINDOW_MS - LATEST_MS;
	uint64_t before_ms = 0;

	if (!workers)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		workers[i] = (struct worker){ work_ms(i, count), i };
	qsort(workers, count, sizeof(*workers), compare_workers);
	for (uint32_t i = 0; i < count; i++) {
		struct crit_attribution *run = &results->ranks[workers[i].rank].run;
		double passed_ms = (double)(workers[i].work_ms - before_ms);

		before_ms = workers[i].work_ms;
		cmetric_ms += passed_ms / (count - i);
		blame_ms += passed_ms * i / (count - i);
		run->blame = fix_ms(blame_ms);
		run->waiting_ns = (LATEST_MS - workers[i].work_ms) * MS;
		for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
			run->cmetric[unit] = fix_ms(cmetric_ms);
			run->all_waiting[unit] = fix_ms(silent_ms / count);
		}
	}
	free(workers);
	return 0;
}

static void fill_rank(struct crit_results *results, uint32_t number, const char *program)
{
	struct crit_rank_row *rank = &results->ranks[number];
	struct crit_thread_row *thread = &results->threads[number];
	uint64_t work_ns = work_ms(number, (uint32_t)results->rank_count) * MS;

	rank->node = number / RANKS_PER_NODE;
	rank->pid = 1000 + number;
	rank->rank = number;
	rank->world_size = (uint32_t)results->rank_count;
	rank->app_threads = 1;
	rank->active_ns = work_ns;
	rank->close_ns = WINDOW_MS * MS;
	rank->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP] = work_ns;
	rank->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = WINDOW_MS * MS - work_ns;
	(void)snprintf(rank->program, sizeof(rank->program), "%s", program);
	(void)snprintf(rank->world, sizeof(rank->world), "world");
	results->nodes[rank->node].busy_ns += work_ns;
	thread->node = rank->node;
	thread->pid = thread->tid = rank->pid;
	thread->rank_row = (int32_t)number;
	thread->cells = rank->cells;
	thread->run = rank->run;
	thread->life_ns = WINDOW_MS * MS;
	(void)snprintf(thread->name, sizeof(thread->name), "%.15s", program);
	results->regions.rows[number] = (struct crit_region_row){
		.node = rank->node,
		.pid = rank->pid,
		.number = 1,
		.parent = -1,
		.rank_row = (int32_t)number,
		.call = CRIT_CONSTRUCT_PARALLEL,
		.site = REGION_SITE,
		.visits = 10,
		.elapsed_ns = work_ns,
		.team_max = 1,
		.first_part = number,
		.part_count = 1,
	};
	results->regions.parts[number] = (struct crit_region_part){
		.region = number,
		.thread = number,
		.visits = 10,
		.time_ns = work_ns,
		.useful_ns = work_ns,
		.run = rank->run,
	};
}

static void fill_calls(struct wide_sample *sample)
{
	static const struct {
		uint32_t call;
		uint64_t site;
		double part; /* of all waiting */
	} rows[] = {
		{ CRIT_MPI_Iprobe, REDUCE_SITE, 0 },
		{ CRIT_MPI_Allreduce, REDUCE_SITE, 0.75 },
		{ CRIT_MPI_Waitall, WAITALL_SITE, 0.125 },
		{ CRIT_MPI_Recv, 0, 0.125 },
		{ CRIT_CONSTRUCT_PHASE, 0, 0 },
	};
	struct crit_results *results = &sample->results;
	double waiting_ms = 0;

	for (size_t i = 0; i < results->rank_count; i++)
		waiting_ms += (double)results->ranks[i].run.waiting_ns / (double)MS;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double ms = rows[i].part * waiting_ms;
		double silent_ms = rows[i].part * (WINDOW_MS - LATEST_MS);
		struct crit_call_row *row = &sample->calls[i];

		row->call = rows[i].call;
		row->pid = 1000;
		row->site = rows[i].site;
		row->visits = 240 * results->rank_count;
		row->wait_ns = (uint64_t)(ms + silent_ms * (double)results->rank_count) * MS;
		row->time_ns = row->wait_ns;
		row->run.waiting_ns = (uint64_t)(ms * (double)MS);
		row->run.all_waiting[CRIT_UNIT_THREADS] = fix_ms(silent_ms);
		row->top_rank_row = (int32_t)(results->rank_count / 3);
		sample->call_rows[i] = *row;
	}
	results->calls = sample->calls;
	results->call_sites = sample->call_rows;
	results->call_count = results->call_site_count = sizeof(rows) / sizeof(rows[0]);
}

static void fill_checks(struct wide_sample *sample)
{
	for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++)
		sample->checks[unit] = (struct crit_consistency_check){
			.unit = (enum crit_unit)unit,
			.cmetric_sum = fix_ms(LATEST_MS),
			.all_waiting_sum = fix_ms(WINDOW_MS - LATEST_MS),
			.active_ns = LATEST_MS * MS,
			.window_ns = WINDOW_MS * MS,
		};
	sample->results.checks = sample->checks;
	sample->results.check_count = CRIT_UNIT_COUNT;
}

static int allocate(struct crit_results *results, uint32_t rank_count)
{
	results->node_count = (rank_count + RANKS_PER_NODE - 1) / RANKS_PER_NODE;
	results->rank_count = results->thread_count = rank_count;
	results->regions.row_count = results->regions.part_count = rank_count;
	results->nodes = calloc(results->node_count, sizeof(*results->nodes));
	results->ranks = calloc(rank_count, sizeof(*results->ranks));
	results->threads = calloc(rank_count, sizeof(*results->threads));
	results->regions.rows = calloc(rank_count, sizeof(*results->regions.rows));
	results->regions.parts = calloc(rank_count, sizeof(*results->regions.parts));
	return results->nodes && results->ranks && results->threads && results->regions.rows &&
			       results->regions.parts
		       ? 0
		       : -ENOMEM;
}

static int fill(struct wide_sample *sample, uint32_t rank_count, enum wide_language language)
{
	struct crit_results *results = &sample->results;
	const char *program = language == WIDE_CXX ? "heat" : "ocean_model_of_the_north_sea_v12";
	int rc = allocate(results, rank_count);

	if (!rc)
		rc = fill_integrals(results);
	if (rc)
		return rc;
	results->has_ranks = true;
	results->window_ns = WINDOW_MS * MS;
	results->flavour = CRIT_FLAVOUR_OPENMPI;
	(void)snprintf(results->exe, sizeof(results->exe), "/usr/bin/mpirun.openmpi");
	(void)snprintf(results->library, sizeof(results->library), "Open MPI v4.1.4, package: x");
	for (uint32_t i = 0; i < results->node_count; i++) {
		struct crit_node_row *node = &results->nodes[i];

		(void)snprintf(node->host, sizeof(node->host), "node%u", i + 1);
		node->cpu_count = RANKS_PER_NODE;
		node->kernel_half = CRIT_HALF_BPF;
		node->level = CRIT_LEVEL_TRACE;
		node->has_window = node->has_foot = true;
	}
	for (uint32_t i = 0; i < rank_count; i++)
		fill_rank(results, i, rank_count >= 8 && i + 2 >= rank_count ? "coupler" : program);
	fill_calls(sample);
	fill_checks(sample);
	return 0;
}

int wide_sample_init(struct wide_sample *sample, uint32_t rank_count, enum wide_language language)
{
	const struct crit_region_finder finder = { .find = find_place,
						   .user = (void *)places[language] };
	struct crit_summary_options options = { .finder = &finder };
	struct crit_call_site_row *rows;
	size_t count;
	int rc;

	memset(sample, 0, sizeof(*sample));
	rc = fill(sample, rank_count, language);
	if (!rc)
		sample->call_sites = crit_call_sites_create(NULL, &sample->results);
	if (!sample->call_sites)
		rc = -ENOMEM;
	options.call_sites = sample->call_sites;
	rows = (struct crit_call_site_row *)crit_call_sites_rows(sample->call_sites, &count);
	for (size_t i = 0; i < count; i++) /* as symbols would have told them */
		rows[i].place = places[language][rows[i].place.offset % PLACES];
	if (!rc)
		rc = crit_summarise(&sample->summary, &sample->results, &options);
	if (rc)
		wide_sample_fini(sample);
	return rc;
}

void wide_sample_fini(struct wide_sample *sample)
{
	crit_summary_fini(&sample->summary);
	crit_call_sites_destroy(sample->call_sites);
	free(sample->results.nodes);
	free(sample->results.ranks);
	free(sample->results.threads);
	free(sample->results.regions.rows);
	free(sample->results.regions.parts);
	memset(sample, 0, sizeof(*sample));
}
