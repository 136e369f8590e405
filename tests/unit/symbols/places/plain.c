// SPDX-License-Identifier: BSD-3-Clause
// Calls from C: one inlined twice over and one once into the same function, two from what may
// become a team's work, one from a plug-in.
#include <dlfcn.h>
#include <stdlib.h>

#include "tests/unit/symbols/places/probe.h"

volatile int turns = 1;

static inline __attribute__((always_inline)) int innermost(void)
{
	return probe("inlined") + turns; // MARK inlined
}

static inline __attribute__((always_inline)) int between(void)
{
	return innermost() + turns; // MARK between
}

static inline __attribute__((always_inline)) int beside(void)
{
	return probe("beside") - turns; // MARK beside
}

__attribute__((noinline)) int exchange(void)
{
	int count = between(); // MARK exchange

	count += beside(); // MARK second
	for (int i = 0; i < turns; i++)
		count += probe("plain"); // MARK plain
	return count;
}

__attribute__((noinline)) int sum_up(void)
{
	int count = turns;

#pragma omp parallel num_threads(1) reduction(+ : count)
	{
		count += probe("team"); // MARK team
		for (int i = 0; i < turns; i++) {
#pragma omp critical
			count += probe("inner"); // MARK inner
		}
	}
	return count;
}

int main(int argc, char **argv)
{
	int count = exchange() + sum_up() + probe_library();

	if (argc > 1) {
		void *plugin = dlopen(argv[1], RTLD_NOW);
		int (*run)(void) = (int (*)(void))(plugin ? dlsym(plugin, "run_plugin") : NULL);

		count += run ? run() : 0; /* stays loaded */
	}
	return count > 0 ? 0 : 1;
}
