// SPDX-License-Identifier: BSD-3-Clause
// A plug-in, for plugin_host of tests/shim, whose constructor runs a team while the loader holds
// its lock: no member may ask the loader for anything.
int plugin_run(void);

static int total;

__attribute__((constructor)) static void count(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp critical
		total++;
#pragma omp barrier
#pragma omp critical(again)
		total++;
	}
}

int plugin_run(void)
{
	return total;
}
