// SPDX-License-Identifier: BSD-3-Clause
/* Fills the results of two small runs by hand. */
#include "tests/unit/results_sample.h"

#include <stdio.h>
#include <string.h>

#include "core/abi_shim.h"
#include "core/abi_socket.h"
#include "core/call.h"

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
	results->sites = sample->sites;
	results->laws = sample->laws;
}

static void fill_node(struct results_sample *sample)
{
	struct crit_node_row *node = &sample->nodes[0];

	sample->results.node_count = 1;
	set_text(node->host, sizeof(node->host), "node1");
	set_text(node->kernel_release, sizeof(node->kernel_release), "6.1.0-test");
	node->cpu_count = 2;
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
	rank->open_ns = 5000 * MS;
	rank->close_ns = 6300 * MS;
	set_text(rank->world, sizeof(rank->world), "world-a");
	rank->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = work_ms * MS;
	rank->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = (1300 - work_ms) * MS;
	rank->run.cmetric[CRIT_UNIT_RANKS] = fix_ms(work_ms - 200);
	rank->run.cmetric[CRIT_UNIT_THREADS] = fix_ms(work_ms - 200);
	rank->run.stall[CRIT_UNIT_RANKS] = fix_ms(50);
	rank->run.stall[CRIT_UNIT_THREADS] = fix_ms(50);
	rank->run.waited_for = number ? 0 : fix_ms(800);
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
	row->run.stall[CRIT_UNIT_THREADS] = fix_ms(100);
	row->run.stall[CRIT_UNIT_RANKS] = fix_ms(100);
	row->run.waiting_ns = 800 * MS;
	row->top_rank_row = 0;
}

static void fill_law(struct crit_law *law, enum crit_unit unit, uint64_t active_ms,
		     uint64_t silent_ms)
{
	law->unit = unit;
	law->cmetric_sum = fix_ms(active_ms);
	law->stall_sum = fix_ms(silent_ms);
	law->active_ns = active_ms * MS;
	law->window_ns = (active_ms + silent_ms) * MS;
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
	results->site_count = 1;
	fill_call(&sample->sites[0]);
	sample->sites[0].pid = 1001;
	sample->sites[0].site = 0x55d0c0de1234;
	results->law_count = 2;
	fill_law(&sample->laws[0], CRIT_UNIT_THREADS, 1200, 100);
	fill_law(&sample->laws[1], CRIT_UNIT_RANKS, 1200, 100);
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
	sample->threads[0].run.waited_for = fix_ms(2000);
	sample->threads[1].run.waited_for = fix_ms(500);
	sample->threads[2].run.waited_for = fix_ms(500);
	results->law_count = 1;
	fill_law(&sample->laws[0], CRIT_UNIT_THREADS, 2000, 0);
}
