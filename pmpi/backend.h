/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generated and hand-written wrappers of a backend share. */
#ifndef CRIT_PMPI_BACKEND_H
#define CRIT_PMPI_BACKEND_H

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>

#include "core/shim/shim_span.h"
#include "pmpi/backend_abi.h"

#define CRIT_BACKEND_HIDDEN __attribute__((visibility("hidden")))

/* The wrapper's own frame and the application's address it returns to. */
#define FRAME __builtin_frame_address(0)
#define SITE __builtin_return_address(0)

/* The function a wrapper forwards to, as the type it has. */
#define NEXT(number, type) ((type)crit_backend_next[number])

/* MPI's own function, past every wrapper and tool; looked up once by each user. */
#define NATIVE(name)                                                                               \
	({                                                                                         \
		static void *native_;                                                              \
		void *found_ = __atomic_load_n(&native_, __ATOMIC_RELAXED);                        \
		if (__builtin_expect(!found_, 0)) {                                                \
			found_ = dlsym(crit_backend_mpi, "P" #name);                               \
			__atomic_store_n(&native_, found_, __ATOMIC_RELAXED);                      \
		}                                                                                  \
		(__typeof__(&P##name))found_;                                                      \
	})

extern CRIT_BACKEND_HIDDEN void *crit_backend_mpi; /* handle of the loaded libmpi */
extern CRIT_BACKEND_HIDDEN void *crit_backend_next[CRIT_PMPI_CALLS];
extern CRIT_BACKEND_HIDDEN void *const crit_backend_wrappers[CRIT_PMPI_CALLS];

#endif
