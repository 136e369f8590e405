/* SPDX-License-Identifier: BSD-3-Clause */
/* What wrappers say about the calls they forward, in terms of MPI; compiled once per flavour. */
#ifndef CRIT_PMPI_DETAILS_H
#define CRIT_PMPI_DETAILS_H

#include <mpi.h>
#include <stddef.h>

#include "core/shim/shim_comm.h"
#include "core/shim/shim_detail.h"
#include "pmpi/backend.h"

#ifdef OPEN_MPI
#define HANDLE(handle) ((uint64_t)(uintptr_t)(handle))
#else
#define HANDLE(handle) ((uint64_t)(uint32_t)(handle))
#endif
#define FILE_HANDLE(file) ((uint64_t)(uintptr_t)(file)) /* a pointer in all of them */

struct crit_saved_requests { /* from before a call that may end them */
	MPI_Request *handles; /* copies, NULL: no details are wanted, or there is no room */
	MPI_Status *statuses; /* what to pass on instead of the caller's */
	bool is_lost; /* details are wanted, but there is no room for the copies */
	MPI_Request one_handle;
	MPI_Status one_status;
};

struct crit_message { /* found by a probe */
	uint64_t comm; /* handle, 0 unknown */
	int32_t source, tag;
};

CRIT_BACKEND_HIDDEN uint64_t crit_bytes_of_type(MPI_Count count, MPI_Datatype datatype)
	__attribute__((pure)); /* one answer for both buffers of a call */
CRIT_BACKEND_HIDDEN bool crit_is_truncated(int answer);
CRIT_BACKEND_HIDDEN void crit_collective_failed(int answer, uint64_t comm, int32_t root);
CRIT_BACKEND_HIDDEN void crit_requests_keep(struct crit_saved_requests *requests, int count,
					    const MPI_Request *handles);
CRIT_BACKEND_HIDDEN void crit_requests_keep_statuses(struct crit_saved_requests *requests,
						     int count, MPI_Status *statuses);
CRIT_BACKEND_HIDDEN void crit_requests_done(const struct crit_saved_requests *requests, int count,
					    const int *indices);
CRIT_BACKEND_HIDDEN void crit_requests_failed(const struct crit_saved_requests *requests,
					      int answer, int count, const int *outcount,
					      const int *indices, const MPI_Request *now);
CRIT_BACKEND_HIDDEN void crit_message_found(MPI_Message message, MPI_Comm comm,
					    const MPI_Status *status);
CRIT_BACKEND_HIDDEN struct crit_message crit_message_take(const MPI_Message *message);
CRIT_BACKEND_HIDDEN void crit_request_started(MPI_Request request);
CRIT_BACKEND_HIDDEN void crit_request_freed(MPI_Request request);

/* Bytes of data in so many elements; asks MPI only when there are any. */
static inline uint64_t crit_bytes(MPI_Count count, MPI_Datatype datatype)
{
	if (count <= 0)
		return 0;
#ifndef OPEN_MPI
	if (((uint32_t)datatype & 0xff000000u) == 0x4c000000u) /* built in: the size is there */
		return (uint64_t)count * ((uint32_t)datatype >> 8 & 0xffu);
#endif
	return crit_bytes_of_type(count, datatype);
}

#define CRIT_SUM(counts, n)                                                                        \
	({                                                                                         \
		MPI_Count sum_ = 0;                                                                \
		for (int64_t i_ = 0; i_ < (int64_t)(n); i_++)                                      \
			sum_ += (counts)[i_];                                                      \
		sum_;                                                                              \
	})

#define CRIT_SUM_BYTES(counts, datatypes, n)                                                       \
	({                                                                                         \
		uint64_t sum_ = 0;                                                                 \
		for (int64_t i_ = 0; i_ < (int64_t)(n); i_++)                                      \
			sum_ += crit_bytes((counts)[i_], (datatypes)[i_]);                         \
		sum_;                                                                              \
	})

static inline int32_t crit_peer(int rank)
{
	if (rank >= 0)
		return rank;
	return rank == MPI_ROOT ? CRIT_PEER_ROOT
				: (rank == MPI_PROC_NULL ? CRIT_PEER_NULL : CRIT_PEER_ANY);
}

static inline int32_t crit_tag(int tag)
{
	return tag == MPI_ANY_TAG ? CRIT_PEER_ANY : tag;
}

/* The fields all libraries of a flavour keep; tests hold them against what was sent. */
static inline uint64_t crit_status_bytes(const MPI_Status *status)
{
#ifdef OPEN_MPI
	return status->_ucount;
#else
	return (uint64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32 |
	       (uint32_t)status->count_lo;
#endif
}

static inline bool crit_status_is_cancelled(const MPI_Status *status)
{
#ifdef OPEN_MPI
	return status->_cancelled == 1; /* of a file's request it is undefined */
#else
	return status->count_hi_and_cancelled & 1;
#endif
}

/* Every request has a start, or its end would be that of one we missed. */
static inline void crit_started(uint32_t detail, uint64_t comm, int peer, int tag, uint64_t bytes,
				MPI_Request request)
{
	crit_shim_detail(detail, comm, crit_peer(peer), crit_tag(tag),
			 peer == MPI_PROC_NULL ? 0 : bytes, HANDLE(request));
	crit_request_started(request);
}

static inline void crit_received(uint64_t comm, const MPI_Status *status, uint64_t bytes)
{
	if (status->MPI_SOURCE != MPI_PROC_NULL)
		crit_shim_detail(CRIT_D_RECV, comm, crit_peer(status->MPI_SOURCE),
				 crit_tag(status->MPI_TAG), bytes, 0);
}

/* Is this process the root, or does it give to it or take from it? */
static inline bool crit_is_root(const struct crit_shim_comm *members, int root)
{
	return members->flags & CRIT_COMM_IS_INTER ? root == MPI_ROOT : root == (int)members->rank;
}

static inline bool crit_is_leaf(const struct crit_shim_comm *members, int root)
{
	return root >= 0 || !(members->flags & CRIT_COMM_IS_INTER);
}

#endif
