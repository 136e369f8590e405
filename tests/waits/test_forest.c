// SPDX-License-Identifier: BSD-3-Clause
// Random links, cuts and weights of a forest against parents that are walked.
#include "analysis/waits/backwards/forest.h"
#include "tests/lib/check.h"
#include "tests/maker/random.h"

#define NODES_MAX 64u

struct plain {
	uint32_t parent[NODES_MAX];
	int64_t weight[NODES_MAX];
	crit_integral integral[NODES_MAX];
};

static uint32_t root_of(const struct plain *plain, uint32_t node)
{
	while (plain->parent[node] != CRIT_NONE)
		node = plain->parent[node];
	return node;
}

static int64_t load_of(const struct plain *plain, uint32_t count, uint32_t wanted)
{
	int64_t load = 0;

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t node = i; node != CRIT_NONE; node = plain->parent[node])
			load += node == wanted ? plain->weight[i] : 0;
	}
	return load;
}

static void pass(struct plain *plain, uint32_t count, uint64_t passed_ns)
{
	for (uint32_t i = 0; i < count; i++)
		plain->integral[i] += (crit_integral)load_of(plain, count, i) * passed_ns;
}

/* One random change, to both. */
static void change(struct crit_random *dice, struct crit_forest *forest, struct plain *plain,
		   uint32_t count, uint64_t now_ns)
{
	const uint32_t a = (uint32_t)crit_random_below(dice, count);
	const uint32_t b = (uint32_t)crit_random_below(dice, count);

	if (crit_random_is(dice, 30)) {
		const int64_t weight = (int64_t)crit_random_below(dice, 5) - 2;

		crit_forest_weigh(forest, a, weight, now_ns);
		plain->weight[a] += weight;
	} else if (plain->parent[a] != CRIT_NONE) {
		crit_forest_cut(forest, a, now_ns);
		plain->parent[a] = CRIT_NONE;
	} else {
		const bool is_free = root_of(plain, b) != a;

		CHECK_INT_EQ(crit_forest_link(forest, a, b, now_ns), is_free);
		if (is_free)
			plain->parent[a] = b;
	}
}

static void check_node(struct crit_forest *forest, const struct plain *plain, uint32_t count,
		       uint32_t node, uint64_t now_ns)
{
	CHECK_INT_EQ(crit_forest_load(forest, node), load_of(plain, count, node));
	CHECK(crit_forest_integral(forest, node, now_ns) == plain->integral[node]);
	CHECK_UINT_EQ(crit_forest_root(forest, node), root_of(plain, node));
}

static void test_random(uint64_t seed)
{
	struct crit_random dice = { seed };
	const uint32_t count = 1 + (uint32_t)crit_random_below(&dice, NODES_MAX);
	struct crit_forest forest = { 0 };
	struct plain plain = { 0 };
	uint64_t now_ns = 0;

	CHECK_CASE("seed %llu", (unsigned long long)seed);
	CHECK_INT_EQ(crit_forest_grow(&forest, count), 0);
	for (uint32_t i = 0; i < count; i++)
		plain.parent[i] = CRIT_NONE;
	for (int step = 0; step < 400; step++) {
		/* up to times whose integrals need more than 64 bits */
		const uint64_t passed_ns =
			crit_random_is(&dice, 50) ? 0 : crit_random_next(&dice) >> (8 + seed % 50);

		pass(&plain, count, passed_ns);
		now_ns += passed_ns;
		change(&dice, &forest, &plain, count, now_ns);
		check_node(&forest, &plain, count, (uint32_t)crit_random_below(&dice, count),
			   now_ns);
	}
	for (uint32_t i = 0; i < count; i++)
		check_node(&forest, &plain, count, i, now_ns);
	crit_forest_fini(&forest);
	CHECK_CASE("%s", "");
}

int main(void)
{
	for (uint64_t seed = 0; seed < 300; seed++)
		test_random(seed);
	return check_done();
}
