// SPDX-License-Identifier: BSD-3-Clause
// What a process tells of its environment when it registers: PMPI libraries in front of crit's, and
// how its OpenMP threads wait.
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>

#include "core/abi/abi_socket.h"
#include "core/shim/shim_state.h"

static bool is_of(const Dl_info *object, const char *prefix)
{
	const char *slash = strrchr(object->dli_fname, '/');

	return strncmp(slash ? slash + 1 : object->dli_fname, prefix, strlen(prefix)) == 0;
}

/*
 * Does the program's call of this name reach another library first?  A definition in the program
 * itself is its own matter: no order of libraries is before that.
 */
static bool is_in_front(const char *name)
{
	const void *entry = (const void *)(uintptr_t)getauxval(AT_ENTRY);
	const void *first = dlsym(RTLD_DEFAULT, name);
	Dl_info object, program;

	if (!first || !dladdr(first, &object) || !object.dli_fname)
		return false;
	if (dladdr(entry, &program) && program.dli_fbase == object.dli_fbase)
		return false;
	return !is_of(&object, "libcrit_pmpi.so") && !is_of(&object, "libmpi");
}

/* Calls that any library would wrap which looks at the time spent in MPI. */
static bool has_pmpi_in_front(void)
{
	static const char *const names[] = { "MPI_Init",    "MPI_Init_thread", "MPI_Send",
					     "MPI_Recv",    "MPI_Isend",       "MPI_Irecv",
					     "MPI_Wait",    "MPI_Waitall",     "MPI_Barrier",
					     "MPI_Bcast",   "MPI_Reduce",      "MPI_Allreduce",
					     "MPI_Finalize" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_in_front(names[i]))
			return true;
	return false;
}

static bool is_set_to(const char *variable, const char *value)
{
	const char *text = getenv(variable);

	return text && strcasecmp(text, value) == 0;
}

/* By the standard's variable, or by those with which LLVM's and GNU's runtimes overrule it. */
static bool is_omp_passive(void)
{
	return is_set_to("OMP_WAIT_POLICY", "passive") || is_set_to("KMP_BLOCKTIME", "0") ||
	       is_set_to("GOMP_SPINCOUNT", "0");
}

uint16_t crit_shim_environment(void)
{
	return (uint16_t)((has_pmpi_in_front() ? CRIT_PF_PMPI_IN_FRONT : 0) |
			  (is_omp_passive() ? CRIT_PF_OMP_PASSIVE : 0));
}
