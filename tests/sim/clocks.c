// SPDX-License-Identifier: BSD-3-Clause
// Messages between nodes in true time, stamped by clocks that differ.
#include "tests/sim/clocks.h"

#include <stdio.h>

#include "core/base/call.h"
#include "tests/maker/acts.h"

#define PID 100u
#define MESSAGES 600u
#define ERROR_MAX 30000u /* ns */

static uint64_t below(struct sim_clocks *w, uint64_t bound)
{
	return crit_random_below(&w->random, bound);
}

uint64_t sim_clock_stamp(const struct sim_clock *node, uint64_t true_ns)
{
	int64_t passed_ns = (int64_t)(true_ns - SIM_CLOCKS_T0);

	return (uint64_t)((int64_t)true_ns + node->ahead_ns + passed_ns * node->ppm / 1000000);
}

static void draw(struct sim_clocks *w, uint32_t number)
{
	struct sim_clock *node = &w->nodes[number];

	*node = (struct sim_clock){ 0 };
	if (!number)
		return;
	node->ahead_ns = (int64_t)below(w, 1000000000) - 500000000;
	node->ppm = w->is_once ? 0 : (int64_t)below(w, 101) - 50;
	for (int end = 0; end < 2; end++) {
		node->error_ns[end] = (int64_t)below(w, 2 * ERROR_MAX) - ERROR_MAX;
		node->bound_ns[end] = ERROR_MAX + below(w, 2000);
		if (crit_random_is(&w->random, 30)) { /* this one went well */
			node->error_ns[end] /= 256;
			node->bound_ns[end] /= 200;
		}
		if (w->is_wrong)
			node->bound_ns[end] = 10;
	}
}

static void put_clock(const struct sim_clocks *w, const struct sim_clock *node, int end)
{
	uint64_t true_ns = SIM_CLOCKS_T0 + (end ? SIM_CLOCKS_LENGTH / (w->is_short ? 2 : 1) : 0);
	struct crit_rec_clock record = { .time_ns = sim_clock_stamp(node, true_ns),
					 .bound_ns = node->bound_ns[end],
					 .reference = "node-0" };

	record.offset_ns = (int64_t)(true_ns - record.time_ns) + node->error_ns[end];
	crit_maker_clock(node->m, record);
}

static void open_node(struct sim_clocks *w, uint32_t number)
{
	struct sim_clock *node = &w->nodes[number];
	uint64_t begin_ns = sim_clock_stamp(node, SIM_CLOCKS_T0);
	struct crit_rec_file file = { .cpu_count = 1,
				      .kernel_status = -1,
				      .start_mono_ns = begin_ns,
				      .start_real_ns = 1700000000000000000ull };

	(void)snprintf(file.host, sizeof(file.host), "node-%u", number);
	(void)snprintf(file.boot, sizeof(file.boot), "boot-%u", number);
	node->m = crit_maker_create(NULL);
	crit_maker_file(node->m, file);
	node->stream = crit_act_open(node->m, (struct crit_act_rank){ PID, number, w->node_count, 0,
								      begin_ns, 0 });
	if (number)
		put_clock(w, node, 0);
}

static void close_node(struct sim_clocks *w, uint32_t number)
{
	struct sim_clock *node = &w->nodes[number];
	uint64_t end_ns = sim_clock_stamp(node, SIM_CLOCKS_T0 + SIM_CLOCKS_LENGTH);

	if (number && !w->is_once)
		put_clock(w, node, 1);
	crit_act_shut(node->m, PID, node->stream, end_ns, end_ns + 2000);
	crit_maker_window(node->m, end_ns);
}

static void span(const struct sim_clock *node, uint32_t call, uint64_t enter_ns, uint64_t leave_ns,
		 struct crit_slot_detail what)
{
	what.comm = 1;
	what.tag = 7;
	what.bytes = 8;
	crit_maker_enter(node->m, node->stream, sim_clock_stamp(node, enter_ns), call);
	crit_maker_detail(node->m, node->stream, what);
	crit_maker_leave(node->m, node->stream, sim_clock_stamp(node, leave_ns), call);
}

static void send_one(struct sim_clocks *w, uint32_t from, uint64_t sent_ns, bool is_lost)
{
	uint32_t to = (from + 1 + (uint32_t)below(w, w->node_count - 1)) % w->node_count;
	uint64_t received_ns = sent_ns + SIM_CLOCKS_LEAST + below(w, 3000);

	if (is_lost)
		crit_maker_lose(w->nodes[from].m, w->nodes[from].stream, 1);
	else
		span(&w->nodes[from], CRIT_MPI_Send, sent_ns, sent_ns + 300,
		     (struct crit_slot_detail){ .detail = CRIT_D_SEND, .peer = (int32_t)to });
	span(&w->nodes[to], CRIT_MPI_Recv, sent_ns - 500, received_ns,
	     (struct crit_slot_detail){ .detail = CRIT_D_RECV, .peer = (int32_t)from });
}

void sim_clocks_make(struct sim_clocks *w, uint64_t seed)
{
	/* so near to each other that a message in the place of another looks possible */
	const uint32_t last = MESSAGES - SIM_CLOCKS_NODES;
	const uint64_t step_ns = w->is_lossy ? 8000 : SIM_CLOCKS_LENGTH / (MESSAGES + 1);

	w->random = (struct crit_random){ seed };
	w->node_count = 2 + (uint32_t)below(w, SIM_CLOCKS_NODES - 1);
	for (uint32_t i = 0; i < w->node_count; i++) {
		draw(w, i);
		open_node(w, i);
	}
	for (uint32_t i = 1; i <= MESSAGES; i++) {
		bool is_lost = w->is_lossy && i == last;
		uint32_t from = (uint32_t)below(w, w->node_count);

		if (i > last) /* all, one after the other: who lost says so */
			from = i % w->node_count;
		send_one(w, from, SIM_CLOCKS_T0 + i * step_ns + below(w, step_ns / 8), is_lost);
	}
	for (uint32_t i = 0; i < w->node_count; i++)
		close_node(w, i);
}
