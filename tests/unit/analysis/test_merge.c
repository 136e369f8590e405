// SPDX-License-Identifier: BSD-3-Clause
// The merge's tree beside a search of all sources: of one and of thousands, however far apart; and
// streams beside kernel records of the same time.
#include "analysis/replay/merge.h"
#include "analysis/replay/turns.h"

#include "tests/lib/check.h"
#include "tests/maker/random.h"

#define SOURCES_MAX 4200u
#define STEPS 3000u
#define PARTS 8u
#define ABSENT UINT64_MAX
#define NEAR_NS 1000u
#define NODES 5u
#define STREAMS 60u
#define LAYOUTS 20u
#define FAR_NS (1ull << 54) /* more than there is room for beside the number of a source */

static uint64_t next_ns[SOURCES_MAX];
static struct crit_random random_state = { 1 };

static uint64_t draw(uint64_t below)
{
	return crit_random_below(&random_state, below);
}

static uint32_t first_of(uint32_t count)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < count; i++)
		if (next_ns[i] < next_ns[first])
			first = i;
	return first;
}

/* Each source's part has one that comes no later, and all parts have the first of all. */
static void check_soon(const struct crit_merge *merge, uint32_t count)
{
	const uint32_t first = first_of(count);
	uint32_t parts = 0, seen[SOURCES_MAX] = { 0 };

	CHECK_UINT_EQ(crit_merge_soon(merge, first, PARTS), first);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t soon = crit_merge_soon(merge, i, PARTS);

		if (next_ns[i] == ABSENT)
			continue;
		CHECK(soon < count && next_ns[soon] <= next_ns[i]);
		if (soon < count)
			parts += !seen[soon]++;
	}
	CHECK(parts <= PARTS);
}

/* Some go back in time, before what came first at the begin. */
static uint64_t next_of(uint64_t time_ns, uint64_t step_ns)
{
	switch (draw(20)) {
	case 0:
		return ABSENT;
	case 1:
		return draw(step_ns);
	default:
		return time_ns + draw(step_ns);
	}
}

static void check_count(uint32_t count, uint64_t step_ns)
{
	struct crit_merge merge;
	uint64_t base_ns = 0;
	uint32_t base_count = 0;

	CHECK_CASE("%u sources, %llu ns", count, (unsigned long long)step_ns);
	CHECK_INT_EQ(crit_merge_init(&merge, count), 0);
	for (uint32_t i = 0; i < count; i++) {
		next_ns[i] = draw(step_ns);
		crit_merge_add(&merge, i, next_ns[i]);
	}
	for (uint32_t step = 0; step < STEPS && merge.count; step++) {
		const struct crit_cursor cursor = crit_merge_first(&merge);
		const uint32_t first = first_of(count);

		CHECK_UINT_EQ(cursor.source, first);
		CHECK_UINT_EQ(cursor.time_ns, next_ns[first]);
		base_count += base_ns != merge.base_ns;
		base_ns = merge.base_ns;
		next_ns[first] = next_of(next_ns[first], step_ns);
		if (next_ns[first] == ABSENT)
			crit_merge_remove(&merge, first);
		else
			crit_merge_delay(&merge, first, next_ns[first]);
	}
	if (step_ns == NEAR_NS && merge.count && count >= 64) /* beyond the tree it is a guess */
		check_soon(&merge, count);
	if (step_ns == FAR_NS && count >= 4096)
		CHECK(base_count > 1);
	crit_merge_fini(&merge);
}

/* The order of all sources: planned events, then of each node its records and its streams. */
static uint32_t lay_out(struct crit_stream *streams, uint32_t *others)
{
	uint32_t order = 0, stream = 0;

	others[CRIT_TURN_PLANNED] = order++;
	for (uint32_t node = 0; node < NODES; node++) {
		const uint32_t until = node + 1 < NODES ? stream + (uint32_t)draw(20) : STREAMS;

		others[crit_turn_kernel(node)] = order++;
		for (; stream < until && stream < STREAMS; stream++, order++)
			streams[stream] = (struct crit_stream){ .node = node, .thread = stream };
	}
	return order;
}

/* In that order next_ns has the times; moves the source whose turn it is. */
static void take_turn(struct crit_turns *turns, const struct crit_turn *turn, uint32_t order)
{
	struct crit_merge *merge = turn->is_stream ? &turns->streams : &turns->others;

	next_ns[order] = draw(20) ? next_ns[order] + draw(3) : ABSENT;
	if (next_ns[order] == ABSENT)
		crit_merge_remove(merge, turn->index);
	else
		crit_merge_delay(merge, turn->index, next_ns[order]);
}

/* Times of few ns, so that most are those of several sources. */
static void check_turns(uint32_t layout)
{
	struct crit_stream streams[STREAMS];
	const struct crit_model model = { .node_count = NODES,
					  .stream_count = STREAMS,
					  .streams = streams };
	uint32_t others[1 + NODES], count = lay_out(streams, others), turn_count = 0;
	struct crit_turns turns;
	struct crit_turn turn;

	CHECK_CASE("layout %u", layout);
	CHECK_UINT_EQ(count, 1 + NODES + STREAMS);
	CHECK_INT_EQ(crit_turns_init(&turns, &model), 0);
	CHECK(!crit_turns_next(&turns, &turn));
	for (uint32_t i = 0; i < count; i++)
		next_ns[i] = 1000 + draw(3);
	for (uint32_t i = 0; i < 1 + NODES; i++)
		crit_merge_add(&turns.others, i, next_ns[others[i]]);
	for (uint32_t i = 0; i < STREAMS; i++)
		crit_merge_add(&turns.streams, i, next_ns[i + streams[i].node + 2]);
	for (; crit_turns_next(&turns, &turn); turn_count++) {
		const uint32_t first = first_of(count);

		CHECK_UINT_EQ(turn.time_ns, next_ns[first]);
		CHECK_UINT_EQ(turn.is_stream ? turn.index + streams[turn.index].node + 2
					     : others[turn.index],
			      first);
		CHECK_UINT_EQ(crit_turn_order(&turns, turn.index, turn.is_stream), first);
		take_turn(&turns, &turn, first);
	}
	CHECK_UINT_EQ(next_ns[first_of(count)], ABSENT);
	CHECK(turn_count > count);
	crit_turns_fini(&turns);
}

int main(void)
{
	static const uint32_t counts[] = {
		1, 2, 3, 4, 5, 16, 17, 18, 64, 65, 257, 1000, 4096, 4097
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		check_count(counts[i], NEAR_NS);
		check_count(counts[i], FAR_NS);
	}
	for (uint32_t layout = 0; layout < LAYOUTS; layout++)
		check_turns(layout);
	return check_done();
}
