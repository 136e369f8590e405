// SPDX-License-Identifier: BSD-3-Clause
// Part of details: one-sided communication, files, and what is new in MPI-4.
#include "tests/shim/details/details.h"

static int memory[16], in[16], out[16];

static void put_and_get(MPI_Win win, int number)
{
	MPI_Request request;
	const char *name;

	MPI_Win_fence(0, win);
	expect_together("Win_fence", number);
	MPI_Put(out, 3, MPI_INT, right, 0, 3, MPI_INT, win);
	expect("Put PUT %d %d 0 12 -", number, right);
	MPI_Put(out, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, win);
	MPI_Get(in, 2, MPI_INT, left, 8, 2, MPI_INT, win);
	expect("Get GET %d %d 0 8 -", number, left);
	MPI_Win_fence(0, win);
	expect_together("Win_fence", number);
	MPI_Accumulate(out, 1, MPI_INT, right, 4, 1, MPI_INT, MPI_SUM, win);
	expect("Accumulate ATOMIC %d %d 0 4 -", number, right);
	MPI_Win_fence(0, win);
	expect_together("Win_fence", number);
	MPI_Win_lock_all(0, win);
	MPI_Fetch_and_op(out, in, MPI_INT, right, 5, MPI_SUM, win);
	expect("Fetch_and_op ATOMIC %d %d 0 4 -", number, right);
	MPI_Compare_and_swap(out, in + 1, in + 2, MPI_INT, right, 6, win);
	expect("Compare_and_swap ATOMIC %d %d 0 4 -", number, right);
	MPI_Get_accumulate(NULL, 0, MPI_INT, in + 3, 2, MPI_INT, right, 7, 2, MPI_INT, MPI_NO_OP,
			   win);
	expect("Get_accumulate ATOMIC %d %d 0 8 -", number, right);
	MPI_Win_flush_all(win);
	MPI_Rput(out, 1, MPI_INT, right, 9, 1, MPI_INT, win, &request);
	name = next_request();
	expect("Rput PUT %d %d 0 4 %s", number, right, name);
	MPI_Wait(&request, STATUS);
	expect("Wait DONE rma %s", name);
	MPI_Rput(out, 1, MPI_INT, MPI_PROC_NULL, 9, 1, MPI_INT, win, &request);
	name = next_request();
	expect("Rput PUT %d -2 0 0 %s", number, name);
	MPI_Wait(&request, STATUS);
	expect("Wait DONE null %s", name);
	MPI_Win_unlock_all(win);
}

static void use_windows(const struct known_comm *world)
{
	MPI_Win win;
	int *shared;
	int number;

	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, world->comm, &win);
	number = know_other("created", FLAG_WINDOW, world->number);
	expect_together("Win_create", world->number);
	put_and_get(win, number);
	MPI_Win_free(&win);
	expect_together("Win_free", number);
	expect("comm %d freed", number);
	MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, world->comm, &shared, &win);
	number = know_other("allocated", FLAG_WINDOW, world->number);
	expect_together("Win_allocate", world->number);
	MPI_Win_fence(0, win);
	expect_together("Win_fence", number);
	MPI_Put(out, 1, MPI_INT, right, 0, 1, MPI_INT, win);
	expect("Put PUT %d %d 0 4 -", number, right);
	MPI_Win_fence(0, win);
	expect_together("Win_fence", number);
	MPI_Win_free(&win);
	expect_together("Win_free", number);
	expect("comm %d freed", number);
}

static void use_files(const struct known_comm *world, const char *prefix)
{
	char path[512];
	MPI_File file;
	MPI_Request request;
	const char *name;
	int number;

	(void)snprintf(path, sizeof(path), "%s.data", prefix);
	MPI_File_open(world->comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	number = know_other("data", FLAG_FILE, world->number);
	expect_together("File_open", world->number);
	MPI_File_write_at(file, 16 * rank, out, 4, MPI_INT, STATUS);
	expect("File_write_at WRITE 0 0 0 16 -");
	MPI_File_write_at_all(file, 16 * rank, out, 3, MPI_INT, STATUS);
	expect_together("File_write_at_all", number);
	expect("File_write_at_all WRITE 0 0 0 12 -");
	MPI_File_iwrite_at(file, 16 * rank, out, 1, MPI_INT, &request);
	name = next_request();
	expect("File_iwrite_at WRITE 0 0 0 4 %s", name);
	MPI_Wait(&request, STATUS);
	expect("Wait DONE io %s", name);
	MPI_File_sync(file);
	expect_together("File_sync", number);
	MPI_Barrier(MPI_COMM_SELF);
	expect_together("Barrier", 2);
	MPI_File_read_at(file, 16 * rank, in, 4, MPI_INT, STATUS);
	expect("File_read_at READ 0 0 0 16 -");
	MPI_File_read_at(file, 4096, in, 4, MPI_INT, STATUS); /* past the end */
	expect("File_read_at READ 0 0 0 0 -");
	MPI_File_read_at_all_begin(file, 16 * rank, in, 2, MPI_INT);
	MPI_File_read_at_all_end(file, in, STATUS);
	expect_together("File_read_at_all_end", number);
	expect("File_read_at_all_end READ 0 0 0 8 -");
	MPI_File_close(&file);
	expect_together("File_close", number);
	expect("comm %d freed", number);
}

#if MPI_VERSION >= 4
static void use_mpi_4(const struct known_comm *on)
{
	MPI_Request requests[2];
	const char *names[2];

	MPI_Send_c(out, 2, MPI_INT, right, 70, on->comm);
	expect("Send_c SEND %d %d 70 8 -", on->number, right);
	MPI_Recv_c(in, 2, MPI_INT, left, 70, on->comm, STATUS);
	expect("Recv_c RECV %d %d 70 8 -", on->number, left);
	MPI_Psend_init(out, 2, 3, MPI_INT, right, 71, on->comm, MPI_INFO_NULL, &requests[0]);
	names[0] = next_request();
	expect("Psend_init SEND_INIT %d %d 71 24 %s", on->number, right, names[0]);
	MPI_Precv_init(in, 2, 3, MPI_INT, left, 71, on->comm, MPI_INFO_NULL, &requests[1]);
	names[1] = next_request();
	expect("Precv_init RECV_INIT %d %d 71 24 %s", on->number, left, names[1]);
	MPI_Startall(2, requests);
	expect("Startall START %s", names[0]);
	expect("Startall START %s", names[1]);
	MPI_Pready_range(0, 1, requests[0]);
	MPI_Waitall(2, requests, STATUSES);
	expect("Waitall DONE send %s", names[0]);
	expect("Waitall DONE 0 %d 71 24 %s", left, names[1]);
	for (int i = 0; i < 2; i++) {
		MPI_Request_free(&requests[i]);
		expect("Request_free FREED %s", names[i]);
	}
}

/* Its end says what the status says, which MPICH 4.0.2 leaves as it was. */
static void exchange(const struct known_comm *on)
{
	MPI_Request request;
	const char *name;
	int bytes;

	MPI_Isendrecv(out, 2, MPI_INT, right, 72, in, 3, MPI_INT, left, 72, on->comm, &request);
	name = next_request();
	expect("Isendrecv SEND %d %d 72 8 -", on->number, right);
	expect("Isendrecv IRECV %d %d 72 12 %s", on->number, left, name);
	MPI_Wait(&request, &statuses[0]);
	MPI_Get_count(&statuses[0], MPI_BYTE, &bytes);
	expect("Wait DONE 0 %d %d %d %s", statuses[0].MPI_SOURCE, statuses[0].MPI_TAG, bytes, name);
}
#endif

void details_remote(const struct known_comm *world, const char *path)
{
	use_windows(world);
	use_files(world, path);
#if MPI_VERSION >= 4
	use_mpi_4(world);
	exchange(world);
#endif
}
