// SPDX-License-Identifier: BSD-3-Clause
//
// Random runs whose messages are counted as they are made up, against the analysis and against what
// a sink is told; and the same runs with one detail left out, which must show.
//
//   test-message-property [COUNT [SEED]]
#include <stdlib.h>
#include <string.h>

#include "analysis/schema/trace.h"
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/sim/messages.h"

#define HEARD_MAX 40000
#define REQUESTS_MAX 20000

struct heard { /* by a sink */
	const struct crit_results *run;
	uint64_t last_ns[SIM_RANKS * SIM_THREADS];
	uint32_t depth[SIM_RANKS * SIM_THREADS];
	struct {
		struct crit_trace_message message;
		uint32_t rank;
	} messages[HEARD_MAX];
	size_t count;
	uint8_t requests[REQUESTS_MAX]; /* 1: a send, 2: a receive; 0 again when complete */
	uint64_t sent_count[SIM_RANKS][SIM_RANKS], sent_bytes[SIM_RANKS][SIM_RANKS];
	uint64_t received_count[SIM_RANKS][SIM_RANKS], received_bytes[SIM_RANKS][SIM_RANKS];
	uint64_t collectives[SIM_CALLS], open_collectives;
	uint32_t communicators;
	bool are_whole;
};

static struct heard heard;

static int on_begin(void *user, const struct crit_results *run, uint64_t end_ns)
{
	struct heard *h = user;

	(void)end_ns;
	*h = (struct heard){ .run = run };
	return 0;
}

static void hear(struct heard *h, uint32_t thread, uint64_t time_ns)
{
	CHECK(time_ns >= h->last_ns[thread]);
	h->last_ns[thread] = time_ns;
}

static int on_enter(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, uint64_t total_cmetric_ns)
{
	struct heard *h = user;

	(void)span;
	(void)total_cmetric_ns;
	hear(h, thread, time_ns);
	h->depth[thread]++;
	return 0;
}

static int on_leave(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	struct heard *h = user;

	(void)span;
	(void)sums;
	hear(h, thread, time_ns);
	h->depth[thread]--;
	return 0;
}

/* Starts once, ends once, under a number of its own. */
static void follow(struct heard *h, const struct crit_trace_message *message)
{
	uint8_t *request = &h->requests[message->request % REQUESTS_MAX];

	switch (message->kind) {
	case CRIT_TRACE_ISEND:
	case CRIT_TRACE_IRECV_REQUEST:
		CHECK(!*request && message->request && message->request < REQUESTS_MAX);
		*request = message->kind == CRIT_TRACE_ISEND ? 1 : 2;
		break;
	case CRIT_TRACE_ISEND_COMPLETE:
	case CRIT_TRACE_IRECV:
		CHECK_UINT_EQ(*request, message->kind == CRIT_TRACE_IRECV ? 2 : 1);
		*request = 0;
		break;
	case CRIT_TRACE_COLLECTIVE_BEGIN:
		h->open_collectives++;
		break;
	case CRIT_TRACE_COLLECTIVE_END:
		CHECK_UINT_EQ(h->open_collectives, 1);
		h->open_collectives--;
		h->collectives[message->call]++;
		break;
	case CRIT_TRACE_COLLECTIVE_COMPLETE:
		h->collectives[message->call]++;
		break;
	default:
		break;
	}
}

static int on_message(void *user, uint32_t thread, uint64_t time_ns,
		      const struct crit_trace_message *message)
{
	struct heard *h = user;

	hear(h, thread, time_ns);
	CHECK_UINT_EQ(h->depth[thread], 1);
	follow(h, message);
	if (CHECK(h->count < HEARD_MAX)) {
		h->messages[h->count].message = *message;
		h->messages[h->count++].rank = (uint32_t)h->run->threads[thread].rank_row;
	}
	return 0;
}

static void count_heard(struct heard *h, const struct crit_trace_message *message, uint32_t rank,
			uint32_t peer)
{
	bool is_send = message->kind == CRIT_TRACE_SEND || message->kind == CRIT_TRACE_ISEND;

	if (is_send) {
		h->sent_count[rank][peer]++;
		h->sent_bytes[rank][peer] += message->bytes;
	} else if (message->kind == CRIT_TRACE_RECV || message->kind == CRIT_TRACE_IRECV) {
		h->received_count[peer][rank]++;
		h->received_bytes[peer][rank] += message->bytes;
	}
}

/* Communicators come in order of their numbers, after the messages in them. */
static int on_communicator(void *user, const struct crit_trace_communicator *told)
{
	struct heard *h = user;

	for (size_t i = 0; i < h->count; i++) {
		const struct crit_trace_message *message = &h->messages[i].message;
		uint32_t rank = h->messages[i].rank, peer = message->peer;

		if (message->communicator != h->communicators || message->peer >= SIM_RANKS)
			continue;
		if (told->kind == CRIT_TRACE_COMM_SELF)
			peer = rank;
		else if (told->kind == CRIT_TRACE_COMM_INTRA)
			peer = told->members[peer];
		count_heard(h, message, rank, peer);
	}
	h->communicators++;
	return 0;
}

static int on_end(void *user, const struct crit_results *results, bool are_messages_whole)
{
	struct heard *h = user;

	(void)results;
	h->are_whole = are_messages_whole;
	return 0;
}

static const struct crit_trace_sink sink = { .user = &heard,
					     .begin = on_begin,
					     .enter = on_enter,
					     .leave = on_leave,
					     .message = on_message,
					     .communicator = on_communicator,
					     .end = on_end };

static const struct crit_trace_sink claim = { .user = &heard, .end = on_end };

static void check_heard(const struct sim_messages *w, const struct heard *h)
{
	uint64_t collectives[SIM_CALLS] = { 0 }, pending = 0;

	CHECK(h->are_whole);
	CHECK_UINT_EQ(h->communicators, w->comm_count);
	CHECK_INT_EQ(memcmp(h->sent_count, w->sent_count, sizeof(h->sent_count)), 0);
	CHECK_INT_EQ(memcmp(h->sent_bytes, w->sent_bytes, sizeof(h->sent_bytes)), 0);
	CHECK_INT_EQ(memcmp(h->received_count, w->received_count, sizeof(h->sent_count)), 0);
	CHECK_INT_EQ(memcmp(h->received_bytes, w->received_bytes, sizeof(h->sent_bytes)), 0);
	for (uint32_t i = 0; i < w->instance_count; i++)
		collectives[w->instances[i].call] += w->comms[w->instances[i].comm].size;
	CHECK_INT_EQ(memcmp(collectives, h->collectives, sizeof(collectives)), 0);
	for (uint32_t i = 0; i < REQUESTS_MAX; i++)
		pending += h->requests[i] != 0;
	CHECK_UINT_EQ(pending, 0);
}

static uint64_t differences(const struct crit_volume *a, const struct sim_volume *b)
{
	uint64_t sum = (a->count != b->count) + (a->bytes != b->bytes) + a->unknown_count;

	for (unsigned int i = 0; i < CRIT_SIZE_BINS; i++)
		sum += a->sizes[i] != b->sizes[i];
	return sum;
}

/* How many figures of calls and pairs are not as counted. */
static uint64_t wrong_messages(const struct sim_messages *w, const struct crit_message_results *m)
{
	uint64_t wrong = 0, calls = 0, pairs = 0;

	for (size_t i = 0; i < m->traffic_count; i++) {
		wrong += differences(&m->traffic[i].sent, &w->sent[m->traffic[i].call]);
		wrong += differences(&m->traffic[i].received, &w->received[m->traffic[i].call]);
	}
	for (uint32_t call = 0; call < SIM_CALLS; call++)
		calls += w->sent[call].count || w->received[call].count;
	for (size_t i = 0; i < m->pair_count; i++) {
		const struct crit_pair_row *p = &m->pairs[i];

		wrong += p->sent_count != w->sent_count[p->from_row][p->to_row];
		wrong += p->sent_bytes != w->sent_bytes[p->from_row][p->to_row];
		wrong += p->received_count != w->received_count[p->from_row][p->to_row];
		wrong += p->received_bytes != w->received_bytes[p->from_row][p->to_row];
	}
	for (uint32_t i = 0; i < SIM_RANKS * SIM_RANKS; i++)
		pairs += w->sent_count[i / SIM_RANKS][i % SIM_RANKS] ||
			 w->received_count[i / SIM_RANKS][i % SIM_RANKS];
	return wrong + (calls != m->traffic_count) + (pairs != m->pair_count);
}

struct truth { /* of a communicator and call */
	uint64_t instances, spread_ns, late_ns, lasts[SIM_RANKS];
};

static void add_instance(const struct sim_messages *w, const struct sim_instance *in,
			 struct truth *truth)
{
	const struct sim_comm *comm = &w->comms[in->comm];
	uint64_t first = UINT64_MAX, last = 0, sum = 0;
	uint32_t who = 0;

	for (uint32_t i = 0; i < comm->size; i++) {
		sum += in->at_ns[i] - SIM_T0;
		if (in->at_ns[i] < first)
			first = in->at_ns[i];
		if (in->at_ns[i] > last) {
			last = in->at_ns[i];
			who = comm->members[i];
		}
	}
	truth->instances++;
	truth->spread_ns += last - first;
	truth->late_ns += last - SIM_T0 - sum / comm->size;
	truth->lasts[who]++;
}

/* Ties may go to either; means are cut to whole nanoseconds. */
static uint64_t wrong_row(const struct crit_message_results *m,
			  const struct crit_collective_row *row, const struct truth *truth)
{
	uint64_t wrong = row->incomplete != 0, lasts = 0;
	int64_t late = (int64_t)(row->late_sum_ns - truth->late_ns);

	wrong += row->instances != truth->instances;
	wrong += row->spread_sum_ns != truth->spread_ns;
	wrong += late > (int64_t)truth->instances || -late > (int64_t)truth->instances;
	for (size_t i = 0; i < row->last_count; i++) {
		const struct crit_last_row *last = &m->lasts[row->first_last + i];
		uint64_t count = truth->lasts[last->rank_row];

		lasts += last->count;
		wrong += last->count > count + 3 || last->count + 3 < count;
	}
	return wrong + (lasts != truth->instances);
}

/* Our number of a communicator of the results: the world and self change places. */
static uint32_t number_of(uint32_t row)
{
	return row < 2 ? 1 - row : row;
}

static uint64_t wrong_collectives(const struct sim_messages *w,
				  const struct crit_message_results *m)
{
	uint64_t wrong = 0, seen = 0;

	for (size_t i = 0; i < m->collective_count; i++) {
		const struct crit_collective_row *row = &m->collectives[i];
		uint32_t which = number_of(row->communicator);
		struct truth truth = { 0 };

		for (uint32_t k = 0; k < w->instance_count; k++)
			if (w->instances[k].comm == which && w->instances[k].call == row->call)
				add_instance(w, &w->instances[k], &truth);
		wrong += row->visits != truth.instances * w->comms[which].size;
		if (w->comms[which].size > 1)
			wrong += wrong_row(m, row, &truth);
		seen += truth.instances;
	}
	return wrong + (seen != w->instance_count);
}

static uint64_t losses(const struct crit_message_results *m)
{
	const struct crit_message_losses *l = &m->losses;

	return l->details + l->stray + l->unfinished + l->unresolved + l->communicators +
	       l->late_arrivals + l->missing_members + l->estimated + l->foreign + l->freed;
}

/* A receiver knows of a message its sender does not, or the other way round. */
static uint64_t contradictions(const struct crit_message_results *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->pair_count; i++)
		sum += m->pairs[i].sent_count != m->pairs[i].received_count;
	for (size_t i = 0; i < m->collective_count; i++)
		sum += m->collectives[i].incomplete;
	return sum;
}

static struct crit_results *analyse(struct sim_messages *w, uint64_t seed, uint32_t left_out,
				    const struct crit_trace_sink *listener)
{
	struct crit_results *r = NULL;

	sim_messages_make(w, seed, left_out);
	if (!CHECK_INT_EQ(crit_analysed_traced(&w->m, 1, CRIT_ACTIVE_DEFAULT, listener, &r), 0))
		exit(1);
	CHECK_STR_EQ(crit_analysed_failed_check(r), NULL);
	crit_maker_destroy(w->m);
	sim_edges_fini(&w->edges);
	return r;
}

static void check_run(struct sim_messages *w, uint64_t seed)
{
	struct crit_results *r = analyse(w, seed, 0, &sink);
	uint32_t details = w->details;
	uint32_t left_out;

	CHECK_CASE("seed %llu", (unsigned long long)seed);
	CHECK_UINT_EQ(losses(&r->messages), 0);
	CHECK(r->messages.is_whole);
	CHECK_UINT_EQ(wrong_messages(w, &r->messages), 0);
	CHECK_UINT_EQ(wrong_collectives(w, &r->messages), 0);
	CHECK_UINT_EQ(r->messages.communicator_count, w->comm_count);
	check_heard(w, &heard);
	crit_results_destroy(r);
	if (!details)
		return;
	left_out = 1 + (uint32_t)crit_random_below(&w->random, details);
	r = analyse(w, seed, left_out, &claim);
	CHECK_CASE("seed %llu without detail %u", (unsigned long long)seed, left_out);
	CHECK(losses(&r->messages) || contradictions(&r->messages) ||
	      !(wrong_messages(w, &r->messages) + wrong_collectives(w, &r->messages)));
	CHECK(!heard.are_whole || !(r->messages.losses.freed + r->messages.losses.unfinished +
				    r->messages.losses.stray));
	crit_results_destroy(r);
}

int main(int argc, char **argv)
{
	static struct sim_messages world;
	uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 300;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	for (uint64_t i = 0; i < runs; i++)
		check_run(&world, seed + i);
	return check_done();
}
