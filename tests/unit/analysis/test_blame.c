// SPDX-License-Identifier: BSD-3-Clause
// Blame charges what its definition says, whatever the order of calls, ranks and times.
#include "analysis/account/blame.h"

#include <string.h>

#include "tests/lib/check.h"

#define RANKS 5u
#define CALLS 40u
#define STEPS 4000u
#define SEEDS 50u

struct truth { /* by definition: every call and rank at every step */
	uint32_t waiting[CALLS];
	uint32_t active[RANKS];
	crit_fix charge[CALLS][RANKS];
};

static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

static void pass(struct truth *truth, crit_fix passed)
{
	for (uint32_t call = 1; call < CALLS; call++)
		for (uint32_t rank = 0; rank < RANKS; rank++)
			truth->charge[call][rank] +=
				passed * truth->waiting[call] * truth->active[rank];
}

static void step(struct crit_blame *blame, struct truth *truth, uint32_t calls, crit_fix integral)
{
	uint32_t call = 1 + draw(calls), rank = draw(RANKS);

	if (draw(3) == 0) {
		crit_blame_settle(blame, rank, truth->active[rank], integral);
		truth->active[rank] = draw(4);
	} else if (truth->waiting[call] && draw(2)) {
		CHECK_INT_EQ(crit_blame_wait(blame, call, -1, integral), 0);
		truth->waiting[call]--;
	} else if (draw(2)) {
		CHECK_INT_EQ(crit_blame_wait(blame, call, 1, integral), 0);
		truth->waiting[call]++;
	}
}

static void settle_all(struct crit_blame *blame, const struct truth *truth, crit_fix integral)
{
	for (uint32_t rank = 0; rank < RANKS; rank++)
		crit_blame_settle(blame, rank, truth->active[rank], integral);
}

static void check_charges(const struct crit_blame *blame, const struct truth *truth)
{
	for (uint32_t call = 1; call < CALLS; call++) {
		int64_t top = -1;
		crit_fix most = 0;

		for (uint32_t rank = 0; rank < RANKS; rank++) {
			crit_fix charge = truth->charge[call][rank];

			CHECK(!blame->slots[call] ||
			      blame->calls[blame->slots[call] - 1].cells[rank].charge == charge);
			if (charge > most) {
				most = charge;
				top = rank;
			}
		}
		CHECK_INT_EQ(crit_blame_top(blame, call), top);
	}
}

/* Two time slices: the integral begins anew at the second one. */
static void check_seed(uint32_t calls)
{
	static struct crit_blame blame;
	struct truth truth = { 0 };

	crit_blame_init(&blame, RANKS);
	for (int slice = 0; slice < 2; slice++) {
		crit_fix integral = 0;

		for (uint32_t i = 0; i < STEPS; i++) {
			crit_fix passed = (crit_fix)draw(1000) << 32;

			pass(&truth, passed);
			integral += passed;
			step(&blame, &truth, calls, integral);
		}
		settle_all(&blame, &truth, integral);
		crit_blame_restart(&blame);
		memset(truth.waiting, 0, sizeof(truth.waiting));
	}
	check_charges(&blame, &truth);
	crit_blame_fini(&blame);
}

int main(void)
{
	for (state = 1; state <= SEEDS; state++) {
		const uint64_t seed = state;

		CHECK_CASE("seed %u", (unsigned int)seed);
		check_seed(1 + seed % (CALLS - 1));
		state = seed;
	}
	return check_done();
}
