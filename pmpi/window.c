// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of MPI_Init, MPI_Finalize and their like, which bound a rank's window; compiled once per
// MPI flavour.
#include "pmpi/window.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "core/shim/shim_conclude.h"
#include "core/shim/shim_process.h"
#include "pmpi/node_clocks.h"
#include "pmpi/details.h"
#include "pmpi/details_comm.h"
#include "pmpi/presence.h"

void *crit_backend_next[CRIT_PMPI_CALLS];
void *crit_backend_mpi;

static void *const nets[CRIT_PMPI_CALLS];

const struct crit_pmpi_backend crit_pmpi_backend __attribute__((visibility("default"))) = {
	.wrappers = crit_backend_wrappers,
	.nets = nets,
	.next = crit_backend_next,
	.mpi = &crit_backend_mpi,
};

static struct {
	pthread_mutex_t mutex; /* critd hears of opening and closing in the order they happen */
	int open_count; /* worlds and sessions that are initialised */
	bool was_open;
	bool is_inside; /* of a wrapper here, which has called the next function */
	bool concludes; /* waits for the report and says so: rank 0 of a world not spawned */
} window = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* Of what the parent began the child has nothing, and who held the mutex is not there. */
static void on_fork_child(void)
{
	(void)pthread_mutex_init(&window.mutex, NULL); /* cannot fail without attributes */
	window.open_count = 0;
	window.was_open = false;
	window.is_inside = false;
	window.concludes = false;
}

/* Before the first call of MPI is forwarded, for that is when this library is loaded. */
static __attribute__((constructor)) void watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, on_fork_child); /* without memory: as if nobody forked */
}

struct rank_place { /* what one rank tells the others */
	char directory[CRIT_PATH_BYTES];
	char world[CRIT_WORLD_BYTES];
};

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

/*
 * One node: critd has told everybody the same already.  All ranks must answer alike; Slurm's number
 * of nodes is that of a part of a heterogeneous job, so it is not asked.
 */
static bool has_one_node(int size)
{
	return size == 1 ||
	       number_in_environment("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", 0) == size;
}

/*
 * Several nodes: the recording goes where that of the first recorded rank is, the world has one
 * name, and the nodes' clocks are compared.  On a communicator of our own, whose errors come back
 * to us.
 */
static void agree_on_place(struct rank_place *place, int rank, int size)
{
	MPI_Comm own = MPI_COMM_NULL;
	const bool is_recorded = place->directory[0]; /* or left out, but part of the world */
	int candidate = is_recorded ? rank : size;
	int first = size;

	if (!crit_presence_check(rank, size) ||
	    NATIVE(MPI_Comm_dup)(MPI_COMM_WORLD, &own) != MPI_SUCCESS)
		return;
	(void)NATIVE(MPI_Comm_set_errhandler)(own, MPI_ERRORS_RETURN);
	if (NATIVE(MPI_Allreduce)(&candidate, &first, 1, MPI_INT, MPI_MIN, own) == MPI_SUCCESS &&
	    first < size &&
	    NATIVE(MPI_Bcast)(place, (int)sizeof(*place), MPI_BYTE, first, own) == MPI_SUCCESS)
		(void)crit_shim_move_recording(place->directory);
	crit_node_clocks_begin(own, rank, is_recorded);
}

/* What needs no MPI: the run's directory, and a name all ranks of this node's world share. */
static void describe_place(struct rank_place *ret_place)
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

/* After what begins a world or a session. */
static void open_one(struct crit_message_rank *message)
{
	(void)pthread_mutex_lock(&window.mutex);
	if (window.open_count++ == 0 && window.was_open) {
		crit_shim_reopen_window();
	} else if (!window.was_open) {
		window.was_open = true;
		crit_shim_open_window(message);
	}
	(void)pthread_mutex_unlock(&window.mutex);
}

/* At the entry of what ends the last world or session.  Returns whether it was the last one. */
static bool close_one(bool is_world)
{
	const uint64_t close_ns = crit_shim_now_ns();
	bool is_last;

	if (is_world) {
		crit_presence_end();
		crit_node_clocks_end(); /* the report, made once all ranks are closed, has it */
	}
	(void)pthread_mutex_lock(&window.mutex);
	is_last = --window.open_count == 0;
	if (is_last)
		crit_shim_close_window(close_ns);
	(void)pthread_mutex_unlock(&window.mutex);
	return is_last;
}

static void open_world(void)
{
	struct crit_message_rank message = { .rank = 0 };
	struct rank_place place;
	MPI_Comm parent = MPI_COMM_NULL;
	int rank = 0, size = 1, provided = MPI_THREAD_SINGLE;

	(void)NATIVE(MPI_Comm_rank)(MPI_COMM_WORLD, &rank);
	(void)NATIVE(MPI_Comm_size)(MPI_COMM_WORLD, &size);
	(void)NATIVE(MPI_Query_thread)(&provided);
	(void)NATIVE(MPI_Comm_get_parent)(&parent);
	describe_place(&place);
	if (!has_one_node(size))
		agree_on_place(&place, rank, size);
	window.concludes = rank == 0 && parent == MPI_COMM_NULL;
	message.rank = (uint32_t)rank;
	message.size = (uint32_t)size;
	message.thread_level = (uint32_t)provided;
	memcpy(message.world, place.world, sizeof(message.world));
	describe_library(&message);
	open_one(&message);
	crit_world_made();
}

/* A Fortran wrapper leaves these calls to us, and knows who made them. */
static bool enter(uint32_t what, const void *own_frame)
{
	const void *frame = crit_shim_caller(own_frame);

	return crit_shim_enter(what, frame, ((void *const *)frame)[1]);
}

typedef int init_function(int *argc, char ***argv);
typedef int init_thread_function(int *argc, char ***argv, int required, int *provided);
typedef int finalize_function(void);

static int init(init_function *next, const void *frame, int *argc, char ***argv)
{
	const bool is_outer = enter(CRIT_SHIM_WHAT(CRIT_MPI_Init, CRIT_CLASS_MPI), frame);
	int result;

	window.is_inside = true;
	result = next(argc, argv);
	window.is_inside = false;
	crit_shim_init_returned();
	if (is_outer)
		crit_shim_leave();
	if (result == MPI_SUCCESS)
		open_world();
	return result;
}

int crit_backend_Init(int *argc, char ***argv)
{
	return init(NEXT(CRIT_MPI_Init, init_function *), FRAME, argc, argv);
}

static int net_Init(int *argc, char ***argv)
{
	init_function *native = NATIVE(MPI_Init);

	return window.is_inside ? native(argc, argv) : init(native, FRAME, argc, argv);
}

static int init_thread(init_thread_function *next, const void *frame, int *argc, char ***argv,
		       int required, int *provided)
{
	const bool is_outer = enter(CRIT_SHIM_WHAT(CRIT_MPI_Init_thread, CRIT_CLASS_MPI), frame);
	int result;

	window.is_inside = true;
	result = next(argc, argv, required, provided);
	window.is_inside = false;
	crit_shim_init_returned();
	if (is_outer)
		crit_shim_leave();
	if (result == MPI_SUCCESS)
		open_world();
	return result;
}

int crit_backend_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	return init_thread(NEXT(CRIT_MPI_Init_thread, init_thread_function *), FRAME, argc, argv,
			   required, provided);
}

static int net_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	init_thread_function *native = NATIVE(MPI_Init_thread);

	if (window.is_inside)
		return native(argc, argv, required, provided);
	return init_thread(native, FRAME, argc, argv, required, provided);
}

static int finalize(finalize_function *next, const void *frame)
{
	const bool is_last = close_one(true);
	const bool is_outer = enter(CRIT_SHIM_WHAT(CRIT_MPI_Finalize, CRIT_CLASS_MPI_WAIT), frame);
	int result;

	crit_world_ends();
	crit_node_clocks_window();
	window.is_inside = true;
	result = next();
	window.is_inside = false;
	if (is_outer)
		crit_shim_leave();
	if (window.concludes && is_last)
		crit_shim_conclude();
	return result;
}

int crit_backend_Finalize(void)
{
	return finalize(NEXT(CRIT_MPI_Finalize, finalize_function *), FRAME);
}

static int net_Finalize(void)
{
	finalize_function *native = NATIVE(MPI_Finalize);

	return window.is_inside ? native() : finalize(native, FRAME);
}

/*
 * A Fortran library may call PMPI_Init where a tool, which sees nothing of that, has an MPI_Init:
 * the window opens and closes all the same.
 */
static void *const nets[CRIT_PMPI_CALLS] = {
	[CRIT_MPI_Init] = (void *)net_Init,
	[CRIT_MPI_Init_thread] = (void *)net_Init_thread,
	[CRIT_MPI_Finalize] = (void *)net_Finalize,
};

#ifdef MPI_SESSION_NULL
typedef int session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session);
typedef int session_finalize(MPI_Session *session);

/* A session has no world; rank and size are what the launcher said. */
static void open_session(void)
{
	struct crit_message_rank message = {
		.rank = (uint32_t)number_in_environment("PMI_RANK", "PMIX_RANK", 0),
		.size = (uint32_t)number_in_environment("PMI_SIZE", "SLURM_NTASKS", 1),
	};
	struct rank_place place;

	if (message.rank >= message.size) /* the launcher told the rank only */
		message.size = message.rank + 1;
	describe_place(&place);
	memcpy(message.world, place.world, sizeof(message.world));
	describe_library(&message);
	if (!window.was_open) /* without a world, of each node the first */
		window.concludes = crit_shim_is_first() &&
				   (message.rank == 0 || !crit_shim_has_failed());
	open_one(&message);
}

int crit_backend_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
	const bool is_outer = enter(CRIT_SHIM_WHAT(CRIT_MPI_Session_init, CRIT_CLASS_MPI), FRAME);
	const int result = NEXT(CRIT_MPI_Session_init, session_init *)(info, errhandler, session);

	if (is_outer)
		crit_shim_leave();
	if (result == MPI_SUCCESS)
		open_session();
	return result;
}

int crit_backend_Session_finalize(MPI_Session *session)
{
	const bool is_last = close_one(false);
	const bool is_outer =
		enter(CRIT_SHIM_WHAT(CRIT_MPI_Session_finalize, CRIT_CLASS_MPI_WAIT), FRAME);
	const int result = NEXT(CRIT_MPI_Session_finalize, session_finalize *)(session);

	if (is_outer)
		crit_shim_leave();
	if (window.concludes && is_last)
		crit_shim_conclude();
	return result;
}
#endif
