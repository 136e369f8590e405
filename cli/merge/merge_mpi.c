// SPDX-License-Identifier: BSD-3-Clause
// crit-merge over MPI: one file for every library, compiled with the headers of each.
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "cli/merge/crit_merge.h"
#include "cli/results/recording_set.h"

#define PIECE_BYTES (1 << 30) /* MPI counts in int */

/* One to the next, from the one before; errors of MPI end the program. */
static void pass(const struct crit_exchange_buffer *to, uint32_t to_rank,
		 struct crit_exchange_buffer *from, uint32_t from_rank)
{
	size_t sent = 0, got = 0;

	while (sent < to->size || got < from->size) {
		size_t give = to->size - sent < PIECE_BYTES ? to->size - sent : PIECE_BYTES;
		size_t take = from->size - got < PIECE_BYTES ? from->size - got : PIECE_BYTES;

		(void)MPI_Sendrecv(to->bytes + sent, (int)give, MPI_BYTE,
				   give ? (int)to_rank : MPI_PROC_NULL, 0, from->bytes + got,
				   (int)take, MPI_BYTE, take ? (int)from_rank : MPI_PROC_NULL, 0,
				   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		sent += give;
		got += take;
	}
}

static int make_room(const struct crit_transport *transport, const struct crit_exchange_buffer *to,
		     struct crit_exchange_buffer *from)
{
	uint64_t *sizes = calloc(2ull * transport->count, sizeof(*sizes));
	uint64_t *come = sizes ? sizes + transport->count : NULL;
	int rc = sizes ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < transport->count && sizes; i++)
		sizes[i] = to[i].size;
	if (sizes)
		(void)MPI_Alltoall(sizes, 1, MPI_UINT64_T, come, 1, MPI_UINT64_T, MPI_COMM_WORLD);
	for (uint32_t i = 0; i < transport->count && !rc; i++) {
		rc = crit_array_grow(&from[i].bytes, &from[i].capacity, come[i], 1);
		from[i].size = come[i];
	}
	free(sizes);
	return rc;
}

static int exchange(void *user, const struct crit_exchange_buffer *to,
		    struct crit_exchange_buffer *from)
{
	const struct crit_transport *transport = user;

	if (make_room(transport, to, from))
		MPI_Abort(MPI_COMM_WORLD, 1); /* the others would wait for ever */
	if (to[transport->rank].size)
		memcpy(from[transport->rank].bytes, to[transport->rank].bytes,
		       to[transport->rank].size);
	for (uint32_t step = 1; step < transport->count; step++) {
		uint32_t next = (transport->rank + step) % transport->count;
		uint32_t before = (transport->rank + transport->count - step) % transport->count;

		pass(&to[next], next, &from[before], before);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct crit_transport transport = { .exchange = exchange, .user = &transport };
	struct crit_elf_reader *reader = crit_reader_create();
	int rank, count, code, provided;

	/* a film is turned round by another thread; MPI is called by this one */
	(void)MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	(void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	(void)MPI_Comm_size(MPI_COMM_WORLD, &count);
	transport.rank = (uint32_t)rank;
	transport.count = (uint32_t)count;
	code = crit_merge_main(argc, argv, &transport, reader);
	(void)MPI_Finalize();
	return code;
}
