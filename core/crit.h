/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crit.h: names the phases of a program in crit's tables and traces.
 *
 *   crit_region_begin("assembly");
 *   ...
 *   crit_region_end();
 *
 * Nothing to link, and nothing of crit has to be installed where the program runs: without crit
 * preloaded both calls do nothing, at the price of a load and a branch.  See crit_region(3).
 */
#ifndef CRIT_H
#define CRIT_H

#ifdef __cplusplus
extern "C" {
#endif

/* dlsym by another name, for dlfcn.h may not be wanted; weak, for static programs have none. */
extern void *crit_find_symbol_(void *handle, const char *name) __asm__("dlsym")
	__attribute__((weak));

static inline void crit_do_nothing_(void)
{
}

typedef void crit_function_(void);

/* A function of libcrit_core.so, once it is looked for. */
static inline crit_function_ *crit_find_(crit_function_ **kept, const char *name)
{
	crit_function_ *found = __atomic_load_n(kept, __ATOMIC_RELAXED);

	if (__builtin_expect(!found, 0)) {
		void *symbol = crit_find_symbol_ ? crit_find_symbol_((void *)0, name) : (void *)0;

		found = symbol ? (crit_function_ *)(__UINTPTR_TYPE__)symbol : crit_do_nothing_;
		__atomic_store_n(kept, found, __ATOMIC_RELAXED);
	}
	return found;
}

/*
 * Begins a phase: what the calling thread does from here on, and the parallel regions it begins,
 * are counted under this name, inside the phase it is in already.
 * Range: name of at most 120 bytes, longer ones are cut.  Ownership: name is read at once.
 * Threads: any; a phase is the calling thread's own.  Cost: with crit about 30 ns.
 */
static inline void crit_region_begin(const char *name)
{
	static crit_function_ *kept;
	crit_function_ *found = crit_find_(&kept, "crit_region_begin");

	if (found != crit_do_nothing_)
		((void (*)(const char *))found)(name);
}

/* Ends the innermost phase that the calling thread has begun; without one it does nothing. */
static inline void crit_region_end(void)
{
	static crit_function_ *kept;

	crit_find_(&kept, "crit_region_end")();
}

#ifdef __cplusplus
}
#endif

#endif
