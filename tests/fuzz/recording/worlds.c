// SPDX-License-Identifier: BSD-3-Clause
// Draws runs whose nodes differ: schedules, messages with skewed clocks, OpenMP teams.
#include "tests/fuzz/recording/worlds.h"

#include "tests/fuzz/recording/parts.h"
#include "tests/fuzz/seeds.h"
#include "tests/sim/scenario.h"
#include "tests/sim/clocks.h"
#include "tests/sim/teams.h"

#define EVENTS_MAX 60u

static size_t make_scenario(uint64_t seed, struct input *ret_files)
{
	struct crit_scenario_shape shape = crit_scenario_draw(seed, EVENTS_MAX);
	struct crit_scenario *s;
	size_t count = 0;

	shape.events_max %= EVENTS_MAX;
	s = crit_scenario_simulate(&shape);
	for (uint32_t node = 0; node < s->node_count && node < FUZZ_PARTS_MAX; node++)
		ret_files[count++] = input_of(crit_scenario_record(s, node, NULL));
	crit_scenario_destroy(s);
	return count;
}

static size_t make_skewed(uint64_t seed, struct input *ret_files)
{
	static struct sim_clocks w;
	size_t count = 0;

	w = (struct sim_clocks){ .is_once = seed % 2, .is_lossy = seed % 3 == 0 };
	sim_clocks_make(&w, seed);
	for (uint32_t node = 0; node < w.node_count; node++)
		ret_files[count++] = input_of(w.nodes[node].m);
	return count;
}

static size_t make_teams(uint64_t seed, struct input *ret_files)
{
	static struct sim_teams w;

	for (size_t node = 0; node < 2; node++) {
		sim_teams_make(&w, seed + node, NULL);
		ret_files[node] = input_of(w.m);
	}
	return 2;
}

struct input world_make(size_t number)
{
	struct input files[FUZZ_PARTS_MAX];
	size_t count;

	switch (number % 3) {
	case 0:
		count = make_scenario(number + 1, files);
		break;
	case 1:
		count = make_skewed(number + 1, files);
		break;
	default:
		count = make_teams(number + 1, files);
		break;
	}
	return parts_join(files, count, (uint8_t)(number << 4));
}
