// SPDX-License-Identifier: BSD-3-Clause
// Decides, at the first call of each name, where its stub leads from now on.
//
// libcrit_pmpi.so needs no libmpi: the one that is loaded, even RTLD_LOCAL, is found in the list of
// objects, and the backend for its flavour is loaded from beside this library.
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/call.h"
#include "core/shim.h"
#include "pmpi/backend_abi.h"

#define PATH_BYTES 4096
#define MPI_ERR_OTHER_SOMEWHERE 16 /* any non-zero code: there is no MPI to ask for the right one */

extern __attribute__((visibility("hidden"))) void *crit_pmpi_table[2 * CRIT_PMPI_CALLS];
__attribute__((visibility("hidden"))) void *crit_pmpi_resolve(uint32_t place);

static const char *const names[CRIT_PMPI_CALLS] = {
#include "names.inc"
};

static struct {
	pthread_once_t once;
	enum crit_flavour flavour;
	char path[PATH_BYTES]; /* of libmpi */
	void *mpi;
	const struct crit_pmpi_backend *backend; /* NULL: forward everything */
} loaded = { .once = PTHREAD_ONCE_INIT };

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static enum crit_flavour flavour_of_name(const char *base)
{
	if (strncmp(base, "libmpi.so.40", 12) == 0)
		return CRIT_FLAVOUR_OPENMPI;
	if (strncmp(base, "libmpich.so.12", 14) == 0 || strncmp(base, "libmpi.so.12", 12) == 0)
		return CRIT_FLAVOUR_MPICH;
	return CRIT_FLAVOUR_NONE;
}

/* The loader keeps the name a library was opened by, which may be the link without a version. */
static enum crit_flavour flavour_of(const char *path)
{
	const char *base = base_of(path);
	char real[PATH_BYTES];
	enum crit_flavour flavour = flavour_of_name(base);

	if (flavour == CRIT_FLAVOUR_NONE && strncmp(base, "libmpi", 6) == 0 && realpath(path, real))
		flavour = flavour_of_name(base_of(real));
	return flavour;
}

static int is_mpi(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	return flavour_of(info->dlpi_name) != CRIT_FLAVOUR_NONE;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	loaded.flavour = flavour_of(info->dlpi_name);
	if (loaded.flavour == CRIT_FLAVOUR_NONE || strlen(info->dlpi_name) >= PATH_BYTES)
		return 0;
	memcpy(loaded.path, info->dlpi_name, strlen(info->dlpi_name) + 1);
	return 1;
}

static void load_backend(void)
{
	const char *name = loaded.flavour == CRIT_FLAVOUR_OPENMPI ? "libcrit_pmpi_openmpi.so"
								  : "libcrit_pmpi_mpich.so";
	char path[PATH_BYTES];
	const char *slash;
	Dl_info self;
	void *handle;

	if (!dladdr(crit_pmpi_table, &self) || !(slash = strrchr(self.dli_fname, '/')) ||
	    snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - self.dli_fname), self.dli_fname,
		     name) >= (int)sizeof(path))
		return;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	loaded.backend = handle ? dlsym(handle, CRIT_PMPI_BACKEND) : NULL;
	if (loaded.backend)
		*loaded.backend->mpi = loaded.mpi;
}

static void load(void)
{
	if (dl_iterate_phdr(look_at_object, NULL) == 0)
		return;
	loaded.mpi = dlopen(loaded.path, RTLD_LAZY | RTLD_NOLOAD);
	if (loaded.mpi)
		load_backend();
}

/* Another tool's function of this name, loaded after us; NULL when the next one is MPI's own. */
static void *find_tool(const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);
	Dl_info object;

	if (!next || !dladdr(next, &object) || flavour_of(object.dli_fname) != CRIT_FLAVOUR_NONE)
		return NULL;
	return next;
}

static int there_is_no_mpi(void)
{
	return MPI_ERR_OTHER_SOMEWHERE;
}

static void *find_native(const char *pmpi_name)
{
	void *native = loaded.mpi ? dlsym(loaded.mpi, pmpi_name) : NULL;

	if (!native)
		native = dlsym(RTLD_NEXT, pmpi_name + 1); /* removed names may lack the twin */
	return native ? native : (void *)(uintptr_t)there_is_no_mpi;
}

/* Programs that ask whether there is MPI at all see our symbols; without MPI the answer is no. */
static int say_no(int *ret_flag)
{
	*ret_flag = 0;
	return 0;
}

/* No library we know is loaded, or not yet: nothing starts, and the next call asks again. */
static void *choose_without_mpi(uint32_t place)
{
	const uint32_t number = place % CRIT_PMPI_CALLS;
	void *next = dlsym(RTLD_NEXT, names[number] + (place < CRIT_PMPI_CALLS));

	if (next)
		return next;
	if (number == CRIT_MPI_Initialized || number == CRIT_MPI_Finalized)
		return (void *)(uintptr_t)say_no;
	return (void *)(uintptr_t)there_is_no_mpi;
}

static bool is_always_wrapped(uint32_t number)
{
	/* all ranks must take part in what the backend does there, recorded or not */
	return number == CRIT_MPI_Init || number == CRIT_MPI_Init_thread;
}

/*
 * MPI_X leads to the wrapper, and that to another tool's MPI_X or to PMPI_X.  PMPI_X leads to
 * the same wrapper, as the net under callers MPI_X does not see, unless a tool's MPI_X is about
 * to call it.
 */
static void *choose(uint32_t place)
{
	const uint32_t number = place % CRIT_PMPI_CALLS;
	const bool is_pmpi = place >= CRIT_PMPI_CALLS;
	void *native = find_native(names[number]);
	void *tool = find_tool(names[number] + 1);
	const bool is_on = crit_shim_start(loaded.flavour) || is_always_wrapped(number);
	void *wrapper = loaded.backend && is_on ? loaded.backend->wrappers[number] : NULL;

	if (!wrapper || (is_pmpi && tool))
		return is_pmpi || !tool ? native : tool;
	__atomic_store_n(&loaded.backend->next[number], tool ? tool : native, __ATOMIC_RELEASE);
	return wrapper;
}

void *crit_pmpi_resolve(uint32_t place)
{
	const int saved_errno = errno;
	void *choice;

	if (dl_iterate_phdr(is_mpi, NULL)) {
		(void)pthread_once(&loaded.once, load);
		choice = choose(place);
		__atomic_store_n(&crit_pmpi_table[place], choice, __ATOMIC_RELEASE);
	} else {
		choice = choose_without_mpi(place);
	}
	errno = saved_errno;
	return choice;
}
