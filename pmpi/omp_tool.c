// SPDX-License-Identifier: BSD-3-Clause
// An OpenMP runtime that looks for a tool finds libcrit_ompt.so here, though only this library is
// preloaded.  Where no runtime asks, nothing is loaded.
#include <dlfcn.h>
#include <stddef.h>

#include "core/base/guard.h"
#include "pmpi/resolve.h"

typedef void *start_tool(unsigned int omp_version, const char *runtime_version);

__attribute__((visibility("default"))) start_tool ompt_start_tool;

void *ompt_start_tool(unsigned int omp_version, const char *runtime_version)
{
	CRIT_GUARD;
	void *library = crit_pmpi_load("libcrit_ompt.so"); /* NULL: built without it */
	start_tool *ours = library ? (start_tool *)dlsym(library, "ompt_start_tool") : NULL;
	void *tool = ours ? ours(omp_version, runtime_version) : NULL;
	start_tool *next;

	if (tool)
		return tool;
	next = (start_tool *)dlsym(RTLD_NEXT, "ompt_start_tool");
	return next ? next(omp_version, runtime_version) : NULL;
}
