// SPDX-License-Identifier: BSD-3-Clause
// Fills the results of two small runs by hand.
#include "tests/unit/report/results_sample.h"

#include <stdio.h>
#include <string.h>

#include "core/abi/abi_shim.h"
#include "core/abi/abi_socket.h"
#include "core/base/call.h"

#define MS 1000000ull

static crit_fix fix_ms(uint64_t ms)
{
	return (crit_fix)(ms * MS) << 64;
}

static void set_text(char *field, size_t size, const char *text)
{
	(void)snprintf(field, size, "%s", text);
}

static void point(struct results_sample *sample)
{
	struct crit_results *results = &sample->results;

	results->nodes = sample->nodes;
	results->ranks = sample->ranks;
	results->threads = sample->threads;
	results->calls = sample->calls;
	results->call_sites = sample->call_sites;
	results->rank_calls = sample->rank_calls;
	results->checks = sample->checks;
	results->preemptors = sample->preemptors;
	results->regions.rows = sample->region_rows;
	results->regions.parts = sample->region_parts;
	results->messages.traffic = sample->traffic;
	results->messages.pairs = sample->pairs;
	results->messages.communicators = sample->communicators;
	results->messages.collectives = sample->collectives;
	results->messages.lasts = sample->lasts;
}

static void fill_volume(struct crit_volume *volume, uint64_t small, uint64_t large)
{
	volume->count = small + large;
	volume->bytes = 8 * small + 1000 * large;
	volume->sizes[4] = small;
	volume->sizes[10] = large;
}

static void fill_last(struct crit_last_row *last, uint32_t rank, uint64_t count)
{
	last->rank_row = rank;
	last->count = count;
	last->spread_sum_ns = 20 * count * MS;
	last->spread_max_ns = 20 * MS;
	last->late_sum_ns = 10 * count * MS;
	last->late_max_ns = 10 * MS;
}

static void fill_collective(struct results_sample *sample)
{
	struct crit_collective_row *row = &sample->collectives[0];

	row->communicator = 1;
	row->call = CRIT_MPI_Barrier;
	row->visits = 80;
	row->instances = 40;
	row->spread_sum_ns = 800 * MS;
	row->spread_max_ns = 20 * MS;
	row->late_sum_ns = 400 * MS;
	row->late_max_ns = 10 * MS;
	row->last_count = 2;
	fill_last(&sample->lasts[0], 0, 38);
	fill_last(&sample->lasts[1], 1, 2);
}

static void fill_messages(struct results_sample *sample)
{
	struct crit_message_results *messages = &sample->results.messages;

	messages->until_ns = sample->results.window_begin_ns + sample->results.window_ns;
	messages->is_whole = true;
	messages->traffic_count = 2;
	sample->traffic[0].call = CRIT_MPI_Recv;
	fill_volume(&sample->traffic[0].received, 3, 2);
	sample->traffic[1].call = CRIT_MPI_Send;
	fill_volume(&sample->traffic[1].sent, 3, 2);
	messages->pair_count = 1;
	sample->pairs[0] = (struct crit_pair_row){ 0, 1, 5, 2024, 5, 2024 };
	messages->communicator_count = 2;
	set_text(sample->communicators[0].name, CRIT_COMMUNICATOR_BYTES, "MPI_COMM_SELF");
	sample->communicators[0].kind = CRIT_COMMUNICATOR_SELF;
	sample->communicators[0].size = 1;
	sample->communicators[0].parent = UINT32_MAX;
	set_text(sample->communicators[1].name, CRIT_COMMUNICATOR_BYTES, "MPI_COMM_WORLD");
	sample->communicators[1].size = 2;
	sample->communicators[1].known_members = 2;
	sample->communicators[1].parent = UINT32_MAX;
	messages->collective_count = 1;
	messages->last_count = 2;
	fill_collective(sample);
}

static void fill_node(struct results_sample *sample)
{
	struct crit_node_row *node = &sample->nodes[0];

	sample->results.node_count = 1;
	set_text(node->host, sizeof(node->host), "node1");
	set_text(node->kernel_release, sizeof(node->kernel_release), "6.1.0-test");
	node->cpu_count = 2;
	node->kernel_half = CRIT_HALF_BPF;
	node->level = CRIT_LEVEL_TRACE;
	node->has_window = true;
	node->has_foot = true;
	node->kernel_record_count = 1234;
	node->slot_count = 160;
	node->critd_cpu_ns = 5 * MS;
	node->recording_bytes = 65536;
}

static void fill_rank(struct results_sample *sample, uint32_t number, uint64_t work_ms)
{
	struct crit_rank_row *rank = &sample->ranks[number];
	struct crit_thread_row *thread = &sample->threads[number];

	rank->rank = number;
	rank->pid = 1000 + number;
	rank->app_threads = 1;
	rank->active_ns = work_ms * MS;
	sample->nodes[0].busy_ns += work_ms * MS;
	rank->open_ns = 5000 * MS;
	rank->close_ns = 6300 * MS;
	set_text(rank->world, sizeof(rank->world), "world-a");
	rank->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = work_ms * MS;
	rank->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = (1300 - work_ms) * MS;
	rank->run.cmetric[CRIT_UNIT_RANKS] = fix_ms(work_ms - 200);
	rank->run.cmetric[CRIT_UNIT_THREADS] = fix_ms(work_ms - 200);
	rank->run.all_waiting[CRIT_UNIT_RANKS] = fix_ms(50);
	rank->run.all_waiting[CRIT_UNIT_THREADS] = fix_ms(50);
	rank->run.blame = number ? 0 : fix_ms(800);
	rank->run.waiting_ns = number ? 800 * MS : 0;
	thread->pid = rank->pid;
	thread->tid = rank->pid;
	thread->rank_row = (int32_t)number;
	set_text(thread->name, sizeof(thread->name), "solver");
	thread->cells = rank->cells;
	thread->run = rank->run;
	thread->life_ns = 1300 * MS;
	thread->switches = 7 + number;
}

static void fill_call(struct crit_call_row *row)
{
	row->call = CRIT_MPI_Barrier;
	row->visits = 80;
	row->time_ns = 1000 * MS;
	row->wait_ns = 1000 * MS;
	row->run.all_waiting[CRIT_UNIT_THREADS] = fix_ms(100);
	row->run.all_waiting[CRIT_UNIT_RANKS] = fix_ms(100);
	row->run.waiting_ns = 800 * MS;
	row->top_rank_row = 0;
}

/* Of 40 barriers each, and of sends that were only counted. */
static void fill_rank_calls(struct results_sample *sample)
{
	sample->results.rank_call_count = 3;
	sample->rank_calls[0] =
		(struct crit_rank_call_row){ .call = CRIT_MPI_Barrier,
					     .visits = 40,
					     .time_ns = 100 * MS,
					     .wait_ns = 100 * MS,
					     .durations = { 40, 100 * MS, 2 * MS, 4 * MS } };
	sample->rank_calls[1] = (struct crit_rank_call_row){ .call = CRIT_MPI_Send, .visits = 5 };
	sample->rank_calls[2] =
		(struct crit_rank_call_row){ .rank_row = 1,
					     .call = CRIT_MPI_Barrier,
					     .visits = 40,
					     .time_ns = 900 * MS,
					     .wait_ns = 900 * MS,
					     .durations = { 40, 900 * MS, 20 * MS, 24 * MS } };
}

static void fill_check(struct crit_consistency_check *check, enum crit_unit unit,
		       uint64_t active_ms, uint64_t silent_ms)
{
	check->unit = unit;
	check->cmetric_sum = fix_ms(active_ms);
	check->all_waiting_sum = fix_ms(silent_ms);
	check->active_ns = active_ms * MS;
	check->window_ns = (active_ms + silent_ms) * MS;
}

void results_sample_barriers(struct results_sample *sample)
{
	struct crit_results *results = &sample->results;

	memset(sample, 0, sizeof(*sample));
	point(sample);
	fill_node(sample);
	results->has_ranks = true;
	results->window_begin_ns = 5000 * MS;
	results->window_ns = 1300 * MS;
	results->elapsed_ns = 1500 * MS;
	results->start_real_ns = 1700000000000000000ull;
	results->run_id = 0x1122334455667788ull;
	results->flavour = CRIT_FLAVOUR_OPENMPI;
	set_text(results->exe, sizeof(results->exe), "/opt/bin/solver");
	set_text(results->arguments, sizeof(results->arguments), "--steps 40");
	set_text(results->library, sizeof(results->library), "Open MPI v4.1.4, package: x");
	results->rank_count = 2;
	results->thread_count = 2;
	fill_rank(sample, 0, 1200);
	fill_rank(sample, 1, 400);
	results->call_count = 1;
	fill_call(&sample->calls[0]);
	results->call_site_count = 1;
	fill_call(&sample->call_sites[0]);
	sample->call_sites[0].pid = 1001;
	sample->call_sites[0].site = 0x55d0c0de1234;
	fill_rank_calls(sample);
	fill_messages(sample);
	results->check_count = 2;
	fill_check(&sample->checks[0], CRIT_UNIT_THREADS, 1200, 100);
	fill_check(&sample->checks[1], CRIT_UNIT_RANKS, 1200, 100);
}

static void fill_thread(struct results_sample *sample, const char *name, uint64_t run_ms,
			uint64_t cmetric_ms)
{
	size_t i = sample->results.thread_count++;
	struct crit_thread_row *thread = &sample->threads[i];

	thread->pid = 500;
	thread->tid = 500 + (uint32_t)i;
	thread->rank_row = -1;
	set_text(thread->name, sizeof(thread->name), name);
	thread->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = run_ms * MS;
	thread->cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = (2000 - run_ms) * MS;
	thread->run.cmetric[CRIT_UNIT_THREADS] = fix_ms(cmetric_ms);
	thread->run.waiting_ns = (2000 - run_ms) * MS;
	thread->idle_blocked_ns = thread->run.waiting_ns;
	thread->birth_ns = sample->results.window_begin_ns;
	thread->death_ns = thread->birth_ns + 2000 * MS;
	sample->nodes[0].busy_ns += run_ms * MS;
	thread->life_ns = 2000 * MS;
}

void results_sample_threads(struct results_sample *sample)
{
	struct crit_results *results = &sample->results;

	memset(sample, 0, sizeof(*sample));
	point(sample);
	fill_node(sample);
	results->window_begin_ns = 5000 * MS;
	results->window_ns = 2000 * MS;
	results->elapsed_ns = 2000 * MS;
	set_text(results->exe, sizeof(results->exe), "/opt/bin/server");
	fill_thread(sample, "main", 1000, 1000);
	fill_thread(sample, "worker", 1000, 500);
	fill_thread(sample, "worker", 1000, 500);
	sample->threads[0].run.blame = fix_ms(2000);
	sample->threads[1].run.blame = fix_ms(500);
	sample->threads[2].run.blame = fix_ms(500);
	results->check_count = 1;
	fill_check(&sample->checks[0], CRIT_UNIT_THREADS, 2000, 0);
}

static struct crit_attribution attributed(uint64_t cmetric_ms, uint64_t blame_ms,
					  uint64_t waiting_ms)
{
	struct crit_attribution run = { .blame = fix_ms(blame_ms), .waiting_ns = waiting_ms * MS };

	run.cmetric[CRIT_UNIT_THREADS] = fix_ms(cmetric_ms);
	run.cmetric[CRIT_UNIT_RANKS] = fix_ms(cmetric_ms);
	return run;
}

static void fill_hybrid_thread(struct results_sample *sample, size_t index,
			       struct crit_attribution run)
{
	struct crit_thread_row *thread = &sample->threads[index];
	struct crit_rank_row *rank = &sample->ranks[index / 2];

	thread->pid = 1000 + (uint32_t)index / 2;
	thread->tid = thread->pid + 10 * ((uint32_t)index % 2);
	thread->rank_row = (int32_t)index / 2;
	set_text(thread->name, sizeof(thread->name), "hybrid");
	thread->run = run;
	thread->life_ns = 1000 * MS;
	for (int s = 0; s < CRIT_STATE_COUNT; s++)
		for (int c = 0; c < CRIT_CLASS_COUNT; c++)
			rank->cells.ns[s][c] += thread->cells.ns[s][c];
	for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++)
		rank->run.cmetric[unit] += run.cmetric[unit];
	rank->run.blame += run.blame;
	rank->run.waiting_ns += run.waiting_ns;
	rank->app_threads++;
	rank->rank = (uint32_t)index / 2;
	rank->pid = thread->pid;
	rank->close_ns = 1000 * MS;
	set_text(rank->world, sizeof(rank->world), "world-a");
}

static void fill_hybrid_threads(struct results_sample *sample)
{
	struct crit_thread_row *t = sample->threads;

	t[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP] = 600 * MS;
	t[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = 300 * MS;
	t[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 100 * MS;
	t[1].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP] = 300 * MS;
	t[1].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_OMP_WAIT] = 300 * MS;
	t[1].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_OMP_IDLE] = 400 * MS;
	t[2].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP] = 200 * MS;
	t[2].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 700 * MS;
	t[2].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = 100 * MS;
	t[3].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP] = 200 * MS;
	t[3].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_OMP_IDLE] = 800 * MS;
	fill_hybrid_thread(sample, 0, attributed(700, 1900, 100));
	fill_hybrid_thread(sample, 1, attributed(100, 100, 700));
	fill_hybrid_thread(sample, 2, attributed(150, 300, 700));
	fill_hybrid_thread(sample, 3, attributed(50, 0, 800));
}

static void fill_region(struct results_sample *sample, size_t index, uint64_t elapsed_ms)
{
	struct crit_region_row *row = &sample->region_rows[index];
	bool is_parallel = index % 2;

	row->pid = 1000 + (uint32_t)index / 2;
	row->number = 1 + (uint32_t)is_parallel;
	row->parent = is_parallel ? (int32_t)index - 1 : -1;
	row->rank_row = (int32_t)index / 2;
	row->call = is_parallel ? CRIT_CONSTRUCT_PARALLEL : CRIT_CONSTRUCT_PHASE;
	row->site = is_parallel ? 0x5000 + 0x1000 * (index / 2) : 0;
	if (!is_parallel)
		set_text(row->name, sizeof(row->name), "solve");
	row->visits = 1;
	row->elapsed_ns = elapsed_ms * MS;
	row->team_max = is_parallel ? 2 : 0;
}

static void fill_hybrid_regions(struct results_sample *sample)
{
	static const struct {
		uint32_t region, thread;
		uint64_t time_ms, useful_ms, omp_wait_ms, mpi_ms, cmetric_ms, blame_ms;
	} parts[] = {
		{ 0, 0, 300, 300, 0, 0, 300, 900 },   { 1, 0, 600, 600, 0, 0, 400, 1000 },
		{ 1, 1, 600, 300, 300, 0, 100, 100 }, { 2, 2, 700, 0, 0, 700, 0, 0 },
		{ 3, 2, 200, 200, 0, 0, 50, 0 },      { 3, 3, 200, 200, 0, 0, 50, 0 },
	};

	fill_region(sample, 0, 900);
	fill_region(sample, 1, 600);
	fill_region(sample, 2, 900);
	fill_region(sample, 3, 200);
	sample->region_rows[1].imbalance_ns = 300 * MS;
	sample->results.regions.row_count = 4;
	sample->results.regions.part_count = sizeof(parts) / sizeof(parts[0]);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		sample->region_parts[i] = (struct crit_region_part){
			.region = parts[i].region,
			.thread = parts[i].thread,
			.visits = 1,
			.time_ns = parts[i].time_ms * MS,
			.useful_ns = parts[i].useful_ms * MS,
			.omp_wait_ns = parts[i].omp_wait_ms * MS,
			.mpi_ns = parts[i].mpi_ms * MS,
			.run = attributed(parts[i].cmetric_ms, parts[i].blame_ms,
					  parts[i].omp_wait_ms + parts[i].mpi_ms),
		};
}

static void fill_hybrid_call(struct crit_call_row *row, uint32_t call, uint64_t wait_ms,
			     int32_t top)
{
	row->call = call;
	row->visits = 1;
	row->time_ns = wait_ms * MS;
	row->wait_ns = wait_ms * MS;
	row->run.waiting_ns = wait_ms * MS;
	row->top_rank_row = top;
}

void results_sample_hybrid(struct results_sample *sample)
{
	struct crit_results *results = &sample->results;

	memset(sample, 0, sizeof(*sample));
	point(sample);
	fill_node(sample);
	results->has_ranks = true;
	results->window_ns = 1000 * MS;
	results->elapsed_ns = 1100 * MS;
	results->run_id = 3;
	results->flavour = CRIT_FLAVOUR_MPICH;
	set_text(results->exe, sizeof(results->exe), "/opt/bin/hybrid");
	results->rank_count = 2;
	results->thread_count = 4;
	fill_hybrid_threads(sample);
	sample->ranks[0].active_ns = 900 * MS;
	sample->ranks[1].active_ns = 300 * MS;
	sample->nodes[0].cpu_count = 4;
	sample->nodes[0].busy_ns = 1700 * MS;
	fill_hybrid_regions(sample);
	results->call_count = 3;
	fill_hybrid_call(&sample->calls[0], CRIT_MPI_Recv, 100, 1);
	fill_hybrid_call(&sample->calls[1], CRIT_MPI_Barrier, 700, 0);
	fill_hybrid_call(&sample->calls[2], CRIT_CONSTRUCT_IMPLICIT_BARRIER, 300, 0);
	results->call_site_count = 1;
	fill_hybrid_call(&sample->call_sites[0], CRIT_MPI_Barrier, 700, 0);
	sample->call_sites[0].pid = 1001;
	sample->call_sites[0].site = 0x6100;
	results->check_count = 2;
	fill_check(&sample->checks[0], CRIT_UNIT_THREADS, 1000, 0);
	fill_check(&sample->checks[1], CRIT_UNIT_RANKS, 1000, 0);
}
