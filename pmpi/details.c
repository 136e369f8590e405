// SPDX-License-Identifier: BSD-3-Clause
// Details of requests, statuses and probed messages, compiled once per MPI flavour.
#include <stdatomic.h>
#include <string.h>

#include "pmpi/details.h"

#include "core/base/hash.h"
#include "core/shim/shim_thread.h"

#define MESSAGES 64
#define TYPES 256

static struct { /* messages probed and not yet received; one that finds no place is unknown */
	_Atomic uint64_t handle; /* 0 free, 1 being filled */
	struct crit_message message;
} messages[MESSAGES];
static atomic_int message_count;

static struct type { /* one that had its place first */
	_Atomic uint64_t handle; /* 0 free, 1 being filled */
	MPI_Count size; /* -1: to be asked for */
} types[TYPES];

/* The size of a named type, which lasts; of another type, which may be freed, only that it is. */
static void keep_type(struct type *type, MPI_Datatype datatype)
{
	int integers, addresses, types_in_it, combiner;
	uint64_t nothing = 0;

	if (!atomic_compare_exchange_strong(&type->handle, &nothing, 1))
		return;
	type->size = -1;
	if (NATIVE(MPI_Type_get_envelope)(datatype, &integers, &addresses, &types_in_it,
					  &combiner) == MPI_SUCCESS &&
	    combiner == MPI_COMBINER_NAMED)
		(void)NATIVE(MPI_Type_size_x)(datatype, &type->size);
	atomic_store_explicit(&type->handle, HANDLE(datatype), memory_order_release);
}

uint64_t crit_bytes_of_type(MPI_Count count, MPI_Datatype datatype)
{
	const uint64_t handle = HANDLE(datatype);
	struct type *type = &types[crit_hash_cell(handle) % TYPES];
	MPI_Count size = -1;

	if (datatype ==
	    MPI_DATATYPE_NULL) /* ignored by the call; to ask for its size is an error */
		return 0;
	if (atomic_load_explicit(&type->handle, memory_order_acquire) == handle)
		size = type->size;
	else
		keep_type(type, datatype);
	if (size < 0 && NATIVE(MPI_Type_size_x)(datatype, &size) != MPI_SUCCESS)
		return CRIT_BYTES_UNKNOWN;
	return size < 0 ? CRIT_BYTES_UNKNOWN : (uint64_t)count * (uint64_t)size;
}

static int class_of(int answer)
{
	int class = MPI_SUCCESS;

	(void)NATIVE(MPI_Error_class)(answer, &class);
	return class;
}

/* The message was received, as far as there was room; its status is set. */
bool crit_is_truncated(int answer)
{
	return class_of(answer) == MPI_ERR_TRUNCATE;
}

/* One with wrong arguments is none; one that went wrong on its way counts like any other. */
void crit_collective_failed(int answer, uint64_t comm, int32_t root)
{
	const struct crit_shim_sizes unknown = { CRIT_BYTES_UNKNOWN, CRIT_BYTES_UNKNOWN };
	const int class = class_of(answer);

	if (class == MPI_ERR_TRUNCATE || class == MPI_ERR_OTHER || class == MPI_ERR_INTERN ||
	    class == MPI_ERR_UNKNOWN)
		crit_shim_collective(CRIT_D_COLL, comm, root, &unknown, 0);
}

/* Copies of many go into the thread's scratch: statuses first, then handles. */
void crit_requests_keep(struct crit_saved_requests *requests, int count, const MPI_Request *handles)
{
	requests->handles = NULL;
	requests->is_lost = false;
	if (count <= 0 || !handles)
		return;
	requests->handles = &requests->one_handle;
	if (count > 1) {
		MPI_Status *statuses = crit_shim_scratch(
			(size_t)count * (sizeof(MPI_Status) + sizeof(MPI_Request)));

		requests->handles = statuses ? (MPI_Request *)(void *)(statuses + count) : NULL;
	}
	if (requests->handles)
		memcpy(requests->handles, handles, (size_t)count * sizeof(MPI_Request));
	requests->is_lost = !requests->handles;
}

/* After crit_requests_keep.  Of a send MPI fills in next to nothing; nobody looks at the rest. */
void crit_requests_keep_statuses(struct crit_saved_requests *requests, int count,
				 MPI_Status *statuses)
{
	requests->statuses = statuses;
	if (!requests->handles || statuses != MPI_STATUSES_IGNORE)
		return;
	requests->one_status = (MPI_Status){ 0 };
	requests->statuses = &requests->one_status;
	if (count > 1)
		requests->statuses = (MPI_Status *)(void *)requests->handles - count;
}

/* Both libraries have one request for all sends, and more, that are complete at once. */
static bool is_shared(MPI_Request request)
{
#ifdef OPEN_MPI
	static void *empty;
	void *found = __atomic_load_n(&empty, __ATOMIC_RELAXED);

	if (__builtin_expect(!found, 0)) {
		found = dlsym(crit_backend_mpi, "ompi_request_empty");
		__atomic_store_n(&empty, found ? found : &empty, __ATOMIC_RELAXED);
	}
	return (void *)request == found;
#else
	return (uint32_t)request >> 30 == 1; /* built in */
#endif
}

/* A handle of many requests at a time names none of them: such a request ends where it starts. */
void crit_request_started(MPI_Request request)
{
	if (is_shared(request))
		crit_shim_detail(CRIT_D_DONE, 0, 0, 0, 0, HANDLE(request));
}

void crit_request_freed(MPI_Request request)
{
	if (!is_shared(request))
		crit_shim_detail(CRIT_D_FREED, 0, 0, 0, 0, HANDLE(request));
}

static void tell_done(MPI_Request handle, const MPI_Status *status, uint64_t bytes)
{
	if (handle != MPI_REQUEST_NULL && !is_shared(handle))
		crit_shim_detail(crit_status_is_cancelled(status) ? CRIT_D_CANCELLED : CRIT_D_DONE,
				 0, crit_peer(status->MPI_SOURCE), crit_tag(status->MPI_TAG), bytes,
				 HANDLE(handle));
}

/* The first count requests are complete, or with indices those. */
void crit_requests_done(const struct crit_saved_requests *requests, int count, const int *indices)
{
	if (count == MPI_UNDEFINED || count <= 0)
		return;
	if (requests->is_lost)
		crit_shim_lose_details((uint32_t)count);
	if (!requests->handles)
		return;
	for (int i = 0; i < count; i++) {
		const int index = indices ? indices[i] : i;

		if (index != MPI_UNDEFINED)
			tell_done(requests->handles[index], &requests->statuses[i],
				  crit_status_bytes(&requests->statuses[i]));
	}
}

/* A message too long for its buffer is received, but its size stands nowhere. */
static void tell_truncated(MPI_Request handle, const MPI_Status *status)
{
	tell_done(handle, status, CRIT_BYTES_UNKNOWN);
}

/* Of several that an error is about: the statuses tell which have ended, and how. */
static void tell_failed(const struct crit_saved_requests *requests, int count, const int *indices,
			const MPI_Request *now)
{
	for (int i = 0; i < count; i++) {
		const int index = indices ? indices[i] : i;
		const MPI_Request handle = requests->handles[index];
		const MPI_Status *const status = &requests->statuses[i];
		const int class = class_of(status->MPI_ERROR);

		if (class == MPI_ERR_TRUNCATE)
			tell_truncated(handle, status);
		else if (class == MPI_SUCCESS || (class != MPI_ERR_PENDING && now[index] == handle))
			tell_done(handle, status, crit_status_bytes(status));
		else if (now[index] != handle)
			crit_request_freed(handle);
	}
}

/*
 * The call answers an error, and some requests have ended all the same: of those that statuses tell
 * of, what they tell; of others, which the call took away, no more than that.  outcount and
 * indices: of Waitsome and its like; indices alone: of Waitany and its like.
 */
void crit_requests_failed(const struct crit_saved_requests *requests, int answer, int count,
			  const int *outcount, const int *indices, const MPI_Request *now)
{
	const int class = class_of(answer);
	const int first = indices && !outcount ? *indices : 0;
	const bool is_one = class == MPI_ERR_TRUNCATE && !outcount && (indices || count == 1) &&
			    first >= 0 && first < count;

	if (outcount) /* set, if the arguments were right at all */
		count = class == MPI_ERR_IN_STATUS ? *outcount : 0;
	if (requests->is_lost)
		crit_shim_lose_details((uint32_t)count);
	if (!requests->handles)
		return;
	if (class == MPI_ERR_IN_STATUS) {
		tell_failed(requests, count, outcount ? indices : NULL, now);
		return;
	}
	for (int i = 0; i < count; i++) {
		if (is_one && i == first)
			tell_truncated(requests->handles[i], requests->statuses);
		else if (now[i] != requests->handles[i])
			crit_request_freed(requests->handles[i]);
	}
}

/* What was said of it when it was found; its handle may come back as soon as it is received. */
struct crit_message crit_message_take(const MPI_Message *message)
{
	struct crit_message taken = { .source = CRIT_PEER_ANY, .tag = CRIT_PEER_ANY };

	if (message && *message == MPI_MESSAGE_NO_PROC)
		taken.source = CRIT_PEER_NULL;
	if (!message || !atomic_load_explicit(&message_count, memory_order_relaxed))
		return taken;
	for (int i = 0; i < MESSAGES; i++) {
		if (atomic_load_explicit(&messages[i].handle, memory_order_acquire) !=
		    HANDLE(*message))
			continue;
		taken = messages[i].message;
		atomic_store_explicit(&messages[i].handle, 0, memory_order_release);
		atomic_fetch_sub(&message_count, 1);
		break;
	}
	return taken;
}

void crit_message_found(MPI_Message message, MPI_Comm comm, const MPI_Status *status)
{
	if (message == MPI_MESSAGE_NO_PROC)
		return;
	(void)crit_message_take(&message); /* received where we did not see it */
	for (int i = 0; i < MESSAGES; i++) {
		uint64_t nothing = 0;

		if (!atomic_compare_exchange_strong(&messages[i].handle, &nothing, 1))
			continue;
		messages[i].message = (struct crit_message){ .comm = HANDLE(comm),
							     .source = status->MPI_SOURCE,
							     .tag = status->MPI_TAG };
		atomic_fetch_add(&message_count, 1);
		atomic_store_explicit(&messages[i].handle, HANDLE(message), memory_order_release);
		return;
	}
}
