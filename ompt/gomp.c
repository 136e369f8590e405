// SPDX-License-Identifier: BSD-3-Clause
// Decides which OpenMP runtime serves the program's libgomp calls, and whether they are recorded
// here.
#include "ompt/gomp.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "core/base/guard.h"
#include "core/shim/shim_process.h"

#define PATH_BYTES 4096

int crit_gomp_state_now;

extern struct crit_gomp_next nexts_begin[] __asm__("__start_crit_gomp_nexts") CRIT_GOMP_HIDDEN;
extern struct crit_gomp_next nexts_end[] __asm__("__stop_crit_gomp_nexts") CRIT_GOMP_HIDDEN;

static void *runtime; /* handle of the object that has GOMP_parallel; atomic */

struct object_search { /* the path of the nth object */
	unsigned int nth;
	char path[PATH_BYTES];
};

static int take_nth(struct dl_phdr_info *info, size_t size, void *search_of)
{
	struct object_search *search = search_of;

	(void)size;
	if (search->nth-- > 0)
		return 0;
	(void)snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name);
	return 1;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Has this object a GOMP_parallel of its own, and is it none of crit's? */
static void *open_runtime(const char *path)
{
	void *handle;
	void *parallel;
	Dl_info object;

	if (!*path || strncmp(base_of(path), "libcrit_", strlen("libcrit_")) == 0)
		return NULL;
	handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return NULL;
	parallel = dlsym(handle, "GOMP_parallel");
	if (parallel && dladdr(parallel, &object) && strcmp(object.dli_fname, path) == 0)
		return handle; /* and it stays loaded */
	(void)dlclose(handle);
	return NULL;
}

/* The first one in the order in which the loader looks, wherever in that we are ourselves. */
static void *find_runtime(void)
{
	void *found = __atomic_load_n(&runtime, __ATOMIC_ACQUIRE);
	struct object_search search;

	for (unsigned int nth = 0; !found; nth++) {
		search.nth = nth;
		if (!dl_iterate_phdr(take_nth, &search))
			return NULL;
		found = open_runtime(search.path);
	}
	__atomic_store_n(&runtime, found, __ATOMIC_RELEASE);
	return found;
}

static void *find(const char *name)
{
	void *handle = find_runtime();
	void *found = handle ? dlsym(handle, name) : NULL;

	if (!found)
		found = dlsym(RTLD_NEXT, name);
	return found;
}

static bool is_gnu(void)
{
	const void *parallel = find("GOMP_parallel");
	Dl_info object;

	return parallel && dladdr(parallel, &object) &&
	       strncmp(base_of(object.dli_fname), "libgomp", strlen("libgomp")) == 0;
}

/*
 * All at once, by the thread that makes the first call: a plug-in may begin a parallel region while
 * the loader holds its lock, and a member that asked the loader then would wait for ever.
 */
static void find_all(void)
{
	const size_t bytes = (uintptr_t)nexts_end - (uintptr_t)nexts_begin;

	for (size_t i = 0; i < bytes / sizeof(*nexts_begin); i++)
		__atomic_store_n(&nexts_begin[i].function, find(nexts_begin[i].name),
				 __ATOMIC_RELAXED);
}

bool crit_gomp_start(void)
{
	CRIT_GUARD;
	const bool is_on = is_gnu() && crit_shim_start(CRIT_FLAVOUR_OMPT);

	find_all();
	__atomic_store_n(&crit_gomp_state_now, is_on ? CRIT_GOMP_ON : CRIT_GOMP_OFF,
			 __ATOMIC_RELEASE);
	return is_on;
}
