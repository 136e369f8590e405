// SPDX-License-Identifier: BSD-3-Clause
// OMPT callbacks of waits: barriers, taskwait, locks and critical sections.
#include "ompt/waits.h"

#include <dlfcn.h>
#include <link.h>

#include "core/base/call.h"
#include "core/shim/shim_construct.h"
#include "ompt/tool.h"

static uint32_t barrier_of(ompt_sync_region_t kind)
{
	switch ((int)kind) { /* names of some are deprecated */
	case 2: /* implicit, as older runtimes have it */
	case ompt_sync_region_barrier_implicit_workshare:
	case ompt_sync_region_barrier_implicit_parallel:
	case ompt_sync_region_barrier_teams:
		return CRIT_CONSTRUCT_IMPLICIT_BARRIER;
	case ompt_sync_region_barrier_implementation:
		return CRIT_CONSTRUCT_RUNTIME_BARRIER;
	case ompt_sync_region_taskwait:
		return CRIT_CONSTRUCT_TASKWAIT;
	case ompt_sync_region_taskgroup:
		return CRIT_CONSTRUCT_TASKGROUP;
	case ompt_sync_region_reduction:
		return CRIT_CONSTRUCT_REDUCTION;
	default:
		return CRIT_CONSTRUCT_BARRIER;
	}
}

static void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
				ompt_data_t *parallel, ompt_data_t *task, const void *site)
{
	const uint32_t call = barrier_of(kind);

	(void)parallel;
	(void)task;
	if (endpoint == ompt_scope_begin)
		crit_shim_construct_begin(call, crit_shim_region_now(), site, 0);
	else
		crit_shim_construct_end(call);
}

#define CALLER __builtin_return_address(0)

struct mutex {
	uint16_t wait; /* the span until it is had */
	uint16_t held; /* the span while it is had; 0: it need not nest, so a RELEASE ends it */
	bool is_tried; /* it is had at once or not at all, and nobody says which */
};

/* Where LLVM tries locks, in versions that say of those too that they are waited for. */
static struct {
	uintptr_t start;
	uintptr_t end;
} tests[2];

void crit_ompt_learn_locks(const void *function)
{
	static const char *const names[] = { "__kmpc_test_lock", "__kmpc_test_nest_lock" };
	Dl_info object;
	void *runtime;

	if (!dladdr(function, &object) ||
	    !(runtime = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD)))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const void *start = dlsym(runtime, names[i]);
		const ElfW(Sym) *symbol = NULL;

		if (!start || !dladdr1(start, &object, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
			continue;
		tests[i].start = (uintptr_t)start;
		tests[i].end = (uintptr_t)start + symbol->st_size;
	}
	(void)dlclose(runtime); /* it was loaded before */
}

static bool is_test(const void *caller)
{
	const uintptr_t place = (uintptr_t)caller;

	return (place >= tests[0].start && place < tests[0].end) ||
	       (place >= tests[1].start && place < tests[1].end);
}

/* caller: the code of the runtime that tells it. */
static struct mutex mutex_of(ompt_mutex_t kind, const void *caller)
{
	static const struct mutex mutexes[] = {
		[ompt_mutex_lock] = { CRIT_CONSTRUCT_LOCK_WAIT, 0, false },
		[ompt_mutex_test_lock] = { CRIT_CONSTRUCT_LOCK_WAIT, 0, true },
		[ompt_mutex_nest_lock] = { CRIT_CONSTRUCT_NEST_LOCK_WAIT, 0, false },
		[ompt_mutex_test_nest_lock] = { CRIT_CONSTRUCT_NEST_LOCK_WAIT, 0, true },
		[ompt_mutex_critical] = { CRIT_CONSTRUCT_CRITICAL_WAIT, CRIT_CONSTRUCT_CRITICAL,
					  false },
		[ompt_mutex_atomic] = { CRIT_CONSTRUCT_ATOMIC_WAIT, 0, false },
		[ompt_mutex_ordered] = { CRIT_CONSTRUCT_ORDERED_WAIT, CRIT_CONSTRUCT_ORDERED,
					 false },
	};

	if (kind < ompt_mutex_lock || kind > ompt_mutex_ordered)
		return mutexes[ompt_mutex_lock];
	if ((kind == ompt_mutex_lock || kind == ompt_mutex_nest_lock) && is_test(caller))
		kind++; /* the kind of a lock that is tried */
	return mutexes[kind];
}

static void begin_wait(struct mutex mutex, ompt_wait_id_t lock, const void *site)
{
	crit_shim_construct_begin(mutex.wait, crit_shim_region_now(), site, lock);
}

static void on_mutex_acquire(ompt_mutex_t kind, unsigned int hint, unsigned int implementation,
			     ompt_wait_id_t lock, const void *site)
{
	const struct mutex mutex = mutex_of(kind, CALLER);

	(void)hint;
	(void)implementation;
	if (!mutex.is_tried)
		begin_wait(mutex, lock, site);
}

static void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t lock, const void *site)
{
	const struct mutex mutex = mutex_of(kind, CALLER);

	if (mutex.is_tried)
		begin_wait(mutex, lock, site);
	if (mutex.held)
		crit_shim_construct_next(mutex.wait, mutex.held, crit_shim_region_now(), site,
					 lock);
	else
		crit_shim_construct_end(mutex.wait);
}

static void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t lock, const void *site)
{
	const struct mutex mutex = mutex_of(kind, CALLER);

	(void)site;
	if (mutex.held)
		crit_shim_construct_end(mutex.held);
	else
		crit_shim_construct_release(mutex.wait, lock);
}

/* Its owner takes a nest lock once more, or gives one back that it still has. */
static void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t lock, const void *site)
{
	(void)lock;
	(void)site;
	if (endpoint == ompt_scope_begin)
		crit_shim_construct_end(CRIT_CONSTRUCT_NEST_LOCK_WAIT);
}

static const struct crit_ompt_row barrier_rows[] = { { CRIT_OMPT_ROW(sync_region_wait) } };
static const struct crit_ompt_row mutex_rows[] = {
	{ CRIT_OMPT_ROW(mutex_acquire) },
	{ CRIT_OMPT_ROW(mutex_acquired) },
	{ CRIT_OMPT_ROW(mutex_released) },
	{ CRIT_OMPT_ROW(nest_lock) },
};

const struct crit_ompt_group crit_ompt_barriers = { CRIT_OMPT_GROUP(barrier_rows) };
const struct crit_ompt_group crit_ompt_mutexes = { CRIT_OMPT_GROUP(mutex_rows) };
