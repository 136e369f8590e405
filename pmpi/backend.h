/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between libcrit_pmpi.so and a backend, and between a backend's generated and hand-written
 * wrappers.
 */
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

/* By hand: the calls that begin and end the process's part of the window. */
CRIT_BACKEND_HIDDEN int crit_backend_Init(int *argc, char ***argv);
CRIT_BACKEND_HIDDEN int crit_backend_Init_thread(int *argc, char ***argv, int required,
						 int *provided);
CRIT_BACKEND_HIDDEN int crit_backend_Finalize(void);
#if MPI_VERSION >= 4
CRIT_BACKEND_HIDDEN int crit_backend_Session_init(MPI_Info info, MPI_Errhandler errhandler,
						  MPI_Session *session);
CRIT_BACKEND_HIDDEN int crit_backend_Session_finalize(MPI_Session *session);
#endif

#endif
