// SPDX-License-Identifier: BSD-3-Clause
// The wrappers that begin and end a rank's part of the window, compiled once per MPI flavour.
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/call.h"
#include "pmpi/backend.h"

void *crit_backend_next[CRIT_PMPI_CALLS];
static void *mpi;

const struct crit_pmpi_backend crit_pmpi_backend __attribute__((visibility("default"))) = {
	.wrappers = crit_backend_wrappers,
	.next = crit_backend_next,
	.mpi = &mpi,
};

static struct {
	atomic_int open_count; /* worlds and sessions that are initialised */
	atomic_bool was_open;
	bool is_waiter; /* waits for the report: rank 0 of a world nobody spawned */
} window;

struct place { /* what rank 0 tells the others */
	char directory[CRIT_PATH_BYTES];
	char world[CRIT_WORLD_BYTES];
};

/* The MPI's own function, past every wrapper and tool. */
#define NATIVE(name) ((__typeof__(&P##name))dlsym(mpi, "P" #name))

static int number_in_environment(const char *name, const char *other, int otherwise)
{
	const char *text = getenv(name);
	char *end;
	long value;

	if (!text)
		text = getenv(other);
	if (!text || !*text)
		return otherwise;
	value = strtol(text, &end, 10);
	return *end || value < 0 || value > 1 << 30 ? otherwise : (int)value;
}

/* One node: critd has told everybody the same already. */
static bool has_one_node(int size)
{
	return size == 1 ||
	       number_in_environment("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", 0) == size ||
	       number_in_environment("SLURM_STEP_NUM_NODES", "SLURM_NNODES", 0) == 1;
}

/*
 * Several nodes: the recording goes where rank 0's is, and the world has one name.  On a
 * communicator of our own, whose errors come back to us.
 */
static void agree_on_place(struct place *place)
{
	MPI_Comm own = MPI_COMM_NULL;

	if (NATIVE(MPI_Comm_dup)(MPI_COMM_WORLD, &own) != MPI_SUCCESS)
		return;
	(void)NATIVE(MPI_Comm_set_errhandler)(own, MPI_ERRORS_RETURN);
	if (NATIVE(MPI_Bcast)(place, (int)sizeof(*place), MPI_BYTE, 0, own) == MPI_SUCCESS &&
	    place->directory[0])
		(void)crit_shim_move_recording(place->directory);
	(void)NATIVE(MPI_Comm_free)(&own);
}

/* What needs no MPI: the run's directory, and a name all ranks of this node's world share. */
static void describe_place(struct place *ret_place)
{
	memset(ret_place, 0, sizeof(*ret_place));
	(void)snprintf(ret_place->directory, sizeof(ret_place->directory), "%s",
		       crit_shim_directory());
	crit_shim_name_world(ret_place->world);
}

static void describe_library(struct crit_message_rank *message)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int length = 0;

	if (NATIVE(MPI_Get_library_version)(version, &length) != MPI_SUCCESS)
		return;
	version[strcspn(version, "\n")] = '\0';
	(void)snprintf(message->library, sizeof(message->library), "%.*s",
		       (int)sizeof(message->library) - 1, version);
}

static void open_world(void)
{
	struct crit_message_rank message = { .rank = 0 };
	struct place place;
	MPI_Comm parent = MPI_COMM_NULL;
	int rank = 0, size = 1, provided = MPI_THREAD_SINGLE;

	(void)NATIVE(MPI_Comm_rank)(MPI_COMM_WORLD, &rank);
	(void)NATIVE(MPI_Comm_size)(MPI_COMM_WORLD, &size);
	(void)NATIVE(MPI_Query_thread)(&provided);
	(void)NATIVE(MPI_Comm_get_parent)(&parent);
	describe_place(&place);
	if (!has_one_node(size))
		agree_on_place(&place);
	window.is_waiter = rank == 0 && parent == MPI_COMM_NULL;
	message.rank = (uint32_t)rank;
	message.size = (uint32_t)size;
	message.thread_level = (uint32_t)provided;
	memcpy(message.world, place.world, sizeof(message.world));
	describe_library(&message);
	if (atomic_fetch_add(&window.open_count, 1) == 0 &&
	    !atomic_exchange(&window.was_open, true))
		crit_shim_open_window(&message);
}

/* At the entry of what ends the last world or session. */
static void close_one(void)
{
	if (atomic_fetch_sub(&window.open_count, 1) == 1)
		crit_shim_close_window();
}

int crit_backend_Init(int *argc, char ***argv)
{
	const bool is_outer =
		crit_shim_enter(CRIT_SHIM_WHAT(CRIT_MPI_Init, CRIT_CLASS_MPI), FRAME, SITE);
	const int result = NEXT(CRIT_MPI_Init, int (*)(int *argc, char ***argv))(argc, argv);

	if (is_outer)
		crit_shim_leave();
	if (result == MPI_SUCCESS)
		open_world();
	return result;
}

int crit_backend_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	const bool is_outer =
		crit_shim_enter(CRIT_SHIM_WHAT(CRIT_MPI_Init_thread, CRIT_CLASS_MPI), FRAME, SITE);
	const int result =
		NEXT(CRIT_MPI_Init_thread, int (*)(int *argc, char ***argv, int required,
						   int *provided))(argc, argv, required, provided);

	if (is_outer)
		crit_shim_leave();
	if (result == MPI_SUCCESS)
		open_world();
	return result;
}

int crit_backend_Finalize(void)
{
	bool is_outer;
	int result;

	close_one();
	is_outer = crit_shim_enter(CRIT_SHIM_WHAT(CRIT_MPI_Finalize, CRIT_CLASS_MPI_WAIT), FRAME,
				   SITE);
	result = NEXT(CRIT_MPI_Finalize, int (*)(void))();
	if (is_outer)
		crit_shim_leave();
	if (window.is_waiter && atomic_load(&window.open_count) == 0)
		crit_shim_await_report();
	return result;
}

#if MPI_VERSION >= 4
/* A session has no world; rank and size are what the launcher said. */
static void open_session(void)
{
	struct crit_message_rank message = {
		.rank = (uint32_t)number_in_environment("PMI_RANK", "PMIX_RANK", 0),
		.size = (uint32_t)number_in_environment("PMI_SIZE", "SLURM_NTASKS", 1),
	};
	struct place place;

	if (message.rank >= message.size) /* the launcher told the rank only */
		message.size = message.rank + 1;
	if (atomic_fetch_add(&window.open_count, 1) != 0)
		return;
	if (atomic_exchange(&window.was_open, true)) {
		crit_shim_reopen_window();
		return;
	}
	describe_place(&place);
	memcpy(message.world, place.world, sizeof(message.world));
	describe_library(&message);
	crit_shim_open_window(&message);
}

int crit_backend_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
	const bool is_outer =
		crit_shim_enter(CRIT_SHIM_WHAT(CRIT_MPI_Session_init, CRIT_CLASS_MPI), FRAME, SITE);
	const int result = NEXT(CRIT_MPI_Session_init,
				int (*)(MPI_Info info, MPI_Errhandler handler,
					MPI_Session * session))(info, errhandler, session);

	if (is_outer)
		crit_shim_leave();
	if (result == MPI_SUCCESS)
		open_session();
	return result;
}

int crit_backend_Session_finalize(MPI_Session *session)
{
	bool is_outer;
	int result;

	close_one();
	is_outer = crit_shim_enter(CRIT_SHIM_WHAT(CRIT_MPI_Session_finalize, CRIT_CLASS_MPI_WAIT),
				   FRAME, SITE);
	result = NEXT(CRIT_MPI_Session_finalize, int (*)(MPI_Session * session))(session);
	if (is_outer)
		crit_shim_leave();
	return result;
}
#endif
