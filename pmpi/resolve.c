// SPDX-License-Identifier: BSD-3-Clause
// Resolves each MPI name at its first call: wrapper, or libmpi directly.
//
// libcrit_pmpi.so needs no libmpi: the one that is loaded, even RTLD_LOCAL, is found in the list of
// objects, and the backend for its flavour is loaded from beside this library.
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "core/base/guard.h"
#include "core/shim/shim_process.h"
#include "pmpi/pcontrol.h"
#include "pmpi/backend_abi.h"
#include "pmpi/fortran.h"
#include "pmpi/resolve.h"

#define PATH_BYTES 4096
#define MPI_ERR_OTHER_SOMEWHERE 16 /* any non-zero code: there is no MPI to ask for the right one */

extern __attribute__((visibility("hidden"))) void *crit_pmpi_table[2 * CRIT_PMPI_CALLS];
__attribute__((visibility("hidden"))) void *crit_pmpi_resolve(uint32_t place, const void *site,
							      const uint64_t *arguments);

static const char *const names[CRIT_PMPI_CALLS] = {
#include "names.inc"
};

struct loaded {
	enum crit_flavour flavour;
	const char *path; /* of libmpi; lives as long as that is loaded */
	void *mpi;
	const struct crit_pmpi_backend *backend; /* NULL: forward everything */
};

enum publication {
	NOT_PUBLISHED = 0,
	PUBLISHING = 1,
	PUBLISHED = 2
};

/*
 * What the first thread to look found.  Nobody waits for it: the loader's lock is taken on the way,
 * and whoever holds that may be in a constructor that calls MPI.
 */
static struct {
	atomic_int publication;
	struct loaded loaded;
} shared;

const char *crit_pmpi_c_name(uint32_t number)
{
	return names[number] + strlen("PMPI_");
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool crit_pmpi_is_of_mpi(const char *path)
{
	return strncmp(base_of(path), "libmpi", strlen("libmpi")) == 0;
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

bool crit_pmpi_is_in_mpi(const void *code)
{
	Dl_info object;

	return dladdr(code, &object) && crit_pmpi_is_of_mpi(object.dli_fname);
}

static int is_mpi(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	return flavour_of(info->dlpi_name) != CRIT_FLAVOUR_NONE;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *ret_loaded)
{
	struct loaded *loaded = ret_loaded;

	(void)size;
	loaded->flavour = flavour_of(info->dlpi_name);
	loaded->path = info->dlpi_name;
	return loaded->flavour != CRIT_FLAVOUR_NONE;
}

void *crit_pmpi_load(const char *name)
{
	char path[PATH_BYTES];
	const char *slash;
	Dl_info self;

	if (!dladdr(crit_pmpi_table, &self) || !(slash = strrchr(self.dli_fname, '/')) ||
	    snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - self.dli_fname), self.dli_fname,
		     name) >= (int)sizeof(path))
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void load_backend(struct loaded *loaded)
{
	const char *name = loaded->flavour == CRIT_FLAVOUR_OPENMPI ? "libcrit_pmpi_openmpi.so"
								   : "libcrit_pmpi_mpich.so";
	void *handle = crit_pmpi_load(name);

	loaded->backend = handle ? dlsym(handle, CRIT_PMPI_BACKEND) : NULL;
	if (loaded->backend)
		__atomic_store_n(loaded->backend->mpi, loaded->mpi, __ATOMIC_RELEASE);
}

/* Threads that come at once find the same, and the loader counts how often. */
static struct loaded load(void)
{
	struct loaded loaded = { .flavour = CRIT_FLAVOUR_NONE };
	int expected = NOT_PUBLISHED;

	if (atomic_load_explicit(&shared.publication, memory_order_acquire) == PUBLISHED)
		return shared.loaded;
	if (dl_iterate_phdr(look_at_object, &loaded))
		loaded.mpi = dlopen(loaded.path, RTLD_LAZY | RTLD_NOLOAD);
	if (loaded.mpi)
		load_backend(&loaded);
	if (atomic_compare_exchange_strong(&shared.publication, &expected, PUBLISHING)) {
		shared.loaded = loaded;
		atomic_store_explicit(&shared.publication, PUBLISHED, memory_order_release);
	}
	return loaded;
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

static void *find_native(void *mpi, const char *pmpi_name)
{
	void *native = mpi ? dlsym(mpi, pmpi_name) : NULL;

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

static bool is_init(uint32_t number)
{
	return number == CRIT_MPI_Init || number == CRIT_MPI_Init_thread;
}

static bool is_always_wrapped(uint32_t number)
{
	/* all ranks must take part in what the backend does there, recorded or not */
	return is_init(number) || (crit_call_is_window(number) &&
				   crit_shim_has_failed()); /* which is said at the end */
}

/* Without a backend nobody would say that MPI_Init has returned. */
static bool start(const struct loaded *loaded, uint32_t number)
{
	return loaded->backend && is_init(number) ? crit_shim_start_in_init(loaded->flavour)
						  : crit_shim_start(loaded->flavour);
}

/*
 * MPI_X leads to the wrapper, and that to another tool's MPI_X or to PMPI_X.  PMPI_X leads to
 * the same wrapper, as the net under callers MPI_X does not see, unless a tool's MPI_X is about
 * to call it; what begins and ends the window has another net for that.
 */
static void *choose(uint32_t place)
{
	const uint32_t number = place % CRIT_PMPI_CALLS;
	const bool is_pmpi = place >= CRIT_PMPI_CALLS;
	const struct loaded loaded = load();
	void *native = find_native(loaded.mpi, names[number]);
	void *tool = find_tool(names[number] + 1);
	const bool is_on = (start(&loaded, number) && crit_shim_wants(number)) ||
			   is_always_wrapped(number);
	const bool is_net = is_pmpi && tool;
	void *wrapper = NULL;

	if (loaded.backend && is_on)
		wrapper = (is_net ? loaded.backend->nets : loaded.backend->wrappers)[number];
	if (!wrapper)
		return is_pmpi || !tool ? native : tool;
	if (!is_net)
		__atomic_store_n(&loaded.backend->next[number], tool ? tool : native,
				 __ATOMIC_RELEASE);
	return wrapper;
}

bool crit_pmpi_is_loaded(void)
{
	return dl_iterate_phdr(is_mpi, NULL) != 0;
}

bool crit_pmpi_is_recording(uint32_t number)
{
	const struct loaded loaded = load();

	return start(&loaded, number) && loaded.backend;
}

void *crit_pmpi_next(const char *pmpi_name)
{
	void *tool;

	if (!crit_pmpi_is_loaded())
		return find_native(NULL, pmpi_name);
	tool = find_tool(pmpi_name + 1);
	return tool ? tool : find_native(load().mpi, pmpi_name);
}

/*
 * Names of libgomp: the OpenMP shim's, which may not be preloaded itself; else the runtime's.  All
 * at once: a plug-in may begin a parallel region while the loader holds its lock, and a member that
 * asked the loader then would wait for ever.
 */
static void *choose_openmp(uint32_t wanted)
{
	void *handle = crit_pmpi_load("libcrit_ompt.so");
	void *choice = NULL;

	for (uint32_t place = CRIT_PMPI_OPENMP; place < CRIT_PMPI_PCONTROL; place++) {
		void *found = handle && names[place] ? dlsym(handle, names[place]) : NULL;

		if (!found && names[place])
			found = dlsym(RTLD_NEXT, names[place]);
		if (found)
			__atomic_store_n(&crit_pmpi_table[place], found, __ATOMIC_RELEASE);
		if (place == wanted)
			choice = found;
	}
	return choice;
}

static bool is_between(uint32_t place, uint32_t first, uint32_t end)
{
	return place >= first && place < end;
}

void *crit_pmpi_resolve(uint32_t place, const void *site, const uint64_t *arguments)
{
	CRIT_GUARD;
	void *choice;

	if (place >= CRIT_PMPI_FORTRAN) {
		choice = crit_pmpi_fortran_resolve(place - CRIT_PMPI_FORTRAN, site);
	} else if (is_between(place, CRIT_PMPI_PCONTROL, CRIT_PMPI_CALLS)) {
		choice = crit_pmpi_pcontrol(place - CRIT_PMPI_PCONTROL, names[place], site,
					    arguments);
	} else if (is_between(place, CRIT_PMPI_OPENMP, CRIT_PMPI_PCONTROL)) {
		choice = choose_openmp(place);
	} else if (crit_pmpi_is_loaded()) {
		choice = choose(place);
		__atomic_store_n(&crit_pmpi_table[place], choice, __ATOMIC_RELEASE);
	} else {
		choice = choose_without_mpi(place);
	}
	return choice;
}
