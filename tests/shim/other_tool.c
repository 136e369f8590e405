// SPDX-License-Identifier: BSD-3-Clause
// Another tool of an OpenMP runtime: says that it is the one.
#include <omp-tools.h>
#include <stdio.h>

ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version);

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
	(void)lookup;
	(void)device;
	(void)data;
	puts("the other tool");
	return 1;
}

static void finalize(ompt_data_t *data)
{
	(void)data;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version)
{
	static ompt_start_tool_result_t result = { initialize, finalize, { 0 } };

	(void)omp_version;
	(void)runtime_version;
	return &result;
}
